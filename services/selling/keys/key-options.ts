import { isTag, MAX_TAG, MAX_TAGS, normaliseTags } from './key-tag';
import { type KeyMode } from '../../../plugins/core/ports';
import { OperationRefused } from '../operations/operation-refused';

const MAX_NAME = 100;

/** @throws OperationRefused `mode_unknown` */
export function checkMode(mode: string): KeyMode {
  if (mode === 'live' || mode === 'test') return mode;
  throw new OperationRefused('mode_unknown', `there is no mode "${mode}"; a key is "live" or "test"`);
}

/** @throws OperationRefused `date_malformed` */
export function checkDate(date: Date): Date {
  // PostgreSQL and JavaScript agree on years of four digits, which is all that anybody needs.
  if (Number.isNaN(date.getTime()) || date.getUTCFullYear() > 9_999 || date.getUTCFullYear() < 1_970) {
    throw new OperationRefused('date_malformed', 'the date is not a valid ISO 8601 date between 1970 and 9999');
  }
  return date;
}

/** @throws OperationRefused `name_malformed` */
export function checkName(name: string): string {
  const trimmed = name.trim();
  if (trimmed === '' || trimmed.length > MAX_NAME || trimmed.includes('\0')) {
    throw new OperationRefused('name_malformed', `a key's name must have 1 to ${MAX_NAME} characters`);
  }
  return trimmed;
}

/**
 * Tags as they are stored: lower case, each once, in order.
 * @throws OperationRefused `tag_malformed`
 */
export function checkTags(tags: readonly string[]): string[] {
  const checked = normaliseTags(tags);
  if (checked.length > MAX_TAGS) throw new OperationRefused('tag_malformed', `a key can have ${MAX_TAGS} tags at most`);
  if (checked.every(isTag)) return checked;
  const rule = `a tag has 1 to ${MAX_TAG} letters, digits, spaces and . _ : / -, and begins with a letter or digit`;
  throw new OperationRefused('tag_malformed', rule);
}
