import { randomUUID } from 'node:crypto';
import { StoreUnavailable } from '../../../plugins/core/ports';
import { QuotaLedger } from '../../../plugins/stores/postgres/quota-ledger';
import { SeenUsage } from '../../../plugins/stores/quota-seen';
import { RedisQuotaCounter, type UsageLedger } from '../../../plugins/stores/redis/quota-counter';
import { QuotaScript } from '../../../plugins/stores/redis/quota-script';
import { RedisConnection } from '../../../plugins/stores/redis/redis-connection';
import { eventually } from '../../support/eventually';
import { testDatabase } from '../../support/postgres';
import { startTestRedis } from '../../support/redis';
import { PatientClock } from './patient-clock';

const SILENCE = { silenceMs: 50, heldUpSilenceMs: 50 };

it('gives a unit that was granted too late back, also when Postgres takes no writes at first', async () => {
  const [database, redis] = [await testDatabase(), await startTestRedis()];
  const clock = new PatientClock();
  const common = { pool: database.pool, timeZone: 'Asia/Kolkata', clock };
  let isGivenUp = false;
  const connection = new RedisConnection({
    ...SILENCE,
    url: redis.url,
    clock,
    onTrouble: () => void (isGivenUp = true),
    onLateReply: () => undefined,
    onReady: () => undefined,
  });
  const ledger = new QuotaLedger({ ...common, silenceMs: 10_000, heldUpSilenceMs: 10_000, deadlineMs: 20_000 });
  let refusals = 0;
  const refusingOnce: UsageLedger = {
    syncOne: (seen) => ledger.syncOne(seen),
    giveBack: (units) => (refusals++ === 0 ? Promise.reject(new StoreUnavailable('read-only')) : ledger.giveBack(units)),
  };
  const script = new QuotaScript({ ...common, connection });
  const counter = new RedisQuotaCounter({ connection, script, ledger: refusingOnce, seen: new SeenUsage() });
  const demand = { subscriptionId: randomUUID(), limits: { daily: 10, monthly: 10 }, units: 1 };
  try {
    await eventually(() => connection.isReady);
    await counter.take(demand);
    redis.freeze();
    const refused = expect(counter.take(demand)).rejects.toThrow(StoreUnavailable);
    isGivenUp = false;
    await clock.passUntil(() => isGivenUp);
    await refused;
    redis.thaw();
    await eventually(() => counter.lateUnits === 1);
    await eventually(async () => (await counter.take({ ...demand, units: 0 })).standing.usedDaily === 1);
    expect(refusals).toBe(2);
  } finally {
    redis.thaw();
    await counter.close();
    connection.close();
    await redis.close();
    await database.close();
  }
});
