import { type KeyMode } from '../../../core/ports';
import { OperationRefused } from '../operation-refused';

const LONGEST_NAME = 100;

/** More than anybody tells keys apart by. */
export const MOST_TAGS = 10;

/** A letter or digit, then up to 39 more of these, spaces and `._:/-`: nothing that hides, breaks a line or turns the text around. */
export const TAG = /^[\p{L}\p{N}][\p{L}\p{M}\p{N} ._:/-]{0,39}$/u;

/** @throws OperationRefused `mode_unknown` */
export function checkMode(mode: string): KeyMode {
  if (mode === 'live' || mode === 'test') return mode;
  throw new OperationRefused('mode_unknown', `there is no mode "${mode}"; a key is "live" or "test"`);
}

/** @throws OperationRefused `date_malformed` */
export function checkDate(date: Date): Date {
  // PostgreSQL and JavaScript agree on years of four digits, which is all anybody means.
  if (Number.isNaN(date.getTime()) || date.getUTCFullYear() > 9_999 || date.getUTCFullYear() < 1_970) {
    throw new OperationRefused('date_malformed', 'the date is not a valid ISO 8601 date between 1970 and 9999');
  }
  return date;
}

/** @throws OperationRefused `name_malformed` */
export function checkName(name: string): string {
  const trimmed = name.trim();
  if (trimmed === '' || trimmed.length > LONGEST_NAME || trimmed.includes('\0')) {
    throw new OperationRefused('name_malformed', `a key's name must have 1 to ${LONGEST_NAME} characters`);
  }
  return trimmed;
}

/**
 * Tags as they are stored: lower case, each once, in order.
 * @throws OperationRefused `tag_malformed`
 */
export function checkTags(tags: readonly string[]): string[] {
  const checked = [...new Set(tags.map((tag) => tag.trim().normalize('NFC').toLowerCase()))].sort();
  if (checked.length > MOST_TAGS) throw new OperationRefused('tag_malformed', `a key can have ${MOST_TAGS} tags at most`);
  const wrong = checked.find((tag) => !TAG.test(tag) || tag.length > 40);
  if (wrong === undefined) return checked;
  throw new OperationRefused('tag_malformed', 'a tag has 1 to 40 letters, digits, spaces and . _ : / -, and begins with a letter or digit');
}
