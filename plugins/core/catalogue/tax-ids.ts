import { VAT_NUMBERS } from './vat-numbers';

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

export type TaxIdKind = 'gstin' | 'vat' | 'other';

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
