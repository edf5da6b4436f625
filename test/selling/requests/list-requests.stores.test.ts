import { randomUUID } from 'node:crypto';
import { type Decision } from '../../../plugins/core/ports';
import { DecisionWriter } from '../../../plugins/stores/postgres/decisions/decision-writer';
import { restIdOf } from '../../../plugins/core/catalogue/refunds';
import { findRequest } from '../../../services/selling/requests/find-request';
import { listRequests, type RequestsQuery } from '../../../services/selling/requests/list-requests';
import { newKey } from '../../contracts/access-records';
import { testDatabase, type TestDatabase } from '../../support/postgres/postgres';
import { someDecision } from '../../support/some-decision';

type Key = Awaited<ReturnType<typeof newKey>>;

let database: TestDatabase;
let own: Key;
let other: Key;
const nowMs = Date.now();

const decision = (key: Key, extra: Partial<Decision> = {}): Decision =>
  someDecision({
    requestId: randomUUID(),
    atMs: nowMs - 60_000,
    keyPlace: 'x-api-key',
    maskedKey: 'tg_live…abcd',
    credentialId: key.id,
    customerId: key.customerId,
    product: 'api-ip',
    callerAddress: '203.0.113.7',
    ...extra,
  });

async function record(...decisions: Decision[]): Promise<void> {
  const writer = new DecisionWriter({ pool: database.pool, timeZone: 'Asia/Kolkata', flushMs: 3_600_000 });
  for (const each of decisions) writer.record(each);
  await writer.close();
}

const list = (query: Partial<RequestsQuery> = {}): ReturnType<typeof listRequests> =>
  listRequests(database.pool, { customerId: own.customerId, timeZone: 'Asia/Kolkata', limit: 20, ...query });
const idsOf = async (query: Partial<RequestsQuery> = {}): Promise<string[]> =>
  (await list(query)).requests.map(({ requestId }) => requestId);

beforeEach(async () => {
  database = await testDatabase();
  own = await newKey(database.pool, { name: 'Checkout' });
  other = await newKey(database.pool);
});
afterEach(() => database.close());

