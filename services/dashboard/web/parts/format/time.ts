/** A time as `21 Nov 2026, 16:40 IST` in the given zone. */
export function formatMoment(iso: string, timeZone = readerZone()): string {
  const text = new Intl.DateTimeFormat('en-GB', {
    timeZone,
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  }).format(new Date(iso));
  return `${text} ${zoneName(iso, timeZone)}`;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** Up to this many hours, hours are clearer: a reader who rotates a key wants 24 hours, not one day. */
const MAX_HOURS = 36;
/** Beyond this, a date is clearer. */
const MAX_DAYS = 14;

/** `3 minutes ago`, `in 5 days`, to the nearest unit; undefined beyond two weeks. */
export function formatDistance(iso: string, nowMs: number): string | undefined {
  const ms = Date.parse(iso) - nowMs;
  const units = (size: number): number => Math.round(Math.abs(ms) / size);
  const say = (size: number, unit: 'minute' | 'hour' | 'day'): string =>
    new Intl.RelativeTimeFormat('en', { numeric: 'always' }).format(Math.sign(ms) * units(size), unit);
  // Clocks differ a little, so a recent event may seem to be in the future.
  if (units(MINUTE_MS) === 0) return 'just now';
  if (units(MINUTE_MS) < 60) return say(MINUTE_MS, 'minute');
  if (units(HOUR_MS) <= MAX_HOURS) return say(HOUR_MS, 'hour');
  return units(DAY_MS) <= MAX_DAYS ? say(DAY_MS, 'day') : undefined;
}

/** `16:40 IST`. */
export function formatTimeOfDay(iso: string, timeZone: string): string {
  const time = new Intl.DateTimeFormat('en-GB', { timeZone, hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }).format(new Date(iso));
  return `${time} ${zoneName(iso, timeZone)}`;
}

/** `24 Nov, 16:40 IST`. */
export function formatDayAndTime(iso: string, timeZone: string): string {
  const date = new Intl.DateTimeFormat('en-GB', { timeZone, day: 'numeric', month: 'short' }).format(new Date(iso));
  return `${date}, ${formatTimeOfDay(iso, timeZone)}`;
}

/** The zone's usual abbreviation at that time, for example `IST`. `en-IN` knows IST, which `en-GB` calls GMT+5:30. */
export function zoneName(iso: string, timeZone: string): string {
  const parts = new Intl.DateTimeFormat('en-IN', { timeZone, timeZoneName: 'short' }).formatToParts(new Date(iso));
  return parts.find((part) => part.type === 'timeZoneName')?.value ?? timeZone;
}

/** The calendar day of a time in a zone, `YYYY-MM-DD`. */
export function dayOf(at: Date, timeZone: string): string {
  return new Intl.DateTimeFormat('en-CA', { timeZone, year: 'numeric', month: '2-digit', day: '2-digit' }).format(at);
}

/** `count` days after a day; negative for before. */
export function addDays(day: string, count: number): string {
  const date = new Date(`${day}T00:00:00Z`);
  date.setUTCDate(date.getUTCDate() + count);
  return date.toISOString().slice(0, 10);
}

/** Every day from `from` to `to`, both included. */
export function daysBetween(from: string, to: string): string[] {
  const days: string[] = [];
  for (let day = from; day <= to && days.length < 400; day = addDays(day, 1)) days.push(day);
  return days;
}

/** `21 Nov`. */
export function formatDay(day: string): string {
  return new Intl.DateTimeFormat('en-GB', { timeZone: 'UTC', day: 'numeric', month: 'short' }).format(new Date(`${day}T00:00:00Z`));
}

function offsetMs(at: Date, timeZone: string): number {
  const parts = new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  }).formatToParts(at);
  const part = (type: string): number => Number(parts.find((each) => each.type === type)?.value);
  const wall = Date.UTC(part('year'), part('month') - 1, part('day'), part('hour'), part('minute'), part('second'));
  return wall - Math.floor(at.getTime() / 1000) * 1000;
}

/** ISO time at which a day ends in a zone: the midnight that follows it. */
export function endOfDay(day: string, timeZone: string): string {
  const midnight = Date.parse(`${addDays(day, 1)}T00:00:00Z`);
  const guess = midnight - offsetMs(new Date(midnight), timeZone);
  // Computed again at the result, because the offset may change between the two when clocks change.
  return new Date(midnight - offsetMs(new Date(guess), timeZone)).toISOString();
}

/** A day on which clocks go forward has no more. */
const MIN_HOURS_A_DAY = 23;

/** The zone of the reader's own clock. */
export function readerZone(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/**
 * The beginnings of the last hours as ISO times, oldest first. The present hour is the last.
 * @param timeZone quota time zone: hours count from its midnights, which need not be full hours elsewhere
 */
export function lastHours(nowMs: number, count: number, timeZone: string): string[] {
  const today = dayOf(new Date(nowMs), timeZone);
  const starts: string[] = [];
  for (let back = Math.ceil(count / MIN_HOURS_A_DAY); back >= 0; back--) {
    const day = addDays(today, -back);
    const endsAt = Math.min(Date.parse(endOfDay(day, timeZone)), nowMs + 1);
    for (let at = Date.parse(endOfDay(addDays(day, -1), timeZone)); at < endsAt; at += HOUR_MS) starts.push(new Date(at).toISOString());
  }
  return starts.slice(-count);
}

const timeIn = (iso: string, timeZone: string): string =>
  new Intl.DateTimeFormat('en-GB', { timeZone, hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }).format(new Date(iso));

/** `16:40`, for the axis of a chart. */
export function formatHourTick(iso: string, zone = readerZone()): string {
  return timeIn(iso, zone);
}

/** `24 Nov, 16:40 (11:10 UTC)`: by the reader's clock, and in UTC if that differs. */
export function formatHour(iso: string, zone = readerZone()): string {
  const own = `${formatDayAndTime(iso, zone).split(', ')[0] ?? ''}, ${timeIn(iso, zone)}`;
  const utc = timeIn(iso, 'UTC');
  return utc === timeIn(iso, zone) ? `${own} UTC` : `${own} (${utc} UTC)`;
}
