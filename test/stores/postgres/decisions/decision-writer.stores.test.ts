import { type Pool, type PoolClient } from 'pg';
import { type Decision } from '../../../../plugins/core/ports';
import { DecisionQueue } from '../../../../plugins/stores/postgres/decisions/decision-queue';
import { DecisionWriter, type DecisionWriterOptions } from '../../../../plugins/stores/postgres/decisions/decision-writer';
import { findRequest } from '../../../../services/selling/requests/find-request';
import { createPool } from '../../../../plugins/stores/postgres/pool';
import { pruneKeyHours } from '../../../../plugins/stores/postgres/decisions/key-hours';
import { readKeyUsage } from '../../../../services/selling/requests/read-key-hours';
import { pruneDecisions } from '../../../../plugins/stores/postgres/decisions/prune-decisions';
import { revokeKey, revokeKeys } from '../../../../services/selling/keys/set-key-state';
import { newKey } from '../../../contracts/access-records';
import { eventually } from '../../../support/eventually';
import { testDatabase, type TestDatabase } from '../../../support/postgres/postgres';
import { someDecision } from '../../../support/some-decision';

let database: TestDatabase;
const writers: DecisionWriter[] = [];
beforeEach(async () => {
  database = await testDatabase();
});
afterEach(async () => {
  for (const writer of writers.splice(0)) await writer.close();
  await database.close();
});

/** A known key or customer. */
const SOME_KEY = '6f1b7d9e-6b1c-4f5e-9d5a-0d6f3b0c2a11';

let requests = 0;
const decision = (extra: Partial<Decision> = {}): Decision =>
  someDecision({ requestId: `request-${++requests}`, atMs: Date.UTC(2026, 10, 20, 12), products: ['api-ip', 'api-pincode'], ...extra });

/** A writer that writes only when told to. */
function newWriter(options: Partial<DecisionWriterOptions> = {}): DecisionWriter {
  const writer = new DecisionWriter({ pool: database.pool, timeZone: 'Asia/Kolkata', flushMs: 3_600_000, rowsPerSecond: 1, ...options });
  writers.push(writer);
  return writer;
}

const usage = (keyId: string, by: 'day' | 'hour') =>
  readKeyUsage(database.pool, { keyId, fromDay: '2026-11-20', toDay: '2026-11-21', timeZone: 'Asia/Kolkata', by });

const denials = async (): Promise<unknown[]> =>
  (await database.pool.query('SELECT credential_id, product_id, day::text, code, count::int FROM denial_count ORDER BY code, day')).rows;

/** A pool whose transactions begin only where the server can be reached. */
function reachableWhen(isReachable: () => boolean): Pool {
  const pool = createPool(database.url, { max: 1 });
  const connect = pool.connect.bind(pool) as (...words: unknown[]) => Promise<PoolClient>;
  return Object.assign(pool, {
    connect: (...words: unknown[]) => (isReachable() ? connect(...words) : Promise.reject(new Error('connection refused'))),
  });
}

/** A pool of a process whose way to the server ends before a transaction does: the server waits for the rest. */
function cutOffBeforeCommit(): { pool: Pool; close: () => Promise<void> } {
  const pool = createPool(database.url, { max: 2 });
  const lost: PoolClient[] = [];
  const connect = pool.connect.bind(pool) as () => Promise<PoolClient>;
  const cutOff = async (): Promise<PoolClient> => {
    const client = await connect();
    const query = client.query.bind(client) as (...words: unknown[]) => Promise<unknown>;
    const never = new Promise<never>(() => undefined);
    lost.push(client);
    return Object.assign(client, { query: (...words: unknown[]) => (words[0] === 'COMMIT' ? never : query(...words)) });
  };
  return {
    pool: Object.assign(pool, { connect: cutOff }),
    async close() {
      for (const client of lost) client.release(true);
      await pool.end();
    },
  };
}

