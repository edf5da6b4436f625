/** Data types of a Res_value. */
export const VALUE = {
  null: 0x00,
  reference: 0x01,
  attribute: 0x02,
  string: 0x03,
  float: 0x04,
  dynamicReference: 0x07,
  decimal: 0x10,
  hexadecimal: 0x11,
  boolean: 0x12,
} as const;

/** A typed value of an attribute or a resource. `text` is set when it is a string (or, in XML, was written as one). */
export interface ResourceValue {
  readonly type: number;
  readonly data: number;
  readonly text?: string | undefined;
}

export function isReference(value: ResourceValue): boolean {
  return value.type === VALUE.reference || value.type === VALUE.dynamicReference;
}

function isInteger(value: ResourceValue): boolean {
  return value.type >= VALUE.decimal && value.type <= 0x1f;
}

/** The text as Android shows it; undefined for a reference that cannot be followed. */
export function textOf(value: ResourceValue): string | undefined {
  if (value.text !== undefined) return value.text;
  if (value.type === VALUE.boolean) return value.data === 0 ? 'false' : 'true';
  if (value.type === VALUE.hexadecimal) return `0x${value.data.toString(16)}`;
  if (isInteger(value)) return String(value.data | 0);
  if (value.type === VALUE.float) return String(floatOf(value.data));
  return undefined;
}

function floatOf(data: number): number {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(data);
  return Number(bytes.readFloatLE().toPrecision(7));
}

export function integerOf(value: ResourceValue): number | undefined {
  if (isInteger(value)) return value.data | 0;
  return value.text !== undefined && /^-?\d{1,10}$/.test(value.text) ? Number(value.text) : undefined;
}

/** Reads a boolean attribute as Android does: any number but 0 is true. */
export function booleanOf(value: ResourceValue): boolean | undefined {
  if (isInteger(value)) return value.data !== 0;
  if (value.text === 'true' || value.text === 'false') return value.text === 'true';
  return undefined;
}

/** One value of a resource, for one device configuration. */
export interface ConfiguredValue {
  /** Empty for the default, else a BCP 47 tag such as `hi` or `pt-BR`. */
  readonly locale: string;
  /** True when at most the locale restricts the value (no density, orientation, API level, …). */
  readonly isPlain: boolean;
  readonly value: ResourceValue;
}

/** Values by resource id, from the resources.arsc of an APK or the resources.pb of a bundle. */
export interface Resources {
  /**
   * All values of a resource. References are not followed. Empty for ids of other packages, such as the platform's.
   * @throws MalformedError; ApkRefused `apk_too_complex` when all look-ups together took too much work
   */
  valuesOf(resourceId: number): ConfiguredValue[];
  /** All texts, for scanning. */
  strings(): Iterable<string>;
}