describe('the log of a customer’s requests', () => {
  it('holds what was admitted and what was refused, newest first, and nobody else’s', async () => {
    const admitted = decision(own, { atMs: nowMs - 3_000 });
    const refused = decision(own, { atMs: nowMs - 2_000, outcome: 'key_expired', product: undefined });
    await record(admitted, refused, decision(other), decision(own, { atMs: nowMs - 8 * 86_400_000 }));
    const { requests, next } = await list();
    expect(next).toBeUndefined();
    const line = {
      product: 'api-ip',
      keyId: own.id,
      keyName: 'Checkout',
      maskedKey: 'tg_live…abcd',
      share: 1,
      isGivenBack: false,
    };
    expect(requests).toMatchObject([
      { ...line, requestId: refused.requestId, outcome: 'key_expired' },
      { ...line, requestId: admitted.requestId, outcome: 'admitted', at: new Date(admitted.atMs) },
    ]);
  });

  it('is filtered by key, product, outcome and time', async () => {
    const second = { ...own, ...(await newKey(database.pool)), customerId: own.customerId };
    const decisions = {
      early: decision(own, { atMs: nowMs - 7_200_000 }),
      refused: decision(own, { outcome: 'caller_not_whitelisted', atMs: nowMs - 5_000 }),
      exceeded: decision(own, { outcome: 'quota_daily_exceeded', atMs: nowMs - 4_000 }),
      pincode: decision(own, { products: ['api-pincode'], product: 'api-pincode', atMs: nowMs - 3_000 }),
      second: decision(second, { atMs: nowMs - 2_000 }),
    };
    await record(...Object.values(decisions));
    const named = async (query: Partial<RequestsQuery>): Promise<string[]> => {
      const ids = await idsOf(query);
      return ids.map((id) => Object.entries(decisions).find(([, each]) => each.requestId === id)?.[0] ?? id);
    };
    expect(await named({})).toEqual(['second', 'pincode', 'exceeded', 'refused', 'early']);
    expect(await named({ keyId: second.id })).toEqual(['second']);
    expect(await named({ keyId: other.id })).toEqual([]);
    expect(await named({ product: 'api-pincode' })).toEqual(['pincode']);
    expect(await named({ outcomes: ['admitted'] })).toEqual(['second', 'pincode', 'early']);
    expect(await named({ outcomes: ['quota_daily_exceeded', 'caller_not_whitelisted'] })).toEqual(['exceeded', 'refused']);
    expect(await named({ outcomes: ['quota_daily_exceeded', 'quota_monthly_exceeded'] })).toEqual(['exceeded']);
    expect(await named({ outcomes: [] })).toEqual([]);
    expect(await named({ to: new Date(nowMs - 5_000) })).toEqual(['early']);
    expect(await named({ from: new Date(nowMs - 5_000), to: new Date(nowMs - 3_000) })).toEqual(['exceeded', 'refused']);
  });

  it('is paged without a gap or a repetition, also among requests of one millisecond', async () => {
    const all = Array.from({ length: 25 }, (_, index) => decision(own, { atMs: nowMs - 1_000 * Math.floor(index / 10) - 1_000 }));
    await record(...all);
    const found: string[] = [];
    for (let after: string | undefined, isLast = false; !isLast;) {
      const { requests, next } = await list({ limit: 7, after });
      expect(requests.length).toBeLessThanOrEqual(7);
      found.push(...requests.map(({ requestId }) => requestId));
      isLast = next === undefined;
      after = next;
    }
    expect([...found].sort()).toEqual(all.map(({ requestId }) => requestId).sort());
    expect(await idsOf({ after: 'no place' })).toHaveLength(20);
  });

  it('tells the share that has a line where a sample was written, and that of refusals by itself', async () => {
    const atMs = nowMs - 60_000;
    const many = Array.from({ length: 7_200 }, () => decision(own, { atMs }));
    const refusal = decision(own, { atMs: atMs + 1, outcome: 'key_expired' });
    await record(...many, refusal);
    const { rows } = await database.pool.query("SELECT count(*)::integer AS lines FROM decision WHERE outcome = 'admitted'");
    expect(rows).toEqual([{ lines: 3_636 }]);
    const { requests } = await list({ limit: 2 });
    expect(requests.map(({ share }) => share)).toEqual([1, 3_636 / 7_200]);
  });

  it('tells no share before the hour is counted', async () => {
    await record(decision(own));
    await database.pool.query('DELETE FROM key_hour');
    expect((await list()).requests).toMatchObject([{ share: null }]);
  });

  it('tells what a request cost without the units that it reserved and did not use', async () => {
    const [batch, single] = [decision(own, { atMs: nowMs - 2_000 }), decision(own, { atMs: nowMs - 3_000 })];
    await record(batch, single);
    await database.pool.query('UPDATE decision SET units = CASE request_id WHEN $1 THEN 100 ELSE 1 END', [batch.requestId]);
    await database.pool.query('INSERT INTO quota_refund (request_id, day, units) VALUES ($1, current_date, 98)', [
      restIdOf(batch.requestId),
    ]);
    expect((await list()).requests).toMatchObject([
      { units: 2, isGivenBack: false },
      { units: 1, isGivenBack: false },
    ]);
    expect(await findRequest(database.pool, { requestId: batch.requestId })).not.toMatchObject({ isGivenBack: true });
  });

  it('tells what was given back', async () => {
    const [failed, fine] = [decision(own, { atMs: nowMs - 2_000 }), decision(own, { atMs: nowMs - 3_000 })];
    await record(failed, fine);
    await database.pool.query('INSERT INTO quota_refund (request_id, day) VALUES ($1, current_date)', [failed.requestId]);
    expect((await list()).requests.map(({ isGivenBack }) => isGivenBack)).toEqual([true, false]);
  });
});
