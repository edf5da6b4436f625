import { randomUUID } from 'node:crypto';
import { StoreUnavailable, systemClock } from '../../../plugins/core/ports';
import { QuotaLedger } from '../../../plugins/stores/postgres/quota/quota-ledger';
import { SeenUsage } from '../../../plugins/stores/quota/quota-usage';
import { RedisQuotaCounter, type ScriptConnection, type UsageLedger } from '../../../plugins/stores/redis/quota-counter';
import { eventually } from '../../support/eventually';
import { testDatabase } from '../../support/postgres/postgres';
import { startTestRedis } from '../../support/redis/redis';
import { connectToRedis } from './harness';
import { PatientClock } from './patient-clock';

const SILENCE = { silenceMs: 50, heldUpSilenceMs: 50 };

const away = (): Promise<never> => Promise.reject(new StoreUnavailable('away'));

it.each<[string, (ledger: QuotaLedger, attempt: number) => UsageLedger['giveBack']]>([
  ['takes no writes at first', (ledger, attempt) => (units) => (attempt === 0 ? away() : ledger.giveBack(units))],
  [
    'took the first but could not say so',
    (ledger, attempt) => (units) => ledger.giveBack(units).then((given) => (attempt === 0 ? away() : given)),
  ],
])('gives a unit that was granted too late back once, also when Postgres %s', async (_, attempting) => {
  const [database, redis] = [await testDatabase(), await startTestRedis()];
  const clock = new PatientClock();
  const common = { pool: database.pool, timeZone: 'Asia/Kolkata', clock };
  let isGivenUp = false;
  const { connection, close } = await connectToRedis({ ...SILENCE, url: redis.url, clock, onTrouble: () => void (isGivenUp = true) });
  const ledger = new QuotaLedger({ ...common, silenceMs: 10_000, heldUpSilenceMs: 10_000, deadlineMs: 20_000 });
  let attempts = 0;
  const failingOnce: UsageLedger = {
    syncOne: (seen) => ledger.syncOne(seen),
    giveBack: (units) => attempting(ledger, attempts++)(units),
    settle: away,
  };
  const counter = new RedisQuotaCounter({ ...common, connection, ledger: failingOnce, seen: new SeenUsage() });
  const demand = { subscriptionId: randomUUID(), limits: { daily: 10, monthly: 10 }, units: 1 };
  try {
    await counter.take(demand);
    redis.freeze();
    const refused = expect(counter.take(demand)).rejects.toThrow(StoreUnavailable);
    isGivenUp = false;
    await clock.passUntil(() => isGivenUp);
    await refused;
    redis.thaw();
    await eventually(() => counter.lateUnits === 1);
    await eventually(() => attempts === 2);
    await eventually(async () => (await counter.take({ ...demand, units: 0 })).standing.usedDaily <= 1);
    expect((await counter.take({ ...demand, units: 0 })).standing.usedDaily).toBe(1);
  } finally {
    redis.thaw();
    await counter.close();
    close();
    await redis.close();
    await database.close();
  }
});

it('merges what Postgres knows once more when Redis was given up while it was asked', async () => {
  const ofDay = { redis: 1, postgres: 0, refunded: 0 };
  let answer: (() => void)[] = [];
  const ledger: UsageLedger = {
    syncOne: ({ subscriptionId, day }) =>
      new Promise((resolve) => answer.push(() => resolve({ subscriptionId, day, ofDay, ofMonth: ofDay }))),
    giveBack: away,
    settle: away,
  };
  const connection: ScriptConnection = {
    runScript: () => Promise.resolve([2, 1, 1, 0, 0, 1, 0, 0]),
    readField: away,
    probe: away,
  };
  const seen = new SeenUsage();
  const counter = new RedisQuotaCounter({ connection, timeZone: 'Asia/Kolkata', clock: systemClock, ledger, seen });
  const demand = { subscriptionId: randomUUID(), limits: { daily: 10, monthly: 10 }, units: 1 };
  const take = async (meanwhile: () => void): Promise<void> => {
    const taken = counter.take(demand);
    await eventually(() => answer.length === 1);
    meanwhile();
    answer.forEach((each) => each());
    answer = [];
    await taken;
  };
  // Other nodes may have counted in Postgres after it had answered.
  await take(() => counter.forgetSeeds());
  await take(() => undefined);
  expect(counter.seedings).toBe(2);
  await counter.take(demand);
  expect(counter.seedings).toBe(2);
});
