import { countries, type TCountryCode } from 'countries-list';
import { type IpAnswer } from './ip-answer';

/** Members of the European Union since 2020-02-01, by ISO 3166-1 (Greece is GR there): https://european-union.europa.eu/principles-countries-history/eu-countries_en. */
const EU_MEMBERS: ReadonlySet<string> = new Set(
  'AT BE BG CY CZ DE DK EE ES FI FR GR HR HU IE IT LT LU LV MT NL PL PT RO SE SI SK'.split(' '),
);

function isCode(code: string): code is TCountryCode {
  return Object.hasOwn(countries, code);
}

/** Facts that follow from a country's ISO 3166-1 alpha-2 code alone. Null for a code that is not in use. */
export function countryFacts(code: string): IpAnswer['country_facts'] {
  if (!isCode(code)) return null;
  const { continent, currency, phone } = countries[code];
  return {
    continent,
    currency: currency[0] ?? null,
    calling_code: phone[0] === undefined ? null : `+${phone[0]}`,
    is_eu: EU_MEMBERS.has(code),
  };
}
