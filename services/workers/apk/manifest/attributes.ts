import { tolerate } from '../apk-error';
import { type XmlAttribute, type XmlElement } from '../resources/binary-xml';
import { resolveValue } from '../resources/resource-table';
import { type Resources, booleanOf, integerOf, isReference, type ResourceValue, textOf } from '../resources/resources';

/** Public resource ids of manifest attributes (android.R.attr). The names can be stripped or faked, the ids cannot. */
export const ATTRIBUTE = {
  label: 0x01010001,
  name: 0x01010003,
  permission: 0x01010006,
  readPermission: 0x01010007,
  writePermission: 0x01010008,
  protectionLevel: 0x01010009,
  enabled: 0x0101000e,
  debuggable: 0x0101000f,
  exported: 0x01010010,
  mimeType: 0x01010026,
  scheme: 0x01010027,
  host: 0x01010028,
  port: 0x01010029,
  path: 0x0101002a,
  pathPrefix: 0x0101002b,
  pathPattern: 0x0101002c,
  minSdkVersion: 0x0101020c,
  versionCode: 0x0101021b,
  versionName: 0x0101021c,
  targetSdkVersion: 0x01010270,
  maxSdkVersion: 0x01010271,
  testOnly: 0x01010272,
  allowBackup: 0x01010280,
  usesCleartextTraffic: 0x010104ec,
  networkSecurityConfig: 0x01010527,
  versionCodeMajor: 0x01010576,
} as const;

/** Reads attributes of manifest elements, following references into the resource table. */
export class AttributeReader {
  constructor(
    readonly table: Resources | undefined,
    readonly note: (message: string) => void,
  ) {}

  /** The value as written; references are not followed. */
  raw(element: XmlElement, resourceId: number): ResourceValue | undefined {
    return element.attributes.find((each) => each.resourceId === resourceId)?.value;
  }

  text(element: XmlElement, resourceId: number): string | undefined {
    return this.resolved(this.raw(element, resourceId), textOf);
  }

  integer(element: XmlElement, resourceId: number): number | undefined {
    return this.resolved(this.raw(element, resourceId), integerOf);
  }

  boolean(element: XmlElement, resourceId: number): boolean | undefined {
    return this.resolved(this.raw(element, resourceId), booleanOf);
  }

  /** Attributes without a namespace have no id, for example `package` and those of a network security configuration. */
  plainText(element: XmlElement, name: string): string | undefined {
    return this.resolved(plainAttribute(element, name)?.value, textOf);
  }

  plainBoolean(element: XmlElement, name: string): boolean | undefined {
    return this.resolved(plainAttribute(element, name)?.value, booleanOf);
  }

  private resolved<T>(value: ResourceValue | undefined, read: (value: ResourceValue) => T | undefined): T | undefined {
    if (!value) return undefined;
    const final = isReference(value) ? tolerate(() => resolveValue(this.table, value), undefined, this.note) : value;
    return final && read(final);
  }
}

function plainAttribute(element: XmlElement, name: string): XmlAttribute | undefined {
  return element.attributes.find((each) => each.name === name && each.resourceId === 0 && !each.namespace);
}

export function childrenNamed(element: XmlElement | undefined, ...names: readonly string[]): XmlElement[] {
  return element?.children.filter((child) => names.includes(child.name)) ?? [];
}

/** The full class name for a name in the manifest: `.Main` and `Main` are relative to the package. */
export function fullClassName(packageName: string, name: string): string {
  if (name.startsWith('.')) return packageName + name;
  return name.includes('.') ? name : `${packageName}.${name}`;
}