describe('the decision log', () => {
  it('of a node that is cut off while it writes holds up no revocation', async () => {
    const [one, other] = [await newKey(database.pool), await newKey(database.pool)];
    const cutOff = cutOffBeforeCommit();
    const writer = new DecisionWriter({ pool: cutOff.pool, timeZone: 'Asia/Kolkata', flushMs: 3_600_000 });
    for (const { id, customerId } of [one, other]) {
      writer.record(decision({ credentialId: id, customerId, product: 'api-ip' }));
      writer.record(decision({ credentialId: id, customerId, product: 'api-ip', outcome: 'key_expired' }));
    }
    void writer.flush();
    const isStuck = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND state = 'idle in transaction'";
    await eventually(async () => (await database.pool.query(isStuck)).rowCount === 1);
    const impatient = createPool(database.url, { statementTimeoutMs: 5_000 });
    await revokeKey(impatient, { id: one.id, actor: 'test' });
    await revokeKeys(impatient, { customerId: other.customerId, ids: [other.id], actor: 'test' });
    expect((await database.pool.query(isStuck)).rowCount).toBe(1);
    await impatient.end();
    await cutOff.close();
  });

  it('gives back what was recorded', async () => {
    const { id, customerId, subscriptions } = await newKey(database.pool);
    const quota = { day: '2026-11-20', usedDaily: 3, usedMonthly: 40, daily: 3, monthly: 100, exceeded: 'daily' } as const;
    const full = decision({
      outcome: 'quota_daily_exceeded',
      keyPlace: 'x-api-key',
      maskedKey: 'tg_live…abcd',
      credentialId: id,
      customerId,
      subscriptionId: subscriptions[0]?.id,
      product: 'api-ip',
      callerAddress: '192.0.2.1',
      originHost: 'shop.example.com',
      matchedRule: '192.0.2.0/24',
      quota,
    });
    const least = decision();
    const writer = newWriter();
    writer.record(full);
    writer.record(least);
    await writer.flush();
    await expect(findRequest(database.pool, { requestId: full.requestId })).resolves.toMatchObject(full);
    await expect(findRequest(database.pool, { requestId: least.requestId })).resolves.toMatchObject(least);
    await expect(findRequest(database.pool, { requestId: 'never-seen' })).resolves.toBeUndefined();
    const { customerId: other } = await newKey(database.pool);
    await expect(findRequest(database.pool, { requestId: full.requestId, customerId: other })).resolves.toBeUndefined();
  });

  it('writes by itself', async () => {
    const writer = newWriter({ flushMs: 20 });
    const recorded = decision();
    writer.record(recorded);
    await eventually(async () => (await findRequest(database.pool, { requestId: recorded.requestId })) !== undefined);
  });

  it('counts refusals by key, product, quota day and code, exactly with several nodes at once', async () => {
    const { id } = await newKey(database.pool);
    const nodes = [newWriter(), newWriter(), newWriter()];
    const lateEvening = Date.UTC(2026, 10, 20, 18, 29, 59);
    for (let round = 0; round < 10; round++) {
      for (const node of nodes) {
        const refuse = (atMs: number, extra: Partial<Decision>): void => node.record(decision({ atMs, ...extra }));
        refuse(lateEvening, { outcome: 'key_expired', credentialId: id });
        refuse(lateEvening + 1_000, { outcome: 'key_expired', credentialId: id, product: 'api-ip' });
        refuse(lateEvening, { outcome: 'key_unknown' });
        refuse(lateEvening, {});
      }
      await Promise.all(nodes.map((node) => node.flush()));
    }
    expect(nodes.map((node) => node.stats().failures)).toEqual([0, 0, 0]);
    expect(await denials()).toEqual([
      { credential_id: id, product_id: 'api-ip', day: '2026-11-20', code: 'key_expired', count: 30 },
      { credential_id: id, product_id: 'api-ip', day: '2026-11-21', code: 'key_expired', count: 30 },
      { credential_id: null, product_id: 'api-ip', day: '2026-11-20', code: 'key_unknown', count: 30 },
    ]);
  });

  it('counts requests by key, product and hour of the quota day, with how they ended', async () => {
    const { id } = await newKey(database.pool);
    const [one, two] = [newWriter(), newWriter()];
    // 23:59:59 in Kolkata.
    const lateEvening = Date.UTC(2026, 10, 20, 18, 29, 59);
    const ask = (writer: DecisionWriter, atMs: number, extra: Partial<Decision> = {}): void =>
      writer.record(decision({ atMs, credentialId: id, product: 'api-ip', ...extra }));
    ask(one, lateEvening - 3_600_000);
    ask(one, lateEvening);
    ask(two, lateEvening);
    await Promise.all([one.flush(), two.flush()]);
    ask(one, lateEvening, { outcome: 'quota_daily_exceeded' });
    ask(one, lateEvening, { outcome: 'quota_unavailable' });
    ask(one, lateEvening + 1_000, { product: 'api-pincode' });
    one.record(decision({ atMs: lateEvening, outcome: 'key_unknown' }));
    await one.flush();
    const nothing = { admitted: 0, refused: 0, unavailable: 0, unlogged: 0, answers: null };
    const late = { day: '2026-11-20', product: 'api-ip', ...nothing };
    const early = { day: '2026-11-21', product: 'api-pincode', ...nothing, admitted: 1 };
    expect(await usage(id, 'hour')).toEqual([
      { ...late, hour: 22, startsAt: new Date('2026-11-20T16:30:00Z'), admitted: 1 },
      { ...late, hour: 23, startsAt: new Date('2026-11-20T17:30:00Z'), admitted: 2, refused: 1, unavailable: 1 },
      { ...early, hour: 0, startsAt: new Date('2026-11-20T18:30:00Z') },
    ]);
    expect(await usage(id, 'day')).toEqual([
      { ...late, hour: null, startsAt: null, admitted: 3, refused: 1, unavailable: 1 },
      { ...early, hour: null, startsAt: null },
    ]);
    await pruneKeyHours(database.pool, { now: new Date('2027-02-20T12:00:00Z') });
    expect(await usage(id, 'day')).toHaveLength(2);
    await pruneKeyHours(database.pool, { now: new Date('2027-02-21T12:00:00Z') });
    expect(await usage(id, 'day')).toEqual([{ ...early, hour: null, startsAt: null }]);
    const { rows } = await database.pool.query('SELECT day::text, product_id, admitted::int FROM customer_day');
    expect(rows).toEqual([{ day: '2026-11-21', product_id: 'api-pincode', admitted: 1 }]);
  });

  it('keeps counts by key exact when a flush fails, and when rows are dropped', async () => {
    const { id } = await newKey(database.pool);
    let isAway = true;
    const pool = reachableWhen(() => !isAway);
    const writer = newWriter({ pool, maxQueue: 10 });
    for (let index = 0; index < 500; index++) writer.record(decision({ credentialId: id, product: 'api-ip' }));
    await writer.flush();
    isAway = false;
    for (let index = 0; index < 500; index++) writer.record(decision({ credentialId: id, product: 'api-ip' }));
    await writer.flush();
    const { rows } = await database.pool.query<{ lines: number }>('SELECT count(*)::integer AS lines FROM decision');
    expect(await usage(id, 'day')).toEqual([
      expect.objectContaining({ admitted: 1_000, refused: 0, unlogged: 1_000 - (rows[0]?.lines ?? NaN) }),
    ]);
    await writer.close();
    await pool.end();
  });

  it('notes when a key was last admitted, not when it was refused', async () => {
    const [used, refused] = [await newKey(database.pool), await newKey(database.pool)];
    const writer = newWriter();
    writer.record(decision({ credentialId: used.id, atMs: 1_900_000_000_000 }));
    writer.record(decision({ credentialId: refused.id, outcome: 'key_expired' }));
    await writer.flush();
    const { rows } = await database.pool.query('SELECT id, last_used_at AS at FROM credential WHERE id = ANY ($1)', [
      [used.id, refused.id],
    ]);
    expect(rows.find(({ id }) => id === used.id).at.getTime()).toBe(1_900_000_000_000);
    expect(rows.find(({ id }) => id === refused.id).at).toBeNull();
  });

  it('writes no more than its share at a time, refusals first', async () => {
    const writer = newWriter({ flushMs: 3_600_000, rowsPerSecond: 2 / 3_600 });
    const [admitted, refused] = [[decision(), decision(), decision()], [decision({ outcome: 'key_missing' })]];
    for (const each of [...admitted, ...refused]) writer.record(each);
    await writer.flush();
    expect(writer.stats()).toMatchObject({ written: 2, queued: 2 });
    const { rows } = await database.pool.query('SELECT request_id FROM decision');
    expect(rows.map(({ request_id }) => request_id)).toEqual(expect.arrayContaining([refused[0]?.requestId, admitted[2]?.requestId]));
  });

  it('keeps method and path without keys, numbers and addresses of persons, cut after 200 characters', async () => {
    const writer = newWriter();
    const secret = `tg_live_${'a'.repeat(40)}`;
    const asked = [
      decision({ method: 'POST', rawPath: `/ip/${secret}/facts/4999-1234-0000/a%40example.com` }),
      decision({
        method: 'PUT',
        rawPath: `/ip/%74${secret.slice(1)}/tg%5fadmin_${'b'.repeat(40)}/caf%C3%A9/a%20b/tg_seller_${'c'.repeat(40)}`,
      }),
      decision({ method: 'GET', rawPath: `/${'x'.repeat(300)}` }),
    ];
    for (const each of asked) writer.record(each);
    await writer.flush();
    const { rows } = await database.pool.query(
      'SELECT method, path FROM decision WHERE request_id = ANY ($1::text[]) ORDER BY length(path)',
      [asked.map(({ requestId }) => requestId)],
    );
    expect(rows).toEqual([
      { method: 'POST', path: '/ip/tg_live…aaaa/facts/…/…' },
      { method: 'PUT', path: '/ip/…/…/caf%C3%A9/a%20b/…cccc' },
      { method: 'GET', path: `/${'x'.repeat(199)}` },
    ]);
  });

  it('takes text that PostgreSQL cannot hold', async () => {
    const writer = newWriter();
    const strange = decision({ originHost: 'a\0b\ud800c', credentialId: 'not-an-id', outcome: 'key_unknown' });
    writer.record(strange);
    await writer.flush();
    expect(writer.stats()).toMatchObject({ written: 1, failures: 0 });
    await expect(findRequest(database.pool, { requestId: strange.requestId })).resolves.toMatchObject({
      originHost: 'abc',
      credentialId: undefined,
    });
  });

  it('never throws, keeps what it can while PostgreSQL is away and loses no count', async () => {
    let away = true;
    const pool = reachableWhen(() => !away);
    const errors: unknown[] = [];
    const writer = newWriter({ pool, maxQueue: 64, onError: (error) => errors.push(error) });
    for (let index = 0; index < 100; index++)
      writer.record(decision({ credentialId: SOME_KEY, outcome: index % 2 ? 'key_expired' : 'admitted' }));
    await writer.flush();
    for (let index = 0; index < 10; index++) writer.record(decision({ credentialId: SOME_KEY, outcome: 'key_expired' }));
    await writer.flush();
    expect(errors).toHaveLength(2);
    expect(writer.stats()).toMatchObject({ written: 0, queued: 64, dropped: 46, failures: 2 });
    away = false;
    await writer.close();
    expect(writer.stats()).toMatchObject({ written: 64, queued: 0 });
    expect(await denials()).toEqual([expect.objectContaining({ code: 'key_expired', count: 60 })]);
    await pool.end();
  });

  it('stays within its memory, lets admissions go first, and gives the newest of them, no more than it is told', () => {
    const queue = new DecisionQueue(100);
    for (let index = 0; index < 60; index++) queue.add(decision({ outcome: 'key_expired', credentialId: SOME_KEY }));
    for (let index = 0; index < 500; index++) queue.add(decision());
    expect(queue.size).toBeLessThanOrEqual(100);
    expect(queue.size + queue.dropped).toBe(560);
    const kept = queue.take({ rows: 1_000, admissions: 5, anonymous: 1_000 });
    expect(kept).toHaveLength(65);
    expect(kept.filter(({ outcome }) => outcome === 'key_expired')).toHaveLength(60);
    expect(kept.at(-1)?.requestId).toBe(`request-${requests}`);
  });

  it('keeps every refusal of a known key through a flood of requests without one, which have a twentieth of the places', () => {
    const queue = new DecisionQueue(200);
    for (let index = 0; index < 50; index++) {
      queue.add(decision({ outcome: 'key_expired', credentialId: SOME_KEY }));
      for (let count = 0; count < 1_000; count++) queue.add(decision({ outcome: count % 2 ? 'key_missing' : 'key_unknown' }));
    }
    expect(queue.size).toBe(60);
    expect([queue.dropped, queue.droppedAnonymous]).toEqual([0, 49_990]);
    const share = { rows: 55, admissions: 0, anonymous: 3 };
    expect(queue.take(share).filter(({ credentialId }) => credentialId === undefined)).toHaveLength(3);
    expect(queue.size).toBe(7);
  });

  it('writes no more of them at a time than their share', async () => {
    const writer = newWriter({ flushMs: 1_000, rowsPerSecond: 1_000, anonymousPerSecond: 20 });
    for (let index = 0; index < 100; index++) writer.record(decision({ outcome: 'key_missing' }));
    await writer.flush();
    expect(writer.stats().written).toBe(20);
    expect(await denials()).toEqual([expect.objectContaining({ code: 'key_missing', count: 100 })]);
  });
});

