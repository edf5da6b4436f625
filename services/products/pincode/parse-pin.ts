/** A query to a provider: an Indian PIN, the name of an Indian post office, or another country's postal code. */
export type PinQuery =
  | { readonly kind: 'pin'; readonly text: string }
  | { readonly kind: 'office'; readonly text: string }
  | { readonly kind: 'code'; readonly country: string; readonly text: string };

export type PinParse = { ok: true; query: PinQuery } | { ok: false; message: string };

/** The first digit is the postal zone, 1 to 9. */
const INDIAN_PIN = /^[1-9]\d{5}$/;
const MAX_NAME = 100;
/** The longest codes of the supported countries have ten characters (US ZIP+4). */
const WORLD_CODE = /^(?=.*[A-Z0-9])[A-Z0-9 -]{1,16}$/i;
/** Control characters and unpaired surrogates, which no URL can contain. */
const UNSENDABLE = /[\p{Cc}\p{Cs}]/u;

/** India: a PIN, with one inner space allowed (`110 001`), or the name of a post office. */
export function parseIndianPin(pin: string): PinParse {
  const text = pin.trim();
  if (UNSENDABLE.test(text)) return { ok: false, message: 'must not contain control characters' };
  if (/^[\d\s]*$/.test(text)) {
    const digits = text.replace(/\s/, '');
    if (INDIAN_PIN.test(digits)) return { ok: true, query: { kind: 'pin', text: digits } };
    return { ok: false, message: 'must be a six-digit PIN that does not start with 0, or the name of a post office' };
  }
  if (text.length > MAX_NAME) return { ok: false, message: `must be at most ${MAX_NAME} characters long` };
  // A name must have a letter, and `../..` would climb in the provider's path.
  if (!/\p{L}/u.test(text)) return { ok: false, message: 'must be a six-digit PIN or the name of a post office' };
  return { ok: true, query: { kind: 'office', text } };
}

/**
 * The world providers have only a part of the code for some countries: for copyright reasons the first letters (Canada, Ireland, Malta)
 * or digits (Chile), the first five positions in Argentina, and the part before the space in Britain and its islands.
 */
function partialCode(country: string, code: string): string {
  const compact = code.replace(/[ -]/g, '');
  switch (country) {
    case 'CA':
    case 'IE':
    case 'MT':
    case 'CL':
      return compact.slice(0, 3);
    case 'AR':
      return compact.slice(0, 5);
    case 'GB':
    case 'GG':
    case 'IM':
    case 'JE':
      // The inward part is always a digit and two letters, with or without a space before it.
      return compact.replace(/(?<=^[A-Z]{1,2}\d[A-Z\d]?)\d[A-Z]{2}$/i, '');
    default:
      return code;
  }
}

/** Other countries. `country` is upper case and supported. */
export function parseWorldCode(country: string, pin: string): PinParse {
  const text = pin.trim().replace(/\s+/g, ' ');
  if (!WORLD_CODE.test(text))
    return { ok: false, message: 'must be a postal code of letters, digits, spaces and hyphens, at most 16 long' };
  return { ok: true, query: { kind: 'code', country, text: partialCode(country, text) } };
}
