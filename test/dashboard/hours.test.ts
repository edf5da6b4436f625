import { formatHour, formatHourTick, lastHours } from '../../services/dashboard/web/format/time';

describe('the last hours', () => {
  it('begin where the quota day begins, and end with the one that runs', () => {
    const now = Date.parse('2026-11-20T18:31:00Z');
    expect(lastHours(now, 3, 'Asia/Kolkata')).toEqual(['2026-11-20T16:30:00.000Z', '2026-11-20T17:30:00.000Z', '2026-11-20T18:30:00.000Z']);
    expect(lastHours(now, 2, 'UTC')).toEqual(['2026-11-20T17:00:00.000Z', '2026-11-20T18:00:00.000Z']);
  });

  it('begin an hour with the moment that begins it', () => {
    expect(lastHours(Date.parse('2026-11-20T18:30:00Z'), 1, 'Asia/Kolkata')).toEqual(['2026-11-20T18:30:00.000Z']);
  });

  it.each([
    ['put back', '2026-10-25T12:00:00Z'],
    ['put forward', '2026-03-29T12:00:00Z'],
  ])('are as many and as long as any where clocks are %s', (_, now) => {
    const starts = lastHours(Date.parse(now), 48, 'Europe/Berlin').map((iso) => Date.parse(iso));
    const first = Date.parse(now) - 47 * 3_600_000;
    expect(starts).toEqual(Array.from({ length: 48 }, (_each, index) => first + index * 3_600_000));
  });
});

describe('an hour', () => {
  it('is told as the reader’s clock shows it and in UTC', () => {
    expect(formatHour('2026-11-20T02:30:00.000Z', 'America/New_York')).toBe('19 Nov, 21:30 (02:30 UTC)');
    expect(formatHourTick('2026-11-20T02:30:00.000Z', 'America/New_York')).toBe('21:30');
  });

  it('is told once where both are the same', () => {
    expect(formatHour('2026-11-20T02:30:00.000Z', 'UTC')).toBe('20 Nov, 02:30 UTC');
  });
});
