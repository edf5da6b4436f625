import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { type LightMyRequestResponse } from 'fastify';
import { requestEndpoints } from '../../../../services/dashboard/contract/requests';
import { requestRecords } from '../../../../services/dashboard/customer/requests/request-log-csv';
import { useDashboard } from '../../support/dashboard';
import { type Belongings, makeBelongings } from '../../support/endpoint-samples';
import { type Pool, type PoolClient } from 'pg';
import { findRequest } from '../../../../services/selling/requests/find-request';
import { listDenials } from '../../../../services/selling/requests/list-denials';
import { pruneDecisions } from '../../../../plugins/stores/postgres/decisions/prune-decisions';
import { listRequests, type RequestsQuery } from '../../../../services/selling/requests/list-requests';
import { codesOf } from '../../../../services/dashboard/customer/requests/describe-request';
import { type PlanNode, rowsRead } from '../../support/rows-read';
import { newKey } from '../../../contracts/access-records';
import { useDatabase } from '../../../support/postgres/use-database';
import { type Decision } from '../../../../plugins/core/ports';
import { DecisionWriter } from '../../../../plugins/stores/postgres/decisions/decision-writer';
import { restIdOf } from '../../../../plugins/core/catalogue/refunds';
import { someDecision } from '../../../support/some-decision';

type Told = Partial<Record<'method' | 'path', string> & Record<'status' | 'milliseconds' | 'bytes' | 'units', number>>;

