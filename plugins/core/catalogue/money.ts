/**
 * Money is counted in whole units of a currency's smallest part: paise, cents, yen, fils. Text with decimals exists only where people
 * read or write it.
 */

/** Currencies without decimals, with three and with four, by ISO 4217 (list one, 2024). Every other currency has two. */
const DECIMALS: Readonly<Record<string, number>> = {
  ...Object.fromEntries('BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF'.split(' ').map((code) => [code, 0])),
  ...Object.fromEntries('BHD IQD JOD KWD LYD OMR TND'.split(' ').map((code) => [code, 3])),
  ...Object.fromEntries('CLF UYW'.split(' ').map((code) => [code, 4])),
};

/** @param currency code of ISO 4217; null, for something free, is written with two decimals */
export function decimalsOf(currency: string | null): number {
  return (currency === null ? undefined : DECIMALS[currency]) ?? 2;
}

const AMOUNT = /^(\d+)(?:\.(\d+))?$/;

/**
 * An amount such as `999.00` in the smallest unit. Digits beyond the currency's decimals are rounded half up: earlier prices were stored
 * with two decimals in every currency.
 * @throws RangeError if the text is not an amount
 */
export function toMinor(amount: string, currency: string | null): bigint {
  const [, units, fraction = ''] = AMOUNT.exec(amount) ?? [];
  if (units === undefined) throw new RangeError('not an amount of money');
  const decimals = decimalsOf(currency);
  const whole = BigInt(`${units}${fraction.slice(0, decimals).padEnd(decimals, '0')}`);
  return (fraction[decimals] ?? '0') >= '5' ? whole + 1n : whole;
}

/** `99900` of INR is `999.00`, `999` of JPY is `999`, `-9500` of KWD is `-9.500`. */
export function fromMinor(amount: bigint | number, currency: string | null): string {
  const decimals = decimalsOf(currency);
  const value = BigInt(amount);
  const digits = (value < 0n ? -value : value).toString().padStart(decimals + 1, '0');
  const cut = digits.length - decimals;
  return `${value < 0n ? '-' : ''}${digits.slice(0, cut)}${decimals === 0 ? '' : `.${digits.slice(cut)}`}`;
}

/** Whether an amount needs no more decimals than its currency has. */
export function fitsDecimals(amount: string, currency: string): boolean {
  const [, fraction = ''] = amount.split('.');
  return !/[1-9]/.test(fraction.slice(decimalsOf(currency)));
}

/** `amount × numerator ÷ denominator`, rounded half up, for amounts that are not negative. */
export function shareOf(amount: bigint, numerator: bigint, denominator: bigint): bigint {
  return (amount * numerator * 2n + denominator) / (denominator * 2n);
}

/** JSON and pages hold amounts as numbers. @throws RangeError beyond 9 quadrillion, where a number is no longer exact */
export function toSafeNumber(amount: bigint): number {
  const value = Number(amount);
  if (!Number.isSafeInteger(value)) throw new RangeError('an amount of money is too large');
  return value;
}
