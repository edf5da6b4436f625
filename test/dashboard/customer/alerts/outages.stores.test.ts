import { type Pool } from 'pg';
import { judgeMinute } from '../../../../plugins/core/catalogue/outage';
import { applyCatalogue } from '../../../../services/selling/catalogue/apply-catalogue';
import { readAppliedCatalogue } from '../../../../services/selling/catalogue/read-catalogue';
import { createCatalogue } from '../../../../plugins/core/catalogue/catalogue';
import { createOperator } from '../../../../services/selling/operators/change-operators';
import { readAvailability } from '../../../../services/selling/outages/read-product-answers';
import { listOutages, listOutagesOf } from '../../../../services/selling/outages/list-outages';
import { type OutageChange, watchOutages } from '../../../../services/selling/outages/watch-outages';
import { createPool } from '../../../../plugins/stores/postgres/pool';
import { addSellerWebhook } from '../../../../services/selling/webhooks/seller-webhooks';
import { writeOutageMails } from '../../../../services/dashboard/customer/alerts/outage-mails';
import { newKey } from '../../../contracts/access-records';
import { startMailing } from '../../support/mailing';
import { eventually } from '../../../support/eventually';
import { testDatabase, type TestDatabase } from '../../../support/postgres/postgres';

const timeZone = 'UTC';
const LOOK_MS = 10_000;

let database: TestDatabase;
/** Two dashboards, with the rights that they have in production. */
let dashboards: readonly Pool[];
let key: Awaited<ReturnType<typeof newKey>>;
let nowMs: number;

const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

/** What was answered in the last seconds, as the gateways' counts are written. */
async function answer({ succeeded = 0, failed = 0 }): Promise<void> {
  const rows = [
    {
      ...{ credentialId: key.id, product: 'api-ip', day: dayOf(nowMs), hour: new Date(nowMs).getUTCHours() },
      ...{ succeeded, rejected: 0, failed, abandoned: 0, took: [succeeded + failed] },
    },
  ];
  await database.pool.query('SELECT note_answers($1::json)', [JSON.stringify(rows)]);
}

/** Ten seconds later both dashboards look at once. */
async function look(): Promise<OutageChange[]> {
  nowMs += LOOK_MS;
  return (await Promise.all(dashboards.map((each) => watchOutages(each, { timeZone, at: new Date(nowMs) })))).flat();
}

/** Answers in each ten seconds of a time. @returns what began and ended in it */
async function pass(looks: number, each: { succeeded?: number; failed?: number }): Promise<OutageChange[]> {
  const changes: OutageChange[] = [];
  for (let place = 0; place < looks; place += 1) {
    await answer(each);
    changes.push(...(await look()));
  }
  return changes;
}

async function told(): Promise<{ event: string; data: Record<string, unknown> }[]> {
  return (await database.pool.query('SELECT event, data FROM webhook_delivery ORDER BY number')).rows;
}

const BEGAN = [{ product: 'api-ip', change: 'began' }];
const ENDED = [{ product: 'api-ip', change: 'ended' }];

