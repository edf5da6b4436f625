import { removeOperator, resetOperator } from '../../../services/selling/operators/change-operators';
import { makeSetUpLink } from '../../../services/dashboard/sign-in/set-up-link';
import { endpointsFor } from '../../../services/dashboard/contract/endpoints';
import { passkeyEndpoints } from '../../../services/dashboard/contract/sign-in';
import { ORIGIN, PASSWORD, useDashboard, verdict } from '../support/dashboard';
import { askEndpoint, type Belongings, keepsEverything, makeBelongings, samples } from '../support/endpoint-samples';
import { beginOperator, makeOperator, type OperatorSession, type OperatorSteps } from '../support/operator';
import { operatorSamples } from '../support/operator-samples';
import { type Pool } from 'pg';
import { type CustomerOrder, findCustomers } from '../../../services/selling/operators/find-customers';
import { MAX_OF_ALL } from '../../../services/selling/operators/most-of-all';
import { searchAudit } from '../../../services/selling/operators/search-audit';
import { searchRequests } from '../../../services/selling/operators/search-requests';
import { codesOf } from '../../../services/dashboard/customer/requests/describe-request';
import { useDatabase } from '../../support/postgres/use-database';
import { type PlanNode, rowsRead } from '../support/rows-read';

// This dashboard's address is none that browsers keep passkeys for.
const customersEndpoints = [...endpointsFor('members'), ...endpointsFor('persons'), ...endpointsFor('accounts')].filter(
  ({ name }) => !(name in passkeyEndpoints),
);
const operatorEndpoints = endpointsFor('operators');

