import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { type Pool } from 'pg';
import { type Rate } from '../../../plugins/core/catalogue/catalogue';
import { paceOf, rateStandingOf, REQUEST_COST, reportRate } from '../../../plugins/core/access/rate';
import { NO_USAGE } from '../../../plugins/stores/quota/quota-usage';
import { readReply, scriptArguments, StoreDays } from '../../../plugins/stores/redis/quota-script';
import { fc, propertyRuns } from '../../support/fast-check';
import { openedForTests } from '../../support/opened';
import { useDatabase } from '../../support/postgres/use-database';
import { anyTestRedis } from '../../support/redis/redis';

const opened = openedForTests();
const database = useDatabase();
let client: Redis;
beforeAll(async () => {
  const redis = await opened.keep(anyTestRedis());
  client = new Redis(redis.url, { maxRetriesPerRequest: 0 });
  void opened.keep(Promise.resolve(client), (each) => each.disconnect());
  await createTimedTake(database.pool);
});

const NOON = Date.parse('2026-11-20T12:00:00Z');
const LOTS = 2_000_000_000;

interface Asked {
  /** Microseconds since noon. */
  readonly atUs: number;
  readonly requests: number;
  /** All of them are one request. */
  readonly isWhole: boolean;
}

interface Answered {
  readonly granted: number;
  readonly debt: number;
}

type Store = (rate: Rate, asked: Asked, id: string) => Promise<Answered>;

/** The script as it is, by a clock that the test names. */
function askRedis(rate: Rate, { atUs, requests, isWhole }: Asked, subscriptionId: string): Promise<Answered> {
  const lua = readFileSync(join(__dirname, '../../../plugins/stores/redis/quota-counter.lua'), 'utf8');
  const timed = lua.replace("redis.call('TIME')", '{ ARGV[#ARGV - 1], ARGV[#ARGV] }').replace('ARGV[15]', '(ARGV[17] and ARGV[15])');
  expect(timed).not.toBe(lua);
  const ms = NOON + Math.floor(atUs / 1000);
  const table = new StoreDays({ timeZone: 'UTC', clock: { now: () => ms, monotonic: () => 0 } }).current();
  const demand = { subscriptionId, limits: { daily: LOTS, monthly: LOTS, rate }, units: requests, least: isWhole ? requests : 0 };
  const seed = { subscriptionId, day: '2026-11-20', ofDay: NO_USAGE, ofMonth: NO_USAGE };
  const args = [
    ...scriptArguments({ demand, seed, table, offsetSeconds: 0 }),
    NOON / 1000 + Math.floor(atUs / 1_000_000),
    atUs % 1_000_000,
  ];
  return client.eval(timed, 1, `tollgate:quota:{${subscriptionId}}`, ...args).then((reply) => {
    const read = readReply(reply, subscriptionId, table);
    if (read.kind !== 'taken' || read.debt === undefined) throw new Error(`answered ${read.kind}`);
    return { granted: read.granted, debt: read.debt };
  });
}

/** quota_take as it is, by a clock that the session names. */
async function createTimedTake(pool: Pool): Promise<void> {
  const { rows } = await pool.query<{ text: string }>("SELECT pg_get_functiondef('quota_take'::regproc) AS text");
  const text = rows[0]?.text ?? '';
  const timed = text.replaceAll('quota_take', 'timed_take').replaceAll('clock_timestamp()', "current_setting('test.now')::timestamptz");
  expect(timed).toContain('test.now');
  await pool.query(timed);
}

async function askPostgres(rate: Rate, { atUs, requests, isWhole }: Asked, id: string): Promise<Answered> {
  const at = `to_timestamp(${NOON / 1000}) + interval '1 microsecond' * ${atUs}`;
  const { rows } = await database.pool.query<{ granted: string; debt: string }>(
    `SELECT taken.* FROM (SELECT set_config('test.now', (${at})::text, false) AS now) AS set,
      LATERAL timed_take(ARRAY[$1::uuid], ARRAY[$2::bigint], ARRAY[$3::bigint], ARRAY[$3::bigint], CASE WHEN set.now <> '' THEN 'UTC' END, 0,
        '{}', '{}', '{}', ARRAY[$4::bigint], ARRAY[$5::bigint], ARRAY[$6::bigint]) AS taken`,
    [id, requests, LOTS, isWhole ? requests : 0, paceOf(rate), rate.burst],
  );
  return { granted: Number(rows[0]?.granted), debt: Number(rows[0]?.debt) };
}

