import { brandSettings, PLAIN_BRAND, readBrand } from '../../services/dashboard/brand/brand';

/** Characters that `REALM` does not accept: all but printable ASCII without quotes and backslashes. */
const NOT_OF_A_REALM = /[^ !#-[\]-~]/g;

/**
 * The name of the seller's brand in a form that a 401 can carry: letters without their accents.
 * @returns undefined if there is no such name, also because the brand has a mistake, which must not prevent a gateway from starting
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