describe('pruneDecisions', () => {
  it('deletes what is older than 7 days, and the oldest beyond the most that are kept', async () => {
    const now = new Date('2026-11-20T12:00:00Z');
    const writer = newWriter();
    for (let hours = 0; hours < 10 * 24; hours += 12)
      writer.record(decision({ customerId: SOME_KEY, atMs: now.getTime() - hours * 3_600_000 }));
    await writer.close();
    expect(await pruneDecisions(database.pool, { now })).toBe(5);
    await database.pool.query('ANALYZE decision');
    expect(await pruneDecisions(database.pool, { now, mostRows: 4 })).toBe(11);
    const { rows } = await database.pool.query('SELECT min(at) AS oldest, count(*)::int AS count FROM decision');
    expect(rows).toEqual([{ oldest: new Date('2026-11-19T00:00:00Z'), count: 4 }]);
  });

  it('deletes requests without a known key beyond a twentieth of the most that are kept before it deletes a customer’s', async () => {
    const now = new Date('2026-11-20T12:00:00Z');
    const minutesAgo = (minutes: number): number => now.getTime() - minutes * 60_000;
    const writer = newWriter({ maxQueue: 100_000 });
    for (let index = 0; index < 60; index++) {
      writer.record(decision({ outcome: 'key_expired', credentialId: SOME_KEY, customerId: SOME_KEY, atMs: minutesAgo(200 + index) }));
    }
    for (let index = 0; index < 100; index++) writer.record(decision({ outcome: 'key_missing', atMs: minutesAgo(index) }));
    await writer.close();
    await database.pool.query('ANALYZE decision');
    expect(await pruneDecisions(database.pool, { now, mostRows: 100 })).toBe(95);
    const { rows } = await database.pool.query(
      'SELECT customer_id IS NULL AS anonymous, count(*)::int FROM decision GROUP BY 1 ORDER BY 1',
    );
    expect(rows).toEqual([
      { anonymous: false, count: 60 },
      { anonymous: true, count: 5 },
    ]);
  });
});