/**
 * What a rate means, word for word: a request is refused if with it any stretch of time up to now would hold more than a burst and what the
 * rate gives for that time, and not otherwise.
 */
class Meant {
  private readonly admitted: number[] = [];

  constructor(private readonly rate: Rate) {}

  admits(atUs: number): boolean {
    const [cost, pace] = [BigInt(REQUEST_COST), BigInt(paceOf(this.rate))];
    return this.admitted.every(
      (since, index) => BigInt(this.admitted.length - index + 1) * cost <= BigInt(this.rate.burst) * cost + BigInt(atUs - since) * pace,
    );
  }

  ask(atUs: number, requests: number): number {
    let granted = 0;
    for (; granted < requests && this.admits(atUs); granted++) this.admitted.push(atUs);
    return granted;
  }
}

const rates: fc.Arbitrary<Rate> = fc.record({
  limit: fc.oneof(fc.integer({ min: 1, max: 30 }), fc.constantFrom(7, 1_000, 99_999)),
  windowSeconds: fc.constantFrom(1 as const, 60 as const),
  burst: fc.integer({ min: 1, max: 12 }),
});

/** Pauses around the interval of the rate, where a microsecond decides. */
const steps = fc.array(
  fc.record({
    intervals: fc.constantFrom(0, 0, 0.3, 1, 1, 2, 5, 40),
    moreUs: fc.integer({ min: -2, max: 2 }),
    requests: fc.integer({ min: 1, max: 9 }),
    isWhole: fc.boolean(),
  }),
  { minLength: 1, maxLength: 14 },
);

describe.each<[string, Store]>([
  ['Redis', askRedis],
  ['PostgreSQL', askPostgres],
])('%s', (_, ask) => {
  it('admits in no stretch of time more than a burst and the rate, and refuses none that keeps to it', async () => {
    await fc.assert(
      fc.asyncProperty(rates, steps, async (rate, given) => {
        const [meant, id] = [new Meant(rate), randomUUID()];
        let atUs = 0;
        for (const { intervals, moreUs, requests, isWhole } of given) {
          atUs += Math.max(0, Math.floor((intervals * REQUEST_COST) / paceOf(rate)) + moreUs);
          const { granted, debt } = await ask(rate, { atUs, requests, isWhole }, id);
          const expected = isWhole ? meant.ask(atUs, 1) * requests : meant.ask(atUs, requests);
          expect([atUs, granted]).toEqual([atUs, expected]);
          const { remaining, waitUs } = rateStandingOf(debt, rate);
          // Told to the microsecond: at that time there is one more, and not before.
          if (remaining === 0) expect([meant.admits(atUs + waitUs), meant.admits(atUs + waitUs - 1)]).toEqual([true, false]);
        }
      }),
      { numRuns: propertyRuns(60) },
    );
  });

  it('counts exactly at the highest rates and bursts that a catalogue can have', async () => {
    const highest: Rate = { limit: 100_000, windowSeconds: 1, burst: 100_000 };
    const id = randomUUID();
    const at = (atUs: number, requests: number) => ask(highest, { atUs, requests, isWhole: false }, id);
    expect((await at(0, 10_000)).granted).toBe(10_000);
    for (let more = 0; more < 9; more++) await at(0, 10_000);
    expect([(await at(9, 5)).granted, (await at(10, 5)).granted, (await at(1_000_010, 200_000)).granted]).toEqual([0, 1, 100_000]);
  });
});

describe('what callers are told', () => {
  it('is whole seconds that are enough, and not a second too long', () => {
    fc.assert(
      fc.property(rates, fc.double({ min: 0, max: 1, noNaN: true }), (rate, share) => {
        const standing = rateStandingOf(Math.floor(share * rate.burst * REQUEST_COST), rate);
        const { waitSeconds } = reportRate(standing, rate);
        expect(waitSeconds * 1_000_000).toBeGreaterThanOrEqual(standing.waitUs);
        expect((waitSeconds - 1) * 1_000_000).toBeLessThan(Math.max(1, standing.waitUs));
      }),
    );
  });
});
