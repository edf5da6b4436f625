import { type Pool } from 'pg';
import { type CustomerOrder, findCustomers } from '../../../services/selling/operators/find-customers';
import { MAX_OF_ALL } from '../../../services/selling/operators/most-of-all';
import { searchAudit } from '../../../services/selling/operators/search-audit';
import { searchRequests } from '../../../services/selling/operators/search-requests';
import { codesOf } from '../../../services/dashboard/customer/requests/describe-request';
import { useDatabase } from '../../support/postgres/use-database';
import { type PlanNode, rowsRead } from '../support/rows-read';

/** Hundreds of pages; large-installation.performance.test.ts has 100,000. */
const CUSTOMERS = 20_000;
/** 25 of a page and one that says that there is a next. */
const PAGE = 25;
const MAX_ROWS = 30;
const EACH_ORDER = { email: 0, created: 0, used: 0, growth: 0, rate: 0, seen: 0 } satisfies Readonly<Record<CustomerOrder, 0>>;
const CUSTOMER_ORDERS = Object.keys(EACH_ORDER) as readonly CustomerOrder[];

const database = useDatabase();
let someKey: string;
let someCustomer: string;

beforeAll(async () => {
  const { pool } = database;
  await pool.query(
    "INSERT INTO customer (email) SELECT 'customer' || n || '@company' || n % 1000 || '.example' FROM generate_series(1, $1::integer) AS n",
    [CUSTOMERS],
  );
  await pool.query(
    `INSERT INTO credential (customer_id, hash, prefix, last_four, mode)
     SELECT id, sha256(id::text::bytea), 'tg_live', substr(md5(id::text), 1, 4), 'live' FROM customer`,
  );
  await pool.query(
    `INSERT INTO audit_log (actor, action, subject_kind, subject_id)
     SELECT 'dashboard:' || c.email, 'key.create', kind, CASE kind WHEN 'customer' THEN c.id ELSE k.id END::text
     FROM credential k JOIN customer c ON c.id = k.customer_id CROSS JOIN LATERAL (SELECT CASE WHEN k.last_four < '8' THEN 'customer' ELSE 'credential' END AS kind) AS one`,
  );
  await pool.query(
    `INSERT INTO decision (request_id, at, outcome, products, customer_id)
     SELECT 'r' || n, now() - n * interval '1 second', CASE WHEN n % 4 = 0 THEN 'key_expired' ELSE 'admitted' END, '{api-ip}',
       c.id FROM (SELECT id, row_number() OVER () AS n FROM customer) AS c`,
  );
  // As the jobs would list them: everybody, and one in a hundred in lists of their own.
  await pool.query(
    `INSERT INTO customer_listing (list, customer_id, email, created_at, state, plans, rates, rate, used, growth, last_seen_on, counted_on)
     SELECT list, id, email, created_at, 'active', '[]', '[]', length(email), CASE WHEN n % 5 = 0 THEN n ELSE 0 END, 0, '2026-11-01', '2026-11-20'
     FROM (SELECT *, row_number() OVER () AS n FROM customer) AS c, unnest('{all,state:active,product:api-ip}'::text[]) AS list
     WHERE list = 'all' OR n % 100 = 0`,
  );
  await pool.query('ANALYZE');
  const { rows } = await pool.query<{ id: string; customer: string }>(
    'SELECT id, customer_id AS customer FROM credential OFFSET 10000 LIMIT 1',
  );
  someKey = rows[0]?.id ?? '';
  someCustomer = rows[0]?.customer ?? '';
});

/** Most rows that one table gave to the statements of a piece of work. */
async function costOf(work: (db: Pool) => Promise<unknown>): Promise<number> {
  const statements: { text: string; values: unknown[] }[] = [];
  const spy = Object.create(database.pool, {
    query: {
      value: (text: string, values: unknown[]) => {
        statements.push({ text, values });
        return database.pool.query(text, values);
      },
    },
  }) as Pool;
  await work(spy);
  const plans = await Promise.all(
    statements.map(async ({ text, values }) => {
      const { rows } = await database.pool.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(`EXPLAIN (ANALYZE, FORMAT JSON) ${text}`, values);
      return rows[0] ? rowsRead(rows[0]['QUERY PLAN'][0].Plan) : 0;
    }),
  );
  return plans.reduce((sum, each) => sum + each, 0);
}

const limit = PAGE;
const cursorAfter = async (query: object): Promise<string | undefined> => (await findCustomers(database.pool, { limit, ...query })).next;