describe('the request log', () => {
  const dashboard = useDashboard();
  let own: Belongings;
  let stranger: Belongings;

  /** One line of the log, as the access layer writes it, with what the gateway told of the answer. */
  async function record(key: Belongings['key'], outcome: string, secondsAgo: number, told: Told = {}): Promise<string> {
    const requestId = randomUUID();
    await dashboard.pool.query(
      `INSERT INTO decision (request_id, at, outcome, products, credential_id, customer_id, masked_key, method, path, status, milliseconds, bytes, units)
     SELECT $1, now() - $4 * interval '1 second', $3, '{api-ip}', id, customer_id, 'tg_test…abcd', $5, $6, $7, $8, $9, $10
     FROM credential WHERE id = $2`,
      [requestId, key.id, outcome, secondsAgo, told.method, told.path, told.status, told.milliseconds, told.bytes, told.units],
    );
    return requestId;
  }

  const ask = (query: string, path = '/api/requests'): Promise<LightMyRequestResponse> =>
    dashboard.ask({ path: `${path}${query}`, cookie: own.cookie });
  const outcomes = async (query: string): Promise<string[]> => {
    const { requests } = requestEndpoints['GET /requests'].answer.parse((await ask(query)).json());
    return requests.map(({ outcome, status }) => `${status ?? ''} ${outcome}`.trim());
  };

  beforeAll(async () => {
    own = await makeBelongings(dashboard, 'reader@example.com');
    stranger = await makeBelongings(dashboard, 'stranger@example.com');
    await record(own.key, 'admitted', 10);
    await record(own.key, 'quota_daily_exceeded', 20);
    await record(own.key, 'access_layer_unavailable', 30);
    await record(stranger.key, 'key_expired', 5);
  });

  it('is narrowed down by outcome and by the status of refusals', async () => {
    const refused = ['401 caller_not_whitelisted', '429 quota_daily_exceeded', '503 access_layer_unavailable'];
    expect((await outcomes('')).sort()).toEqual([...refused, 'admitted']);
    expect((await outcomes('?outcome=refused')).sort()).toEqual(refused);
    expect(await outcomes('?outcome=admitted')).toEqual(['admitted']);
    expect(await outcomes('?status=429')).toEqual(['429 quota_daily_exceeded']);
    expect(await outcomes('?status=429&outcome=key_expired')).toEqual([]);
    expect(await outcomes('?status=200')).toEqual([]);
    expect(await outcomes(`?key=${own.key.id}&product=api-ip&outcome=quota_daily_exceeded`)).toEqual(['429 quota_daily_exceeded']);
    expect(await outcomes('?to=0001-01-01T00:00:00Z')).toEqual([]);
  });

  it('shows nothing of somebody else’s key', async () => {
    expect(await outcomes(`?key=${stranger.key.id}`)).toEqual([]);
    const { body } = await ask(`?key=${stranger.key.id}`, '/api/requests.csv');
    expect(body.trim().split('\r\n')).toHaveLength(1);
  });

  it('refuses a time that ends before it begins', async () => {
    const answer = await ask('?from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z');
    expect([answer.statusCode, answer.json().errors[0].field]).toEqual([400, 'to']);
  });

  it('is exported with the same filter, and with no path that a spreadsheet calculates', async () => {
    const writer = await makeBelongings(dashboard, 'formula@example.com');
    await record(writer.key, 'admitted', 100, { method: 'GET', path: '=cmd', status: 200, milliseconds: 3, bytes: 70_000, units: 17 });
    const { headers, body } = await dashboard.ask({ path: '/api/requests.csv?outcome=admitted', cookie: writer.cookie });
    expect(headers['content-type']).toContain('text/csv');
    const [titles, ...lines] = body.trim().split('\r\n');
    expect(titles).toBe('time,request_id,key,key_id,key_name,product,outcome,status,given_back,share,method,path,milliseconds,bytes,units');
    expect(lines).toEqual([
      expect.stringMatching(new RegExp(`,tg_test…abcd,${writer.key.id},own,api-ip,admitted,200,false,,GET,'=cmd,3,70000,17$`)),
    ]);
  });

  it('is exported to an end, and page by page', async () => {
    const { rows } = await dashboard.pool.query<{ id: string }>("SELECT id FROM customer WHERE email = 'reader@example.com'");
    const query = { customerId: rows[0]?.id ?? '', timeZone: 'Asia/Kolkata' };
    const csv = await text(Readable.from(requestRecords(dashboard.pool, query, { nowMs: Date.now(), most: 3 })));
    expect(csv.trim().split('\r\n')).toHaveLength(4);
  });

  it('shows what the gateway told of each answer, and is narrowed down by it', async () => {
    const reader = await makeBelongings(dashboard, 'answers@example.com');
    const look = async (query: string) => {
      const answer = await dashboard.ask({ path: `/api/requests${query}`, cookie: reader.cookie });
      return requestEndpoints['GET /requests'].answer.parse(answer.json()).requests;
    };
    const paths = async (query: string) => (await look(query)).map(({ path }) => path);
    const pune = { method: 'GET', path: '/weather/pune', status: 200, milliseconds: 12, bytes: 5, units: 17 };
    await record(reader.key, 'admitted', 100, pune);
    await record(reader.key, 'admitted', 110, { ...pune, path: '/weather/goa', status: 502, milliseconds: 5_001 });
    await record(reader.key, 'admitted', 120, { ...pune, path: '/tides', status: 404, milliseconds: 90, method: 'POST' });
    await record(reader.key, 'quota_daily_exceeded', 130, { ...pune, path: '/weather/late', status: 429, milliseconds: 1 });
    await record(reader.key, 'admitted', 30);
    await record(reader.key, 'admitted', 140);
    // The newest is the refusal that every customer of these tests has.
    const [, running, known, ...others] = await look('');
    expect(running).toMatchObject({ status: null, method: null, isRunning: true });
    expect(known).toMatchObject({ ...pune, isRunning: false });
    expect(others.filter(({ status }) => status === null)).toMatchObject([{ outcome: 'admitted', isRunning: false }]);
    expect(await paths('?status=502')).toEqual(['/weather/goa']);
    expect(await paths('?status=4xx&path=/')).toEqual(['/tides', '/weather/late']);
    expect(await paths('?status=5XX')).toEqual(['/weather/goa']);
    expect(await paths('?status=4xx&outcome=admitted')).toEqual(['/tides']);
    expect(await paths('?method=post')).toEqual(['/tides']);
    expect(await paths('?path=/weather')).toEqual(['/weather/pune', '/weather/goa', '/weather/late']);
    expect(await paths('?path=/weather/%25')).toEqual([]);
    expect(await paths('?slowerThanMs=90')).toEqual(['/weather/goa']);
    expect(await paths('?slowerThanMs=89&status=404')).toEqual(['/tides']);
  });
});

