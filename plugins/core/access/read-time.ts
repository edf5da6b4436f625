import { endOfDay } from './quota';

const ISO_8601 = /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(\.\d{1,9})?)?(Z|[+-]\d{2}:?\d{2})?)?$/i;

/**
 * ISO 8601: a time, or a day, which means the end of that day. A time without an offset is UTC, so that every machine reads the same.
 * @param timeZone quota time zone, in which days end
 * @returns undefined for any other text, and for a day that no calendar has
 */
export function readTime(text: string, timeZone: string): Date | undefined {
  const match = ISO_8601.exec(text.trim());
  if (!match) return undefined;
  const [, year, month, day, hour, minute, second = '00', fraction = '', offset = 'Z'] = match;
  // JavaScript turns 30 February into 2 March. A mistaken date must not decide when a key ends.
  if (!isCalendarDay(`${year}-${month}-${day}`)) return undefined;
  if (hour === undefined) return endOfDay(`${year}-${month}-${day}`, timeZone);
  const zone = offset.toUpperCase().replace(/^([+-]\d{2})(\d{2})$/, '$1:$2');
  const time = new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}${fraction.slice(0, 4)}${zone}`);
  return Number.isNaN(time.getTime()) ? undefined : time;
}

/** @param text `YYYY-MM-DD` */
export function isCalendarDay(text: string): boolean {
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}
