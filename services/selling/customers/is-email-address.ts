/** RFC 5321 limits an address to 254 characters. */
const MAX_EMAIL = 254;
/** No invisible characters, because the address is printed on invoices. */
const EMAIL = /^[^\s@,<>"\p{C}]+@[^\s@,<>"\p{C}]+\.[^\s@,<>".\p{C}]+$/u;

/** An address as people write it, without a name and brackets. */
export function isEmailAddress(text: string): boolean {
  return text.length <= MAX_EMAIL && EMAIL.test(text);
}