describe('operators', () => {
  const dashboard = useDashboard();
  let customer: Belongings;
  let operator: OperatorSession;
  let unready: OperatorSteps;

  beforeAll(async () => {
    customer = await makeBelongings(dashboard, 'asha@example.com');
    operator = await makeOperator(dashboard, 'first@tollgate.test');
    unready = await beginOperator(dashboard, 'unready@tollgate.test');
  });

  const session = (cookie: string) => dashboard.ask({ path: '/api/operator/session', cookie });

  it('shows customers which gateways act on a change, and never what their operator calls them', async () => {
    await dashboard.pool.query(
      `INSERT INTO gateway_node (id, name, started_at, seen_at, current_until, feed_healthy)
       SELECT gen_random_uuid(), 'kong-' || n || '.rack7.internal', now(), now(), now(), true FROM generate_series(1, 3) n`,
    );
    const { body } = await dashboard.ask({ path: `/api/keys/${customer.key.id}/propagation`, cookie: customer.cookie });
    expect(JSON.parse(body).nodes.map(({ name }: { name: string }) => name)).toEqual(['Gateway 1', 'Gateway 2', 'Gateway 3']);
    expect(body).not.toContain('rack7');
  });

  describe('nodes', () => {
    const nodeCalled = async (name: string) =>
      (await dashboard.ask({ path: '/api/operator/nodes', cookie: operator.cookie }))
        .json()
        .nodes.find((node: { name: string }) => node.name === name) as Record<string, unknown>;

    it('tell version, state and Redis with their beginnings, or null, and what is gone is asked for nothing', async () => {
      await dashboard.pool.query(
        `INSERT INTO gateway_node (id, name, feed_healthy, version, feed_since, redis_answers, redis_since, seen_at) VALUES
         (gen_random_uuid(), 'silent', true, NULL, NULL, NULL, NULL, now()),
         (gen_random_uuid(), 'telling', true, '9.9.9', '2027-01-01Z', false, '2027-01-02Z', now())`,
      );
      const untold = { version: null, stateSince: null, redisAnswers: null, redisSince: null };
      expect(await nodeCalled('silent')).toMatchObject({ state: 'live', ...untold });
      const since = { stateSince: '2027-01-01T00:00:00.000Z', redisSince: '2027-01-02T00:00:00.000Z' };
      expect(await nodeCalled('telling')).toMatchObject({ version: '9.9.9', state: 'live', redisAnswers: false, ...since });
      await dashboard.pool.query("UPDATE gateway_node SET seen_at = now() - interval '11 s' WHERE name = 'telling'");
      const gone = await nodeCalled('telling');
      expect(gone).toMatchObject({ state: 'gone', version: '9.9.9', redisAnswers: null, redisSince: null });
      expect(gone['stateSince']).toBe(gone['seenAt']);
    });
  });

  describe('an endpoint for operators', () => {
    it('tells and does nothing for anybody else', async () => {
      const requests = await operatorSamples(dashboard.pool, customer);
      const half = await operator.signInHalf();
      await keepsEverything(dashboard.pool, async () => {
        for (const endpoint of operatorEndpoints)
          for (const [cookie, refusal] of [
            [undefined, '401 not_signed_in'],
            ['tollgate.session_token=forged.c2lnbmF0dXJl', '401 not_signed_in'],
            [half, '401 not_signed_in'],
            [customer.cookie, '403 operators_only'],
            [unready.withoutFactor, '403 second_factor_missing'],
          ]) {
            const answer = await askEndpoint(dashboard, endpoint, { sample: requests[endpoint.name], cookie });
            expect([endpoint.name, verdict(answer)]).toEqual([endpoint.name, refusal]);
          }
      });
    });

    it('cannot be reached from another site', async () => {
      const requests = await operatorSamples(dashboard.pool, customer);
      await keepsEverything(dashboard.pool, async () => {
        for (const endpoint of operatorEndpoints.filter(({ method }) => method !== 'GET')) {
          const by = { cookie: operator.cookie, headers: { origin: 'https://evil.example' } };
          const answer = await askEndpoint(dashboard, endpoint, { sample: { body: {}, ...requests[endpoint.name] }, ...by });
          expect([endpoint.name, verdict(answer)]).toEqual([endpoint.name, '403 forbidden']);
        }
      });
    });
  });

  describe('an operator', () => {
    it('is no customer', async () => {
      await keepsEverything(dashboard.pool, async () => {
        for (const endpoint of customersEndpoints) {
          const sample = { body: {}, ...samples[endpoint.name]?.(customer) };
          const answer = await askEndpoint(dashboard, endpoint, { sample, cookie: operator.cookie });
          expect([endpoint.name, verdict(answer)]).toEqual([endpoint.name, '403 customers_only']);
        }
      });
    });

    it('signs in with both, and cannot do without the second', async () => {
      expect((await session(operator.cookie)).json().email).toBe('first@tollgate.test');
      const path = '/api/auth/two-factor/disable';
      expect(verdict(await dashboard.ask({ method: 'POST', path, body: { password: PASSWORD }, cookie: operator.cookie }))).toBe(
        '409 second_factor_needed',
      );
      expect((await session(operator.cookie)).statusCode).toBe(200);
    });

    it('gets no link by mail, and no account by signing up', async () => {
      const email = 'first@tollgate.test';
      const mailsBefore = dashboard.mails.length;
      for (const [path, body] of [
        ['/request-password-reset', { email }],
        ['/send-verification-email', { email }],
        ['/sign-up/email', { email, password: 'a password of a stranger' }],
      ] as const) {
        const answer = await dashboard.ask({ method: 'POST', path: `/api/auth${path}`, body });
        expect([path, answer.statusCode]).toEqual([path, 200]);
      }
      // What mail there is to be is sent in order: another person's comes after.
      await dashboard.signUp('later@example.com');
      expect(dashboard.mails.slice(mailsBefore).map(({ to }) => to)).toEqual(['later@example.com']);
    });

    it('uses the link once, and the link of an operator that was reset is worth nothing', async () => {
      const steps = await beginOperator(dashboard, 'lost@tollgate.test');
      const session0 = await steps.finish();
      const { rows } = await dashboard.pool.query<{ id: string }>("SELECT id FROM auth_user WHERE email = 'lost@tollgate.test'");
      const userId = rows[0]?.id ?? '';
      const reset = (link: string, newPassword: string) => {
        const body = { token: new URL(link).searchParams.get('token'), newPassword };
        return dashboard.ask({ method: 'POST', path: '/api/auth/reset-password', body });
      };
      const { link, expiresAt } = await makeSetUpLink(dashboard.pool, { userId, url: ORIGIN });
      expect(expiresAt.getTime()).toBeLessThanOrEqual(Date.now() + 3_600_000);
      await resetOperator(dashboard.pool, { email: 'lost@tollgate.test', actor: 'test' });
      expect((await session(session0.cookie)).statusCode).toBe(401);
      expect((await reset(link, 'a password of nobody')).json().code).toBe('invalid_token');
      const next = await makeSetUpLink(dashboard.pool, { userId, url: ORIGIN });
      expect((await reset(next.link, 'a password of its own')).statusCode).toBe(200);
      expect((await reset(next.link, 'another one, too late')).json().code).toBe('invalid_token');
    });

    it('is gone at once when removed', async () => {
      const gone = await makeOperator(dashboard, 'gone@tollgate.test');
      await removeOperator(dashboard.pool, { email: 'gone@tollgate.test', actor: 'test' });
      expect((await session(gone.cookie)).statusCode).toBe(401);
    });

    it('leaves lines in the audit log', async () => {
      const { rows } = await dashboard.pool.query<{ actor: string; action: string }>(
        "SELECT actor, action FROM audit_log WHERE subject_kind = 'operator' AND details->>'email' = 'first@tollgate.test' OR actor = 'operator:first@tollgate.test' ORDER BY id",
      );
      expect(rows.slice(0, 2)).toEqual([
        { actor: 'test', action: 'operator.create' },
        { actor: 'operator:first@tollgate.test', action: 'account.second_factor_on' },
      ]);
    });
  });
});

describe('what the pages of operators cost', () => {
  /** Hundreds of pages; large-installation.performance.test.ts has 100,000. */
  const CUSTOMERS = 10_000;
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
      'SELECT id, customer_id AS customer FROM credential OFFSET 5000 LIMIT 1',
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
        const { rows } = await database.pool.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
          `EXPLAIN (ANALYZE, FORMAT JSON) ${text}`,
          values,
        );
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
      ['of customers by one whole address', (db) => findCustomers(db, { limit, search: 'customer4777@company777.example' })],
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
});
