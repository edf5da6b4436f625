import { randomUUID } from 'node:crypto';
import { type QuotaHarness } from './quota-harness';
import { LIMITS } from './quota-node';

/** `before` is shortly before a day ends, `after` the moment the next one starts; `hours` is how long that one is. */
const MIDNIGHTS = [
  { timeZone: 'UTC', before: '2026-06-14T23:59:30Z', after: '2026-06-15T00:00:00Z', day: '2026-06-15', hours: 24 },
  { timeZone: 'Asia/Kolkata', before: '2026-06-14T18:29:30Z', after: '2026-06-14T18:30:00Z', day: '2026-06-15', hours: 24 },
  { timeZone: 'America/New_York', before: '2026-03-08T04:59:30Z', after: '2026-03-08T05:00:00Z', day: '2026-03-08', hours: 23 },
  { timeZone: 'America/New_York', before: '2026-11-01T03:59:30Z', after: '2026-11-01T04:00:00Z', day: '2026-11-01', hours: 25 },
];

/** What every quota counter guarantees of days in the seller's time zone. */
export function describeMidnights(name: string, create: (timeZone: string) => Promise<QuotaHarness>): void {
  describe.each(MIDNIGHTS)(`${name}: midnight in $timeZone`, ({ timeZone, before, after, day, hours }) => {
    it(`starts ${day}, a day of ${hours} hours`, async () => {
      const harness = await create(timeZone);
      const subscriptionId = randomUUID();
      try {
        harness.setStoreClock(before);
        expect((await harness.counter.spend({ subscriptionId, limits: LIMITS })).standing.day).not.toBe(day);
        harness.setStoreClock(after);
        const { standing } = await harness.counter.spend({ subscriptionId, limits: LIMITS });
        expect(standing).toMatchObject({ day, usedDaily: 1 });
        expect((standing.dayEndsAt - standing.dayStartsAt) / 3600).toBe(hours);
      } finally {
        await harness.close();
      }
    });
  });
}
