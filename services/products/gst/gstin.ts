/** A taxpayer's number: state, PAN or TAN, entity, any letter, check character. */
const GSTIN = /^\d{2}([A-Z]{5}\d{4}[A-Z]|[A-Z]{4}\d{5}[A-Z])[1-9A-Z][A-Z][0-9A-Z]$/;
/** A unique identity number of an embassy, a UN body or a foreign supplier. */
const UIN = /^\d{4}[A-Z]{3}\d{5}[A-Z]{2}[0-9A-Z]$/;
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ';

/** @param number fifteen characters, in capitals */
export function isGstinShape(number: string): boolean {
  return GSTIN.test(number) || UIN.test(number);
}

/**
 * The fifteenth character, computed from the first fourteen: weights 1 and 2 in turn, base 36, digits of each product summed.
 * @param number of valid shape
 */
export function gstinCheckCharacter(number: string): string {
  let sum = 0;
  for (let index = 0; index < 14; index++) {
    const product = ALPHABET.indexOf(number.charAt(index)) * (1 + (index % 2));
    sum += Math.floor(product / 36) + (product % 36);
  }
  return ALPHABET.charAt((36 - (sum % 36)) % 36);
}
