import { tolerate, MalformedError } from '../apk-error';
import type { ComponentsFacts, FlagFacts, NetworkSecurityFacts, PackageFacts, PermissionFacts } from '../report';
import type { XmlElement } from '../resources/binary-xml';
import { resolveValue } from '../resources/resource-table';
import { textOf, isReference, type ResourceValue } from '../resources/resource-value';
import { ATTRIBUTE, type AttributeReader, childrenNamed, fullClassName } from './attributes';
import { readComponents, isLauncher } from './read-components';
import { CLEARTEXT_REFUSED_FROM, defaultNetworkSecurity, type NetworkDefaults, readNetworkSecurity } from './read-network-security';
import { readPermissions } from './read-permissions';
import type { Resources } from '../resources/resources';

export interface ManifestFacts {
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
export type ReadXml = (path: string) => XmlElement | undefined;

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
