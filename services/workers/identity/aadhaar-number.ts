import { createHmac } from 'node:crypto';

/** The form in which the throttle identifies a number. */
export function numberKeyOf(aadhaar: string, secret: Buffer): string {
  return createHmac('sha256', secret).update(aadhaar).digest('base64url');
}

export function lastFourOf(aadhaar: string): string {
  return aadhaar.slice(-4);
}

export function maskedNumber(lastFour: string): string {
  return `XXXXXXXX${lastFour}`;
}

/** Twelve digits, unbroken or in groups of four, that begin like an Aadhaar number. */
const NUMBER_LIKE = /(?<!\d)[2-9]\d{3}([ -]?)\d{4}\1(\d{4})(?!\d)/g;

/** Masks everything in the upstream's text that looks like a full number. */
export function maskNumbers(text: string): string {
  return text.replace(NUMBER_LIKE, (_all, _gap: string, lastFour: string) => maskedNumber(lastFour));
}
