import { type ResourceValue } from './resource-value';

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
