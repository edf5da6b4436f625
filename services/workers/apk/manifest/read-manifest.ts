import { tolerate, MalformedError } from '../apk-error';
import type {
  ComponentsFacts,
  FlagFacts,
  NetworkSecurityFacts,
  PackageFacts,
  PermissionFacts,
  DomainSecurityFacts,
  ComponentFacts,
} from '../report';
import type { XmlElement } from '../resources/binary-xml';
import { resolveValue } from '../resources/resource-table';
import { type Resources, textOf, isReference, type ResourceValue } from '../resources/resources';
import { LIMITS } from '../limits';
import { readResourcesOf } from '../container/app-part';
import { type Notes } from '../notes';
import { type ScannedPart } from '../scan/scan-contents';
import { ATTRIBUTE, AttributeReader, childrenNamed, fullClassName } from './attributes';
import { readComponents, isLauncher } from './read-components';
import { readPermissions } from './read-permissions';

interface ManifestFacts {
  readonly package: PackageFacts;
  readonly permissions: readonly PermissionFacts[];
  readonly components: ComponentsFacts;
  readonly flags: FlagFacts;
  readonly network_security: NetworkSecurityFacts;
}

/**
 * Reads another XML file of the app; undefined when there is none.
 * @throws MalformedError
 */
type ReadXml = (path: string) => XmlElement | undefined;

/**
 * Reads all facts of the manifest.
 * @throws MalformedError when it names no package
 */
export function readManifest(root: XmlElement, attributes: AttributeReader, readXml: ReadXml): ManifestFacts {
  const facts = readPackage(root, attributes);
  const targetSdk = facts.target_sdk ?? facts.min_sdk ?? 1;
  const application = childrenNamed(root, 'application')[0];
  const flags = readFlags(application, attributes, targetSdk);
  const defaults = { targetSdk, usesCleartext: flags.uses_cleartext };
  return {
    package: facts,
    permissions: readPermissions(root, attributes),
    components: readComponents(application, attributes, { packageName: facts.name, targetSdk }),
    flags,
    network_security: networkSecurity(application, attributes, { ...defaults, readXml }),
  };
}

/**
 * The components of the base, followed by components that only its modules or splits declare. Nothing else in their manifests matters:
 * Android takes permissions and flags from the base.
 */
export function readComponentsOfParts(base: ManifestFacts, others: readonly ScannedPart[], notes: Notes): ComponentsFacts {
  const { name: packageName, target_sdk: target, min_sdk: min } = base.package;
  const defaults = { packageName, targetSdk: target ?? min ?? 1 };
  return others.reduce<ComponentsFacts>((known, { part, manifest }) => {
    const application = childrenNamed(manifest, 'application')[0];
    if (!application || application.children.length === 0) return known;
    const attributes = new AttributeReader(readResourcesOf(part, notes), notes.add);
    const more = tolerate(() => readComponents(application, attributes, defaults), undefined, notes.add);
    return more ? merge(known, more) : known;
  }, base.components);
}

function merge(known: ComponentsFacts, more: ComponentsFacts): ComponentsFacts {
  const both = (first: readonly ComponentFacts[], second: readonly ComponentFacts[]): ComponentFacts[] => {
    const names = new Set(first.map(({ name }) => name));
    return [...first, ...second.filter(({ name }) => !names.has(name))].slice(0, LIMITS.listed);
  };
  return {
    activities: both(known.activities, more.activities),
    services: both(known.services, more.services),
    receivers: both(known.receivers, more.receivers),
    providers: both(known.providers, more.providers),
  };
}

function readFlags(application: XmlElement | undefined, attributes: AttributeReader, targetSdk: number): FlagFacts {
  const flag = (id: number, byDefault: boolean): boolean => (application && attributes.boolean(application, id)) ?? byDefault;
  return {
    debuggable: flag(ATTRIBUTE.debuggable, false),
    allow_backup: flag(ATTRIBUTE.allowBackup, true),
    uses_cleartext: flag(ATTRIBUTE.usesCleartextTraffic, targetSdk < CLEARTEXT_REFUSED_FROM),
    test_only: flag(ATTRIBUTE.testOnly, false),
  };
}