describe('its cost', () => {
  const ROWS = 50_000;
  const PAGE = 20;
  /** Lines of a page with one more that says there is a next, and for each at most one count of its hour; its key and a refund cost one each too. */
  const MAX_ROWS = 50;

  const database = useDatabase();
  let customerId: string;
  let keys: string[];

  /** A week of a customer's requests, one in 50 refused, with ten keys for four products; a twentieth of the lines are others'. */
  const FILL = `
INSERT INTO decision (request_id, at, outcome, products, product, credential_id, customer_id, masked_key)
SELECT md5(n::text), now() - n * interval '12 seconds',
  CASE WHEN n % 50 <> 0 THEN 'admitted' WHEN n % 100 = 0 THEN 'key_expired' ELSE 'caller_not_whitelisted' END,
  '{}', (ARRAY['api-ip', 'api-seo', 'api-pincode', 'api-gst'])[1 + (n / 7) % 4], ($2::uuid[])[1 + n % 10],
  CASE WHEN n % 20 = 7 THEN $3::uuid ELSE $1::uuid END, 'tg_live…abcd'
FROM generate_series(1, ${ROWS}) AS n`;

  /** Newer than all of them, as a flood of requests with unknown keys leaves them. */
  const FLOOD_ROWS = 4_000;
  const FLOOD = `
INSERT INTO decision (request_id, at, outcome, products)
SELECT 'flood' || n, now() - n * interval '1 millisecond', 'key_unknown', '{api-ip}' FROM generate_series(1, ${FLOOD_ROWS}) AS n`;

  /** As they are after a week: built once the rows are there, which takes a third of the time. */
  async function fill(db: PoolClient, stranger: string): Promise<void> {
    await db.query("SET maintenance_work_mem = '256MB'");
    const { rows } = await db.query<{ name: string; definition: string }>(
      "SELECT indexrelid::regclass::text AS name, pg_get_indexdef(indexrelid) AS definition FROM pg_index WHERE indrelid = 'decision'::regclass",
    );
    for (const { name } of rows) await db.query(`DROP INDEX ${name}`);
    await db.query(FILL, [customerId, keys, stranger]);
    await db.query(FLOOD);
    for (const { definition } of rows) await db.query(definition);
    await db.query(
      `INSERT INTO key_hour (credential_id, day, hour, product_id, admitted)
     SELECT key, (current_date - back), hour, product, 150
     FROM unnest($1::uuid[]) AS key, generate_series(-1, 8) AS back, generate_series(0, 23) AS hour,
       unnest(ARRAY['api-ip', 'api-seo', 'api-pincode', 'api-gst']) AS product`,
      [keys],
    );
    await db.query('ANALYZE');
  }

  beforeAll(async () => {
    const first = await newKey(database.pool);
    customerId = first.customerId;
    keys = [first.id];
    while (keys.length < 10) keys.push((await newKey(database.pool)).id);
    const { customerId: stranger } = await newKey(database.pool);
    const client = await database.pool.connect();
    await fill(client, stranger);
    client.release(true);
  });

  interface Cost {
    /** Lines of the log, and rows of all tables. */
    readonly lines: number;
    readonly rows: number;
  }

  /** What all statements of a piece of work read. A statement that changes something is carried out twice. */
  async function costOf(work: (db: Pool) => Promise<unknown>): Promise<Cost> {
    const cost = { lines: 0, rows: 0 };
    const spy = Object.create(database.pool, {
      query: {
        value: async (text: string, values: unknown[]) => {
          const { rows } = await database.pool.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
            `EXPLAIN (ANALYZE, FORMAT JSON) ${text}`,
            values,
          );
          const plan = rows[0]?.['QUERY PLAN'][0].Plan;
          cost.lines += plan ? rowsRead(plan, 'decision') : NaN;
          cost.rows += plan ? rowsRead(plan) : NaN;
          return database.pool.query(text, values);
        },
      },
    }) as Pool;
    await work(spy);
    return cost;
  }

  async function costOfPage(query: Partial<RequestsQuery>): Promise<Cost & { readonly shown: number }> {
    let shown = 0;
    const cost = await costOf(async (db) => {
      shown = (await listRequests(db, { customerId, timeZone: 'Asia/Kolkata', limit: PAGE, ...query })).requests.length;
    });
    return { shown, ...cost };
  }

  const hoursAgo = (hours: number): Date => new Date(Date.now() - hours * 3_600_000);

  describe(`with ${ROWS} lines, a page of the request log`, () => {
    it.each<[string, () => Partial<RequestsQuery>]>([
      ['of everything', () => ({})],
      ['of refusals', () => ({ outcomes: codesOf(undefined) })],
      ['of one status', () => ({ outcomes: codesOf({ least: 401, most: 401 }) })],
      ['of one key', () => ({ keyId: keys[3] })],
      ['of one product', () => ({ product: 'api-gst' })],
      ['of one key, product and code', () => ({ keyId: keys[0], product: 'api-gst', outcomes: ['key_expired'] })],
      ['of some hours of one key', () => ({ from: hoursAgo(100), to: hoursAgo(90), keyId: keys[3] })],
    ])('%s reads no more of it than it shows', async (_, query) => {
      const { shown, lines, rows } = await costOfPage(query());
      expect(shown).toBe(PAGE);
      expect(lines).toBeLessThanOrEqual(PAGE + 5);
      expect(rows - lines).toBeLessThanOrEqual(2 * MAX_ROWS);
    });

    it.each<[string, () => Partial<RequestsQuery>]>([
      ['of one path', () => ({ path: '/never' })],
      ['of slow answers of one key', () => ({ slowerThanMs: 1_000, keyId: keys[3] })],
      ['of failures', () => ({ statuses: { least: 500, most: 599 }, outcomes: ['admitted', ...codesOf({ least: 500, most: 599 })] })],
    ])('%s looks through 2,000 lines at most, and leads on', async (_, query) => {
      const { shown, lines } = await costOfPage(query());
      expect(shown).toBe(0);
      expect(lines).toBeLessThanOrEqual(2_005);
      const { next } = await listRequests(database.pool, { customerId, timeZone: 'Asia/Kolkata', limit: PAGE, ...query() });
      expect(next).toBeDefined();
    });

    it('further on costs as much as the first', async () => {
      const micros = String(hoursAgo(120).getTime() * 1_000);
      const after = Buffer.from(`${micros}|zz`).toString('base64url');
      expect((await costOfPage({ after })).lines).toBeLessThanOrEqual(PAGE + 5);
    });

    it.each<[string, () => Partial<RequestsQuery>]>([
      ['a code that never occurs', () => ({ outcomes: ['subscription_missing'] })],
      ['a product that is not used', () => ({ product: 'api-image' })],
      ['somebody else’s key', () => ({ keyId: '00000000-0000-4000-8000-000000000000' })],
    ])('%s reads no line at all', async (_, query) => {
      expect(await costOfPage(query())).toMatchObject({ shown: 0, lines: 0 });
    });
  });

  // Each has an index of its own, without which it reads the lines of the flood, or of everybody.
  it.each<[string, number, (db: Pool) => Promise<unknown>]>([
    ['one request reads its line', 1, (db) => findRequest(db, { requestId: 'flood7' })],
    ['a page of a customer’s refusals reads what it shows', PAGE + 1, (db) => listDenials(db, { customerId, limit: PAGE })],
    [
      'deleting what is too much of a flood reads the flood',
      2 * FLOOD_ROWS,
      (db) => pruneDecisions(db, { now: new Date(), mostRows: ROWS + FLOOD_ROWS }),
    ],
  ])('%s and no other line', async (_, most, work) => {
    const { lines } = await costOf(work);
    expect(lines).toBeGreaterThan(0);
    expect(lines).toBeLessThanOrEqual(most);
  });
});

