import { brandSettings, PLAIN_BRAND, readBrand } from '../../services/dashboard/brand/brand';

/** What `REALM` takes: printable ASCII without quotes and backslashes. */
const NOT_OF_A_REALM = /[^ !#-[\]-~]/g;

/**
 * The name of the seller's brand as a 401 can carry it: letters without their accents.
 * @returns undefined where there is no such name, also because the brand has a mistake: that must not keep a gateway from starting
 */
export function realmOf(env: NodeJS.ProcessEnv): string | undefined {
  const { data } = brandSettings.safeParse(env);
  try {
    const name = data ? readBrand(data).name : PLAIN_BRAND.name;
    return name === PLAIN_BRAND.name ? undefined : name.normalize('NFKD').replace(NOT_OF_A_REALM, '').trim() || undefined;
  } catch {
    return undefined;
  }
}