function networkSecurity(
  application: XmlElement | undefined,
  attributes: AttributeReader,
  { readXml, ...defaults }: NetworkDefaults & { readXml: ReadXml },
): NetworkSecurityFacts {
  const byDefault = defaultNetworkSecurity(defaults);
  const reference = application && attributes.raw(application, ATTRIBUTE.networkSecurityConfig);
  if (!reference) return byDefault;
  return tolerate(
    () => {
      const value = resolveValue(attributes.table, reference);
      const configFile = value && textOf(value);
      const root = configFile === undefined ? undefined : readXml(configFile);
      if (configFile === undefined || !root) {
        attributes.note('the network security configuration that the manifest names is missing');
        return byDefault;
      }
      return readNetworkSecurity(root, attributes, { ...defaults, configFile });
    },
    byDefault,
    attributes.note,
  );
}

/**
 * Name, version, SDK range, label and launcher of the package.
 * @throws MalformedError when the manifest names no package
 */
function readPackage(manifest: XmlElement, attributes: AttributeReader): PackageFacts {
  const name = attributes.plainText(manifest, 'package');
  if (name === undefined || name === '') throw new MalformedError('the manifest names no package');
  const usesSdk = childrenNamed(manifest, 'uses-sdk').at(-1);
  const sdk = (id: number): number | null => (usesSdk ? readSdk(usesSdk, attributes, id) : null);
  const application = childrenNamed(manifest, 'application')[0];
  const labels = application ? readLabels(attributes, attributes.raw(application, ATTRIBUTE.label)) : {};
  return {
    name,
    label: labels.default ?? Object.values(labels)[0] ?? null,
    labels,
    version_name: attributes.text(manifest, ATTRIBUTE.versionName) ?? null,
    version_code: readVersionCode(manifest, attributes),
    min_sdk: sdk(ATTRIBUTE.minSdkVersion),
    target_sdk: sdk(ATTRIBUTE.targetSdkVersion),
    max_sdk: sdk(ATTRIBUTE.maxSdkVersion),
    main_activity: findMainActivity(application, attributes, name),
  };
}

function readSdk(usesSdk: XmlElement, attributes: AttributeReader, id: number): number | null {
  const level = attributes.integer(usesSdk, id);
  const text = attributes.text(usesSdk, id);
  if (level === undefined && text !== undefined)
    attributes.note(`an SDK version of the manifest is not a number: ${JSON.stringify(text.slice(0, 40))}`);
  return level ?? null;
}

/** Reads the version code. The lower half is unsigned; with the upper half (API 28) it may exceed 32 bits. */
function readVersionCode(manifest: XmlElement, attributes: AttributeReader): number | null {
  const low = attributes.integer(manifest, ATTRIBUTE.versionCode);
  const high = attributes.integer(manifest, ATTRIBUTE.versionCodeMajor) ?? 0;
  return low === undefined ? null : high * 2 ** 32 + (low >>> 0);
}

/** Labels by locale; `default` is the label without a locale. */
function readLabels(attributes: AttributeReader, label: ResourceValue | undefined): Record<string, string> {
  if (!label) return {};
  const { table, note } = attributes;
  if (!isReference(label)) return keepTexts([['default', textOf(label)]]);
  const configured = tolerate(() => table?.valuesOf(label.data) ?? [], [], note);
  const texts = configured.map(({ locale, value }) => [locale || 'default', textIn(table, value, note)] as const);
  return keepTexts(texts);
}

function textIn(table: Resources | undefined, value: ResourceValue, note: (message: string) => void): string | undefined {
  const final = tolerate(() => resolveValue(table, value), undefined, note);
  return final && textOf(final);
}

function keepTexts(texts: readonly (readonly [string, string | undefined])[]): Record<string, string> {
  const kept = new Map<string, string>();
  for (const [locale, text] of texts) if (text !== undefined && !kept.has(locale)) kept.set(locale, text);
  return Object.fromEntries(kept);
}