describe(`with ${CUSTOMERS} customers, a page of the console`, () => {
  const pages: readonly (readonly [string, (db: Pool) => Promise<unknown>])[] = [
    ['of customers', (db) => findCustomers(db, { limit })],
    ['of customers further on', async (db) => findCustomers(db, { limit, after: await cursorAfter({}) })],
    ...CUSTOMER_ORDERS.flatMap((order) =>
      [true, false].map(
        (isDescending) =>
          [
            `of customers by ${order}${isDescending ? ', the most first,' : ''} further on`,
            async (db: Pool) => findCustomers(db, { limit, order, isDescending, after: await cursorAfter({ order, isDescending }) }),
          ] as const,
      ),
    ),
    ['of customers in one state', (db) => findCustomers(db, { limit, list: 'state:active', order: 'used', isDescending: true })],
    ['of customers in a state that nobody is in', (db) => findCustomers(db, { limit, list: 'state:leaving', order: 'rate' })],
    ['of customers with one product', (db) => findCustomers(db, { limit, list: 'product:api-ip', order: 'seen', isDescending: true })],
    ['of customers by the beginning of an address', (db) => findCustomers(db, { limit, search: 'customer17' })],
    ['of customers by one whole address', (db) => findCustomers(db, { limit, search: 'customer17777@company777.example' })],
    ['of the top ten of the first page', (db) => findCustomers(db, { limit: 10, order: 'growth', isDescending: true })],
    ['of customers by a key’s id', (db) => findCustomers(db, { limit, search: someKey })],
  ];

  it.each(pages)('%s reads no more than it shows', async (_name, work) => {
    expect(await costOf(work)).toBeLessThanOrEqual(MAX_ROWS);
  });

  it('of customers finds all of them in any order, each once', async () => {
    const { rows } = await database.pool.query<{ count: number }>(
      "SELECT count(*)::integer AS count FROM customer_listing WHERE list = 'product:api-ip'",
    );
    for (const order of CUSTOMER_ORDERS) {
      const query = { limit: 59, list: 'product:api-ip', order, isDescending: order !== 'email' } as const;
      const seen = new Set<string>();
      for (let after: string | undefined; ;) {
        const page = await findCustomers(database.pool, { ...query, after });
        for (const { id } of page.customers) seen.add(id);
        after = page.next;
        if (after === undefined) break;
      }
      expect([order, seen.size]).toEqual([order, rows[0]?.count]);
    }
  });

  it('of customers by a key’s last four characters reads no more than it shows', async () => {
    const { rows } = await database.pool.query<{ last_four: string; count: number }>(
      'SELECT last_four, count(*)::integer AS count FROM credential GROUP BY 1 ORDER BY 2 DESC LIMIT 1',
    );
    const [most] = rows;
    expect(await costOf((db) => findCustomers(db, { limit, search: most?.last_four ?? '' }))).toBeLessThanOrEqual(MAX_ROWS);
  });

  it.each([
    ['of the audit log', () => ({})],
    ['of the audit log of one person', () => ({ actor: 'cli' })],
    ['of the audit log of one action', () => ({ action: 'key.create' })],
    ['of the audit log of one customer', () => ({ customerId: someCustomer, limit })],
  ])('%s reads no more than it shows, and whom each line is about, keys among them', async (_name, query) => {
    expect(await costOf((db) => searchAudit(db, { limit: MAX_OF_ALL, ...query() }))).toBeLessThanOrEqual(MAX_ROWS);
  });

  /** An index without the id reads one line more, which tells that no other is of the same moment. */
  const ONE_MORE = 1;
  const refused = codesOf(undefined);
  it.each([
    ['of requests', {}],
    ['of requests of one customer', { customerId: () => someCustomer }],
    ['of refused requests of one customer', { customerId: () => someCustomer, outcomes: refused }],
  ])('%s reads no more than it shows, and whom each is about', async (_name, { customerId, ...query }: { customerId?: () => string }) => {
    expect(await costOf((db) => searchRequests(db, { limit: MAX_OF_ALL, customerId: customerId?.(), ...query }))).toBeLessThanOrEqual(
      MAX_ROWS + ONE_MORE,
    );
  });

  it.each([
    ['of one refusal', { outcomes: ['key_unknown'] }],
    ['of one product', { product: 'api-seo' }],
    ['of one status', { outcomes: ['admitted'], statuses: { least: 502, most: 502 } }],
  ])('of requests %s looks through so many at most, and leads on', async (_name, query) => {
    expect(await costOf((db) => searchRequests(db, { limit, ...query }))).toBeLessThanOrEqual(2_000 + ONE_MORE);
    expect((await searchRequests(database.pool, { limit, ...query })).next).toBeDefined();
  });
});
