import { removeOperator, resetOperator } from '../../../plugins/stores/postgres/operators/change-operators';
import { makeSetUpLink } from '../../../services/dashboard/api/accounts/set-up-link';
import { endpointsFor } from '../../../services/dashboard/contract/endpoints';
import { ORIGIN, PASSWORD, startDashboard, type TestDashboard } from '../support/dashboard';
import { type Belongings, fillPath, makeBelongings, readEverything, samples } from '../support/endpoint-samples';
import { beginOperator, makeOperator, type OperatorSession, type OperatorSteps } from '../support/operator';
import { operatorSamples } from '../support/operator-samples';
import { viewKeys } from '../../../plugins/stores/postgres/keys/key-view';
import { createKey } from '../../../plugins/stores/postgres/keys/create-key';
import { suspendCustomer, suspendKey, suspendSubscription } from '../../../plugins/stores/postgres/suspensions/suspend';

const endpoints = endpointsFor('members');
const operatorEndpoints = endpointsFor('operators');

describe('operators', () => {
  let dashboard: TestDashboard;
  let customer: Belongings;
  let operator: OperatorSession;
  let unready: OperatorSteps;

  beforeAll(async () => {
    dashboard = await startDashboard();
    customer = await makeBelongings(dashboard, 'asha@example.com');
    operator = await makeOperator(dashboard, 'first@tollgate.test');
    unready = await beginOperator(dashboard, 'unready@tollgate.test');
  });
  afterAll(() => dashboard.close());

  const session = (cookie: string) => dashboard.ask({ path: '/api/operator/session', cookie });
  const title = ({ method, path }: { method: string; path: string }) => [method, path] as const;

  describe('an endpoint for operators', () => {
    it.each(operatorEndpoints.map(title))('tells and does nothing for anybody else: %s %s', async (method, path) => {
      const endpoint = operatorEndpoints.find((each) => each.method === method && each.path === path);
      const sample = (await operatorSamples(dashboard.pool, customer))[`${method} ${path}`] ?? {};
      const half = await operator.signInHalf();
      const before = await readEverything(dashboard.pool);
      const visitors: readonly (readonly [string | undefined, number, string])[] = [
        [undefined, 401, 'not_signed_in'],
        ['tollgate.session_token=forged.c2lnbmF0dXJl', 401, 'not_signed_in'],
        [half, 401, 'not_signed_in'],
        [customer.cookie, 403, 'operators_only'],
        [unready.withoutFactor, 403, 'second_factor_missing'],
      ];
      for (const [cookie, status, code] of visitors) {
        const answer = await dashboard.ask({ method: endpoint?.method ?? 'GET', path: fillPath(path, sample), body: sample.body, cookie });
        expect([answer.statusCode, answer.json().code]).toEqual([status, code]);
      }
      expect(await readEverything(dashboard.pool)).toBe(before);
    });

    it('cannot be reached from another site', async () => {
      const requests = await operatorSamples(dashboard.pool, customer);
      const before = await readEverything(dashboard.pool);
      for (const { method, path } of operatorEndpoints.filter((each) => each.method !== 'GET')) {
        const sample = requests[`${method} ${path}`] ?? {};
        const headers = { origin: 'https://evil.example' };
        const ask = { method, path: fillPath(path, sample), body: sample.body ?? {}, cookie: operator.cookie, headers };
        const answer = await dashboard.ask(ask);
        expect([path, answer.statusCode, answer.json().code]).toEqual([path, 403, 'forbidden']);
      }
      expect(await readEverything(dashboard.pool)).toBe(before);
    });
  });

  describe('an operator', () => {
    it.each(endpoints.map(title))('is no customer: %s %s', async (method, path) => {
      const endpoint = endpoints.find((each) => each.method === method && each.path === path);
      const sample = samples[`${method} ${path}`]?.(customer) ?? {};
      const before = await readEverything(dashboard.pool);
      const answer = await dashboard.ask({
        method: endpoint?.method ?? 'GET',
        path: fillPath(path, sample),
        body: sample.body,
        cookie: operator.cookie,
      });
      expect([answer.statusCode, answer.json().code]).toEqual([403, 'customers_only']);
      expect(await readEverything(dashboard.pool)).toBe(before);
    });

    it('signs in with both, and cannot do without the second', async () => {
      expect((await session(operator.cookie)).json().email).toBe('first@tollgate.test');
      const off = await dashboard.ask({
        method: 'POST',
        path: '/api/auth/two-factor/disable',
        body: { password: PASSWORD },
        cookie: operator.cookie,
      });
      expect([off.statusCode, off.json().code]).toEqual([409, 'second_factor_needed']);
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
      await dashboard.signIn('later@example.com');
      expect(dashboard.mails.slice(mailsBefore).map(({ to }) => to)).toEqual(['later@example.com']);
    });

    it('uses the link once, and the link of an operator that was reset is worth nothing', async () => {
      const steps = await beginOperator(dashboard, 'lost@tollgate.test');
      const session0 = await steps.finish();
      const { rows } = await dashboard.pool.query<{ id: string }>("SELECT id FROM auth_user WHERE email = 'lost@tollgate.test'");
      const userId = rows[0]?.id ?? '';
      const reset = async (link: string, newPassword: string) =>
        dashboard.ask({
          method: 'POST',
          path: '/api/auth/reset-password',
          body: { token: new URL(link).searchParams.get('token'), newPassword },
        });
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

describe('suspension', () => {
  const EMAIL = 'asha@example.com';
  const reason = 'unpaid since August';
  const actor = 'cli';

  let dashboard: TestDashboard;
  let cookie: string;
  beforeEach(async () => {
    dashboard = await startDashboard();
    cookie = await dashboard.signIn(EMAIL);
  });
  afterEach(() => dashboard.close());

  const read = async (path: string) => (await dashboard.ask({ path, cookie })).json();

  describe('what the provider suspended', () => {
    it('is told to its customer with the reason: the account, a key, a subscription', async () => {
      const { customerId } = await read('/api/session');
      const { pool } = dashboard;
      const { id, subscriptions } = await createKey(pool, { customer: EMAIL, products: ['api-ip'], actor });
      const suspended = { reason, since: expect.stringMatching(/Z$/) };
      expect([await read('/api/session'), await read(`/api/keys/${id}`)].map((each) => each.suspended)).toEqual([undefined, undefined]);
      await suspendCustomer(pool, { customer: customerId, reason, actor });
      await suspendKey(pool, { id, reason, actor });
      await suspendSubscription(pool, { id: subscriptions[0]?.id ?? '', reason, actor });
      expect(await read('/api/session')).toMatchObject({ suspended });
      expect(await read(`/api/keys/${id}`)).toMatchObject({ state: 'active', suspended });
      expect((await read('/api/keys')).keys[0]).toMatchObject({ suspended });
      const { products } = await read('/api/products');
      expect(products.find((each: { id: string }) => each.id === 'api-ip').subscription).toMatchObject({ state: 'active', suspended });
      const { entries } = await read('/api/audit');
      expect(entries.slice(0, 3).map((each: { actor: string; action: string }) => [each.actor, each.action])).toEqual([
        ['operator', 'subscription.suspend'],
        ['operator', 'key.suspend'],
        ['operator', 'customer.suspend'],
      ]);
    });

    it('is not lifted by resuming, activating or rotating', async () => {
      const { pool } = dashboard;
      const { customerId } = await read('/api/session');
      const { id, subscriptions } = await createKey(pool, { customer: EMAIL, products: ['api-ip'], actor });
      const subscription = subscriptions[0]?.id ?? '';
      await suspendKey(pool, { id, reason, actor });
      await suspendSubscription(pool, { id: subscription, reason, actor });
      const act = async (path: string, about: string, body: object = {}) => {
        const { version } = await read(about);
        return dashboard.ask({ method: 'POST', path, cookie, body: { version, ...body } });
      };
      const key = `/api/keys/${id}`;
      expect((await act(`${key}/deactivate`, key)).statusCode).toBe(200);
      expect((await act(`${key}/activate`, key)).json()).toMatchObject({ state: 'active', suspended: { reason } });
      const rotated = await act(`${key}/rotate`, key, { submission: '6f1b7d9e-6b1c-4f5e-9d5a-0d6f3b0c2a11', overlapHours: 0 });
      expect([rotated.statusCode, rotated.json().code]).toEqual([409, 'key_not_usable']);
      const keys = await viewKeys(pool, customerId);
      expect(keys.map((each) => each.suspended?.reason)).toEqual([reason]);
      for (const word of ['pause', 'resume']) {
        const { products } = await read('/api/products');
        const { version } = products.find((each: { id: string }) => each.id === 'api-ip').subscription;
        const path = `/api/subscriptions/${subscription}/${word}`;
        const { statusCode } = await dashboard.ask({ method: 'POST', path, cookie, body: { version } });
        expect(statusCode).toBe(200);
      }
      const after = (await read('/api/products')).products.find((each: { id: string }) => each.id === 'api-ip').subscription;
      expect(after).toMatchObject({ state: 'active', suspended: { reason } });
    });
  });
});

describe('names of nodes', () => {
  let dashboard: TestDashboard;
  let own: Belongings;

  beforeAll(async () => {
    dashboard = await startDashboard();
    own = await makeBelongings(dashboard);
    await dashboard.pool.query(
      `INSERT INTO gateway_node (id, name, started_at, seen_at, current_until, feed_healthy)
     SELECT gen_random_uuid(), 'kong-' || n || '.rack7.internal', now(), now(), now(), true FROM generate_series(1, 3) n`,
    );
  });
  afterAll(() => dashboard.close());

  test('customers see which gateways act on a change, and never what their operator calls them', async () => {
    const headers = { authorization: `Bearer ${own.token.secret}` };
    const answers = [
      await dashboard.ask({ path: `/api/keys/${own.key.id}/propagation`, cookie: own.cookie }),
      await dashboard.ask({ path: `/api/v1/keys/${own.key.id}/propagation`, headers }),
    ];
    for (const answer of answers) {
      expect(answer.json().nodes.map(({ name }: { name: string }) => name)).toEqual(['Gateway 1', 'Gateway 2', 'Gateway 3']);
      expect(answer.body).not.toContain('rack7');
    }
  });
});