function findMainActivity(application: XmlElement | undefined, attributes: AttributeReader, packageName: string): string | null {
  const launcher = childrenNamed(application, 'activity', 'activity-alias').find(
    (each) => attributes.boolean(each, ATTRIBUTE.enabled) !== false && isLauncher(each, attributes),
  );
  const name = launcher && attributes.text(launcher, ATTRIBUTE.name);
  return name === undefined ? null : fullClassName(packageName, name);
}

/** Facts of the manifest that apply only without a configuration file. */
interface NetworkDefaults {
  readonly targetSdk: number;
  /** Value of android:usesCleartextTraffic, or its default. */
  readonly usesCleartext: boolean;
}

/** From this target on, cleartext is refused by default. */
const CLEARTEXT_REFUSED_FROM = 28;
/** Below this target, certificates that the user installed are trusted by default. */
const USER_CERTIFICATES_REFUSED_FROM = 24;

/** The network security of an app without a configuration file. */
function defaultNetworkSecurity({ targetSdk, usesCleartext }: NetworkDefaults): NetworkSecurityFacts {
  return {
    config_file: null,
    cleartext_permitted: usesCleartext,
    trusts_user_certificates: targetSdk < USER_CERTIFICATES_REFUSED_FROM,
    base_config: null,
    domains: [],
    debug_overrides: null,
  };
}

/** Reads a network security configuration, which replaces android:usesCleartextTraffic. */
function readNetworkSecurity(
  root: XmlElement,
  attributes: AttributeReader,
  { configFile, targetSdk }: NetworkDefaults & { configFile: string },
): NetworkSecurityFacts {
  const base = childrenNamed(root, 'base-config')[0];
  const overrides = childrenNamed(root, 'debug-overrides')[0];
  const anchors = base ? trustAnchors(base, attributes) : undefined;
  const cleartext = base && attributes.plainBoolean(base, 'cleartextTrafficPermitted');
  return {
    config_file: configFile,
    cleartext_permitted: cleartext ?? targetSdk < CLEARTEXT_REFUSED_FROM,
    trusts_user_certificates: anchors ? anchors.includes('user') : targetSdk < USER_CERTIFICATES_REFUSED_FROM,
    base_config: base ? { cleartext_permitted: cleartext ?? null, trust_anchors: anchors ?? null } : null,
    domains: readDomains(root, attributes, 0),
    debug_overrides: overrides ? { trust_anchors: trustAnchors(overrides, attributes) ?? [] } : null,
  };
}

/** Domain configurations may be nested. The list is flat. */
function readDomains(parent: XmlElement, attributes: AttributeReader, depth: number): DomainSecurityFacts[] {
  if (depth > LIMITS.xmlDepth) return [];
  return childrenNamed(parent, 'domain-config')
    .slice(0, LIMITS.listed)
    .flatMap((config) => [readDomain(config, attributes), ...readDomains(config, attributes, depth + 1)]);
}

function readDomain(config: XmlElement, attributes: AttributeReader): DomainSecurityFacts {
  const pinSet = childrenNamed(config, 'pin-set')[0];
  const names = childrenNamed(config, 'domain').slice(0, LIMITS.listed);
  return {
    domains: names.map((each) => ({
      name: domainText(each),
      include_subdomains: attributes.plainBoolean(each, 'includeSubdomains') ?? false,
    })),
    cleartext_permitted: attributes.plainBoolean(config, 'cleartextTrafficPermitted') ?? null,
    trust_anchors: trustAnchors(config, attributes) ?? null,
    pins: childrenNamed(pinSet, 'pin').length,
    pin_expiration: (pinSet && attributes.plainText(pinSet, 'expiration')) ?? null,
  };
}

/** The domain is the element's text, not an attribute. */
function domainText(element: XmlElement): string {
  return element.text.trim().slice(0, 253).toLowerCase();
}

function trustAnchors(config: XmlElement, attributes: AttributeReader): string[] | undefined {
  const anchors = childrenNamed(config, 'trust-anchors')[0];
  if (!anchors) return undefined;
  const sources = childrenNamed(anchors, 'certificates').slice(0, LIMITS.listed);
  return sources.map((each) => attributes.plainText(each, 'src') ?? 'resource');
}
