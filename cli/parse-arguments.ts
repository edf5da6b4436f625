import { isCalendarDay, readTime } from '../plugins/core/access/read-time';
import { type Rate } from '../plugins/core/catalogue/catalogue';
import { MAX_A_SECOND, mistakeInRate } from '../plugins/core/catalogue/rate-bounds';
import { type KeyMode } from '../plugins/core/ports';
import { isEmailAddress } from '../services/selling/customers/is-email-address';
import { CommandError } from './command-error';

function invalid(message: string): CommandError {
  return new CommandError('invalid_argument', message);
}

/** Maximum characters of an argument that a message repeats. */
const MAX_ECHO = 80;

function quote(text: string): string {
  return JSON.stringify(text.length > MAX_ECHO ? `${text.slice(0, MAX_ECHO)}…` : text);
}

/** An address as customers write it; the database keeps its case and compares without regard to it. */
export function parseEmail(text: string): string {
  const email = text.trim();
  if (isEmailAddress(email)) return email;
  throw invalid(`${quote(text)} is not an email address`);
}

/**
 * Refuses a key in place of an id, without repeating it: a secret must not stay on a screen or in a script's log. The database decides
 * whether the id exists.
 */
export function parseId(text: string): string {
  const id = text.trim();
  if (!id.startsWith('tg_')) return id;
  throw invalid('this is an API key, not a key’s id; npx tollgate key list --customer EMAIL shows the ids');
}

/** Texts separated by commas, without repeats. */
export function parseList(text: string): string[] {
  const parts = text.split(',').map((part) => part.trim());
  return [...new Set(parts.filter((part) => part !== ''))];
}

/** Product ids separated by commas. The database decides whether each exists. */
export function parseProducts(text: string): string[] {
  const products = parseList(text);
  if (products.length > 0) return products;
  throw invalid('--products needs product ids separated by commas, such as weather,maps');
}

/** Whitelist rules separated by commas. An empty list would admit everyone, and an empty variable of a script must not do that. */
export function parseRuleList(text: string): string[] {
  const rules = parseList(text);
  if (rules.length > 0) return rules;
  throw invalid('--allow names no rule, and a key without rules admits every caller');
}

export function parseMode(text: string): KeyMode {
  if (text === 'live' || text === 'test') return text;
  throw invalid(`--mode is live or test, not ${quote(text)}`);
}

/** Maximum of PostgreSQL's integer. */
const MAX_LIMIT = 2_147_483_647;

/** A limit in requests: a positive whole number. */
export function parseLimit(text: string, option: string): number {
  const limit = /^\d{1,10}$/.test(text) ? Number(text) : 0;
  if (limit >= 1 && limit <= MAX_LIMIT) return limit;
  throw invalid(`${option} is a whole number from 1 to ${MAX_LIMIT}, not ${quote(text)}`);
}

/**
 * The rate at which requests may come: `10/s` or `600/min`.
 * @param burst requests that may come at once; undefined: the number in the rate
 */
export function parseRate(text: string, burst: string | undefined): Rate {
  const [, count = '', window = ''] = /^(\d{1,7})\/(s|min)$/.exec(text) ?? [];
  if (window === '') throw invalid(`--rate is requests a second or minute, such as 10/s or 600/min, not ${quote(text)}`);
  const rate = {
    limit: Number(count),
    windowSeconds: window === 's' ? (1 as const) : (60 as const),
    burst: burst === undefined ? Math.min(Number(count), MAX_A_SECOND) : parseLimit(burst, '--burst'),
  };
  const mistake = mistakeInRate(rate);
  if (mistake) throw invalid(mistake);
  return rate;
}

/** Like {@link readTime}. */
export function parseInstant(text: string, option: string, timeZone: string): Date {
  const time = readTime(text, timeZone);
  if (time) return time;
  throw invalid(`${option} is an ISO 8601 date such as 2027-03-31 or 2027-03-31T18:30:00Z, not ${quote(text)}`);
}

export function parseFutureInstant(text: string, option: string, timeZone: string): Date {
  const instant = parseInstant(text, option, timeZone);
  if (instant.getTime() > Date.now()) return instant;
  throw invalid(`${option} ${text} is in the past`);
}

/** A calendar day in the quota time zone, `YYYY-MM-DD`. */
export function parseDay(text: string): string {
  if (/^\d{4}-\d{2}-\d{2}$/.test(text) && isCalendarDay(text)) return text;
  throw invalid(`--day is a day such as 2027-03-31, not ${quote(text)}`);
}

/** A calendar month in the quota time zone, `YYYY-MM`. */
export function parseMonth(text: string): string {
  if (/^\d{4}-\d{2}$/.test(text) && isCalendarDay(`${text}-01`)) return text;
  throw invalid(`--month is a month such as 2027-03, not ${quote(text)}`);
}

const UNIT_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const MAX_DURATION_MS = 365 * 86_400_000;

/** `90s`, `30m`, `24h`, `7d`, up to a year. @returns milliseconds */
export function parseDuration(text: string, option: string): number {
  const match = /^(\d{1,9})([smhd])$/i.exec(text.trim());
  const durationMs = Number(match?.[1] ?? 0) * (UNIT_MS[match?.[2]?.toLowerCase() ?? ''] ?? 0);
  if (durationMs > 0 && durationMs <= MAX_DURATION_MS) return durationMs;
  throw invalid(`${option} is a duration such as 30m, 24h or 7d, at most 365d, not ${quote(text)}`);
}

/** Kong's request ids are 32 hex digits; those of other gateways may differ. */
export function parseRequestId(text: string): string {
  if (/^[\w-]{8,128}$/.test(text)) return text;
  throw invalid(`${quote(text)} is not a request id; it is the header X-Kong-Request-Id of the response, and request_id in its body`);
}