describe('requests in the database', () => {
  type Key = Awaited<ReturnType<typeof newKey>>;

  const database = useDatabase();
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
    own = await newKey(database.pool, { name: 'Checkout' });
    other = await newKey(database.pool);
  });

  describe('the log of a customer’s requests', () => {
    it('is filtered by key, product, outcome and time', async () => {
      const second = { ...own, ...(await newKey(database.pool)), customerId: own.customerId };
      const decisions = {
        early: decision(own, { atMs: nowMs - 7_200_000 }),
        refused: decision(own, { outcome: 'caller_not_whitelisted', atMs: nowMs - 5_000 }),
        exceeded: decision(own, { outcome: 'quota_daily_exceeded', atMs: nowMs - 4_000 }),
        pincode: decision(own, { products: ['api-pincode'], product: 'api-pincode', atMs: nowMs - 3_000 }),
        second: decision(second, { atMs: nowMs - 2_000 }),
      };
      await record(...Object.values(decisions), decision(other), decision(own, { atMs: nowMs - 8 * 86_400_000 }));
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
      const { rows } = await database.pool.query(
        "SELECT count(*)::integer AS lines FROM decision WHERE outcome = 'admitted' AND customer_id = $1",
        [own.customerId],
      );
      expect(rows).toEqual([{ lines: 3_636 }]);
      const { requests } = await list({ limit: 2 });
      expect(requests.map(({ share }) => share)).toEqual([1, 3_636 / 7_200]);
    });

    it('tells no share before the hour is counted', async () => {
      await record(decision(own));
      await database.pool.query('DELETE FROM key_hour');
      expect((await list()).requests).toMatchObject([{ share: null }]);
    });

    it('tells what a request cost without the units that it reserved and did not use, and what was given back', async () => {
      const [batch, single] = [decision(own, { atMs: nowMs - 2_000 }), decision(own, { atMs: nowMs - 3_000 })];
      const failed = decision(own, { atMs: nowMs - 4_000 });
      await record(batch, single, failed);
      await database.pool.query('UPDATE decision SET units = CASE request_id WHEN $1 THEN 100 ELSE 1 END', [batch.requestId]);
      await database.pool.query('INSERT INTO quota_refund (request_id, day, units) VALUES ($1, current_date, 98)', [
        restIdOf(batch.requestId),
      ]);
      await database.pool.query('INSERT INTO quota_refund (request_id, day) VALUES ($1, current_date)', [failed.requestId]);
      expect((await list()).requests).toMatchObject([
        { units: 2, isGivenBack: false },
        { units: 1, isGivenBack: false },
        { isGivenBack: true },
      ]);
      expect(await findRequest(database.pool, { requestId: batch.requestId })).not.toMatchObject({ isGivenBack: true });
    });
  });
});
