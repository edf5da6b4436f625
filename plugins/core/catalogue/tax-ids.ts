// One import for each country: the whole library is 312 files, and every process that reads a catalogue would load them.
import { validate as AT } from 'stdnum/lib/cjs/at/uid';
import { validate as BE } from 'stdnum/lib/cjs/be/vat';
import { validate as BG } from 'stdnum/lib/cjs/bg/vat';
import { validate as CY } from 'stdnum/lib/cjs/cy/vat';
import { validate as CZ } from 'stdnum/lib/cjs/cz/dic';
import { validate as DE } from 'stdnum/lib/cjs/de/vat';
import { validate as DK } from 'stdnum/lib/cjs/dk/cvr';
import { validate as EE } from 'stdnum/lib/cjs/ee/kmkr';
import { validate as ES } from 'stdnum/lib/cjs/es/nif';
import { validate as FI } from 'stdnum/lib/cjs/fi/alv';
import { validate as FR } from 'stdnum/lib/cjs/fr/tva';
import { validate as GB } from 'stdnum/lib/cjs/gb/vat';
import { validate as GR } from 'stdnum/lib/cjs/gr/vat';
import { validate as HR } from 'stdnum/lib/cjs/hr/oib';
import { validate as HU } from 'stdnum/lib/cjs/hu/anum';
import { validate as IE } from 'stdnum/lib/cjs/ie/vat';
import { validate as IT } from 'stdnum/lib/cjs/it/iva';
import { validate as LT } from 'stdnum/lib/cjs/lt/pvm';
import { validate as LU } from 'stdnum/lib/cjs/lu/tva';
import { validate as LV } from 'stdnum/lib/cjs/lv/pvn';
import { validate as MT } from 'stdnum/lib/cjs/mt/vat';
import { validate as NL } from 'stdnum/lib/cjs/nl/btw';
import { validate as PL } from 'stdnum/lib/cjs/pl/nip';
import { validate as PT } from 'stdnum/lib/cjs/pt/nif';
import { validate as RO } from 'stdnum/lib/cjs/ro/cui';
import { validate as SE } from 'stdnum/lib/cjs/se/vat';
import { validate as SI } from 'stdnum/lib/cjs/si/ddv';
import { validate as SK } from 'stdnum/lib/cjs/sk/dph';

/** Members of the European Union (ISO 3166-1). */
const EU = new Set('AT BE BG CY CZ DE DK EE ES FI FR GR HR HU IE IT LT LU LV MT NL PL PT RO SE SI SK'.split(' '));

export const isInUnion = (country: string): boolean => EU.has(country);

const GSTIN = /^\d{2}[A-Z]{5}\d{4}[A-Z][1-9A-Z]Z[0-9A-Z]$/;
const BASE = 36;

/** Luhn's sum in base 36 over the first 14 characters. The library does not know all states. */
function isGstin(text: string): boolean {
  if (!GSTIN.test(text) || !(text.slice(0, 2) in GST_STATES)) return false;
  const sum = [...text.slice(0, -1)].reduce((total, character, index) => {
    const product = Number.parseInt(character, BASE) * (index % 2 === 0 ? 1 : 2);
    return total + Math.floor(product / BASE) + (product % BASE);
  }, 0);
  return ((BASE - (sum % BASE)) % BASE).toString(BASE).toUpperCase() === text.at(-1);
}

/** Greece has a prefix of its own. */
const prefixOf = (country: string): string => (country === 'GR' ? 'EL' : country);

type TaxIdKind = 'gstin' | 'vat' | 'other';

/** A number in printed form, or the sentence that says why it is not valid. */
export type CheckedTaxId =
  { readonly value: string; readonly kind: TaxIdKind; readonly problem?: undefined } | { readonly problem: string };

const OTHER = /^[A-Z0-9][A-Z0-9 ./-]{0,29}$/;

/**
 * Checks a tax number by the format and the check digit of its country: GSTIN in India, VAT numbers in the European Union and the United
 * Kingdom. Numbers of other countries are accepted as written. Registration is not checked.
 * @param country ISO 3166-1
 */
export function checkTaxId(country: string, given: string): CheckedTaxId {
  const text = given.toUpperCase().trim();
  if (country === 'IN') {
    const value = text.replaceAll(/[\s.,/-]/g, '');
    if (isGstin(value)) return { value, kind: 'gstin' };
    return { problem: 'is not a GSTIN: 15 characters, of which the last is a check digit' };
  }
  const validate = VAT_NUMBERS[country];
  if (!validate) {
    return OTHER.test(text) ? { value: text, kind: 'other' } : { problem: 'may have at most 30 letters, digits, spaces and . / -' };
  }
  const prefix = prefixOf(country);
  // The library knows its country's prefixes and removes them.
  const found = validate(text.replaceAll(/[\s.,/-]/g, ''));
  if (found.isValid) return { value: `${prefix}${found.compact}`, kind: 'vat' };
  return { problem: `is not a VAT number of ${country}, such as ${prefix} and its digits; the format or the check digit is wrong` };
}

/** Codes of states and union territories, with which a GSTIN begins. */
export const GST_STATES: Readonly<Record<string, string>> = {
  '01': 'Jammu and Kashmir',
  '02': 'Himachal Pradesh',
  '03': 'Punjab',
  '04': 'Chandigarh',
  '05': 'Uttarakhand',
  '06': 'Haryana',
  '07': 'Delhi',
  '08': 'Rajasthan',
  '09': 'Uttar Pradesh',
  '10': 'Bihar',
  '11': 'Sikkim',
  '12': 'Arunachal Pradesh',
  '13': 'Nagaland',
  '14': 'Manipur',
  '15': 'Mizoram',
  '16': 'Tripura',
  '17': 'Meghalaya',
  '18': 'Assam',
  '19': 'West Bengal',
  '20': 'Jharkhand',
  '21': 'Odisha',
  '22': 'Chhattisgarh',
  '23': 'Madhya Pradesh',
  '24': 'Gujarat',
  '26': 'Dadra and Nagar Haveli and Daman and Diu',
  '27': 'Maharashtra',
  '29': 'Karnataka',
  '30': 'Goa',
  '31': 'Lakshadweep',
  '32': 'Kerala',
  '33': 'Tamil Nadu',
  '34': 'Puducherry',
  '35': 'Andaman and Nicobar Islands',
  '36': 'Telangana',
  '37': 'Andhra Pradesh',
  '38': 'Ladakh',
  '97': 'Other Territory',
};

/** Union territories without a legislature. Their part of the tax has a name of its own. */
const WITHOUT_LEGISLATURE = new Set(['04', '26', '31', '35', '38', '97']);

export const stateTaxName = (state: string): 'SGST' | 'UTGST' => (WITHOUT_LEGISLATURE.has(state) ? 'UTGST' : 'SGST');

/** Validators of format and check digit of VAT numbers, by country (ISO 3166-1): the European Union and the United Kingdom. */
const VAT_NUMBERS: Readonly<Record<string, typeof AT>> = {
  AT,
  BE,
  BG,
  CY,
  CZ,
  DE,
  DK,
  EE,
  ES,
  FI,
  FR,
  GB,
  GR,
  HR,
  HU,
  IE,
  IT,
  LT,
  LU,
  LV,
  MT,
  NL,
  PL,
  PT,
  RO,
  SE,
  SI,
  SK,
};
