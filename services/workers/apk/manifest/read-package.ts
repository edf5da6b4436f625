import { MalformedError, tolerate } from '../apk-error';
import { type PackageFacts } from '../report';
import { type XmlElement } from '../resources/binary-xml';
import { resolveValue } from '../resources/resource-table';
import { type Resources } from '../resources/resources';
import { isReference, type ResourceValue, textOf } from '../resources/resource-value';
import { ATTRIBUTE, type AttributeReader, childrenNamed } from './attributes';
import { isLauncher } from './read-components';
import { fullClassName } from './attributes';

/**
 * Name, version, SDK range, label and launcher of the package.
 * @throws MalformedError when the manifest names no package
 */
export function readPackage(manifest: XmlElement, attributes: AttributeReader): PackageFacts {
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
    attributes.note(`an SDK version of the manifest is no number: ${JSON.stringify(text.slice(0, 40))}`);
  return level ?? null;
}

/** The lower half is unsigned; with the upper half (API 28) it may exceed 32 bits. */
function readVersionCode(manifest: XmlElement, attributes: AttributeReader): number | null {
  const low = attributes.integer(manifest, ATTRIBUTE.versionCode);
  const high = attributes.integer(manifest, ATTRIBUTE.versionCodeMajor) ?? 0;
  return low === undefined ? null : high * 2 ** 32 + (low >>> 0);
}

/** By locale, `default` for the one without. */
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
