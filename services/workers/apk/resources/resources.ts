import { type ResourceValue } from './resource-value';

/** One value of a resource, for one device configuration. */
export interface ConfiguredValue {
  /** `` for the default, else a BCP 47 tag such as `hi` or `pt-BR`. */
  readonly locale: string;
  /** True when nothing but perhaps the locale restricts the value (no density, orientation, API level, …). */
  readonly isPlain: boolean;
  readonly value: ResourceValue;
}

/** Values by resource id, whichever way they are written down: resources.arsc of an APK or resources.pb of a bundle. */
export interface Resources {
  /**
   * Every value of a resource; references are not followed. Empty for ids of other packages, such as the platform's.
   * @throws MalformedError; ApkRefused `apk_too_complex` when all lookups together took too much work
   */
  valuesOf(resourceId: number): ConfiguredValue[];
  /** All texts, for looking through them. */
  strings(): Iterable<string>;
}
