import { formatDistance } from '../../services/dashboard/web/format/time';

const NOW = Date.parse('2026-11-21T10:00:00Z');
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const at = (ms: number): string => new Date(NOW + ms).toISOString();

describe('how long ago something was', () => {
  it.each([
    [0, 'just now'],
    [-29_000, 'just now'],
    [29_000, 'just now'],
    [-MINUTE, '1 minute ago'],
    [-3 * MINUTE - 20_000, '3 minutes ago'],
    [-59 * MINUTE - 40_000, '1 hour ago'],
    [-23 * HOUR - 40 * MINUTE, '24 hours ago'],
    [-37 * HOUR, '2 days ago'],
    [-2 * DAY + 10_000, '2 days ago'],
    [40 * MINUTE, 'in 40 minutes'],
    [24 * HOUR - 9_000, 'in 24 hours'],
    [5 * DAY, 'in 5 days'],
    [14 * DAY, 'in 14 days'],
  ])('is said in the nearest unit: %d ms', (ms, text) => {
    expect(formatDistance(at(ms), NOW)).toBe(text);
  });

  it('is left to the date beyond two weeks', () => {
    for (const ms of [-15 * DAY, 15 * DAY, 400 * DAY]) expect(formatDistance(at(ms), NOW)).toBeUndefined();
  });
});