describe('an outage', () => {
  beforeEach(async () => {
    database = await testDatabase();
    dashboards = [1, 2].map(() => createPool(database.urlAs('tollgate_dashboard'), { max: 2 }));
    key = await newKey(database.pool);
    nowMs = Date.now() - 3_600_000;
  });
  afterEach(async () => {
    await Promise.all(dashboards.map((each) => each.end()));
    await database.close();
  });

  it('of ten minutes with 500 failures is told once, and once that it is over, by two dashboards', async () => {
    await addSellerWebhook(database.pool, { url: 'http://127.0.0.1:9/', events: null, actor: 'test' });
    await database.pool.query('DELETE FROM webhook_delivery');
    expect(await pass(12, { succeeded: 8 })).toEqual([]);
    const failures = Array.from({ length: 60 }, (_, place) => (place % 3 === 0 ? 9 : 8));
    const changes: OutageChange[] = [];
    for (const failed of failures) changes.push(...(await pass(1, { failed })));
    expect(changes).toEqual(BEGAN);
    expect(await listOutages(dashboards[0] as Pool)).toMatchObject([{ product: 'api-ip', title: 'IP lookup', endedAt: null }]);
    expect(await pass(12, { succeeded: 8 })).toEqual(ENDED);
    expect(await pass(30, { succeeded: 8 })).toEqual([]);
    const sent = await told();
    expect(sent.map(({ event }) => event)).toEqual(['product.failing', 'product.recovered']);
    expect(sent[0]?.data).toMatchObject({ product: 'api-ip', ended_at: null });
    expect(sent[1]?.data).toMatchObject({ product: 'api-ip', failed: failures.reduce((sum, each) => sum + each, 0) });
    const [day] = await readAvailability(database.pool, { fromDay: dayOf(nowMs), toDay: dayOf(nowMs) });
    expect(day?.failed).toBeGreaterThan(0);
  });

  it('is shown to the customers whose requests failed, and to no others', async () => {
    const other = await newKey(database.pool);
    await pass(2, { succeeded: 1 });
    await pass(2, { failed: 30 });
    const of = async (customerId: string) =>
      (await listOutagesOf(dashboards[0] as Pool, { customerId, timeZone })).map((each) => each.product);
    expect(await of(key.customerId)).toEqual(['api-ip']);
    expect(await of(other.customerId)).toEqual([]);
  });

  it('goes on while too few calls are made to tell, and is over after a quarter of an hour without a failure', async () => {
    await pass(1, { succeeded: 1 });
    expect(await pass(2, { failed: 30 })).toEqual(BEGAN);
    const quiet: OutageChange[][] = [];
    for (let minute = 0; minute < 14; minute += 1) {
      nowMs += 50_000;
      quiet.push(await look());
    }
    expect(quiet.flat()).toEqual([]);
    nowMs += 120_000;
    expect(await look()).toEqual(ENDED);
  });

  it('begins only where the catalogue’s share and number are reached', async () => {
    const applied = await readAppliedCatalogue(database.pool);
    const products = applied.products.map((each) => (each.id === 'api-ip' ? { ...each, alert: { failures: 50, atLeast: 5 } } : each));
    await applyCatalogue(database.pool, createCatalogue(products), { actor: 'test' });
    await pass(1, { succeeded: 1 });
    expect(await pass(1, { succeeded: 6, failed: 5 })).toEqual([]);
    expect(await pass(1, { failed: 4 })).toEqual(BEGAN);
  });

  it('is not seen in what was counted before the minute, as after a start', async () => {
    await answer({ failed: 500 });
    expect(await look()).toEqual([]);
    nowMs += 600_000;
    await answer({ failed: 500 });
    expect(await look()).toEqual([]);
  });

  it('is seen over midnight', async () => {
    nowMs = Date.parse(`${dayOf(nowMs)}T00:00:00Z`) - 25_000;
    await pass(2, { failed: 8 });
    expect(await pass(2, { failed: 8 })).toEqual(BEGAN);
  });

  it('is mailed to every operator once, with its end', async () => {
    await createOperator(database.pool, { email: 'ops@example.com', actor: 'test' });
    await createOperator(database.pool, { email: 'night@example.com', actor: 'test' });
    const mails: string[] = [];
    const both = (words: string) => ['night', 'ops'].map((each) => `${each}@example.com: IP lookup ${words}`);
    const send = ({ to, subject }: { to: string; subject: string }) => void mails.push(`${to}: ${subject}`);
    // Over a minute ago: seen within it, the failures would begin another outage as soon as this one has ended.
    nowMs = Date.now() - 120_000;
    await pass(2, { succeeded: 1 });
    await pass(2, { failed: 30 });
    const work = dashboards.map((db) => startMailing(db, { send, write: { outage: writeOutageMails }, everyMs: 50 }));
    try {
      await eventually(() => mails.length >= 2);
      expect(mails).toEqual(both('is failing'));
      expect(await pass(12, { succeeded: 8 })).toEqual(ENDED);
      await eventually(() => mails.length >= 4);
    } finally {
      await Promise.all(work.map((each) => each.close()));
    }
    expect(mails).toEqual([...both('is failing'), ...both('has recovered')]);
  });
});

describe('a minute', () => {
  const rule = { failures: 20, atLeast: 20 };
  it.each([
    [{ answered: 100, failed: 20 }, 'failing'],
    [{ answered: 101, failed: 20 }, 'well'],
    [{ answered: 19, failed: 19 }, 'unclear'],
    [{ answered: 0, failed: 0 }, 'unclear'],
    [{ answered: 1, failed: 0 }, 'well'],
  ] as const)('of %j is %s', (minute, verdict) => {
    expect(judgeMinute(minute, rule)).toBe(verdict);
  });
});
