import { countries, type TContinentCode, type TCountryCode } from 'countries-list';

/** What is known of a country by its code alone. */
export interface CountryFacts {
  /** Two letters: AF, AN, AS, EU, NA, OC, SA. */
  readonly continent: TContinentCode;
  /** ISO 4217 code of the currency in daily use; null where there is none. */
  readonly currency: string | null;
  /** With a plus sign, as in `+91`; null where there is none. */
  readonly callingCode: string | null;
  readonly isEu: boolean;
}

/** Members of the European Union since 2020-02-01, by ISO 3166-1 (Greece is GR there): https://european-union.europa.eu/principles-countries-history/eu-countries_en. */
const EU_MEMBERS: ReadonlySet<string> = new Set(
  'AT BE BG CY CZ DE DK EE ES FI FR GR HR HU IE IT LT LU LV MT NL PL PT RO SE SI SK'.split(' '),
);

function isCode(code: string): code is TCountryCode {
  return Object.hasOwn(countries, code);
}

/** @param code ISO 3166-1 alpha-2; undefined for one that is not in use */
export function countryFacts(code: string): CountryFacts | undefined {
  if (!isCode(code)) return undefined;
  const { continent, currency, phone } = countries[code];
  return {
    continent,
    currency: currency[0] ?? null,
    callingCode: phone[0] === undefined ? null : `+${phone[0]}`,
    isEu: EU_MEMBERS.has(code),
  };
}
