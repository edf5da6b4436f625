import { removeOperator, resetOperator } from '../../../services/selling/operators/change-operators';
import { makeSetUpLink } from '../../../services/dashboard/sign-in/set-up-link';
import { endpointsFor } from '../../../services/dashboard/contract/endpoints';
import { passkeyEndpoints } from '../../../services/dashboard/contract/sign-in';
import { ORIGIN, PASSWORD, useDashboard, verdict } from '../support/dashboard';
import { askEndpoint, type Belongings, makeBelongings, digestEverything, samples } from '../support/endpoint-samples';
import { beginOperator, makeOperator, type OperatorSession, type OperatorSteps } from '../support/operator';
import { operatorSamples } from '../support/operator-samples';

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

    it('tell version, state and Redis, each with its beginning', async () => {
      await dashboard.pool.query(
        `INSERT INTO gateway_node (id, name, feed_healthy, version, feed_since, redis_answers, redis_since)
         VALUES (gen_random_uuid(), 'telling', true, '9.9.9', '2027-01-01Z', false, '2027-01-02Z')`,
      );
      expect(await nodeCalled('telling')).toMatchObject({
        version: '9.9.9',
        state: 'live',
        stateSince: '2027-01-01T00:00:00.000Z',
        redisAnswers: false,
        redisSince: '2027-01-02T00:00:00.000Z',
      });
    });

    it('of a version that tells nothing have nulls, and what is gone is asked for nothing', async () => {
      await dashboard.pool.query("INSERT INTO gateway_node (id, name, feed_healthy) VALUES (gen_random_uuid(), 'silent', true)");
      const untold = { version: null, stateSince: null, redisAnswers: null, redisSince: null };
      expect(await nodeCalled('silent')).toMatchObject({ state: 'live', ...untold });
      await dashboard.pool.query("UPDATE gateway_node SET seen_at = now() - interval '11 s' WHERE name = 'telling'");
      const gone = await nodeCalled('telling');
      expect(gone).toMatchObject({ state: 'gone', version: '9.9.9', redisAnswers: null, redisSince: null });
      expect(gone['stateSince']).toBe(gone['seenAt']);
    });
  });

  describe('an endpoint for operators', () => {
    it.each(operatorEndpoints)('tells and does nothing for anybody else: $name', async (endpoint) => {
      const sample = (await operatorSamples(dashboard.pool, customer))[endpoint.name];
      const half = await operator.signInHalf();
      const before = await digestEverything(dashboard.pool);
      for (const [cookie, refusal] of [
        [undefined, '401 not_signed_in'],
        ['tollgate.session_token=forged.c2lnbmF0dXJl', '401 not_signed_in'],
        [half, '401 not_signed_in'],
        [customer.cookie, '403 operators_only'],
        [unready.withoutFactor, '403 second_factor_missing'],
      ])
        expect(verdict(await askEndpoint(dashboard, endpoint, { sample, cookie }))).toBe(refusal);
      expect(await digestEverything(dashboard.pool)).toEqual(before);
    });

    it('cannot be reached from another site', async () => {
      const requests = await operatorSamples(dashboard.pool, customer);
      const before = await digestEverything(dashboard.pool);
      for (const endpoint of operatorEndpoints.filter(({ method }) => method !== 'GET')) {
        const by = { cookie: operator.cookie, headers: { origin: 'https://evil.example' } };
        const answer = await askEndpoint(dashboard, endpoint, { sample: { body: {}, ...requests[endpoint.name] }, ...by });
        expect([endpoint.name, verdict(answer)]).toEqual([endpoint.name, '403 forbidden']);
      }
      expect(await digestEverything(dashboard.pool)).toEqual(before);
    });
  });

  describe('an operator', () => {
    it.each(customersEndpoints)('is no customer: $name', async (endpoint) => {
      const before = await digestEverything(dashboard.pool);
      const sample = { body: {}, ...samples[endpoint.name]?.(customer) };
      expect(verdict(await askEndpoint(dashboard, endpoint, { sample, cookie: operator.cookie }))).toBe('403 customers_only');
      expect(await digestEverything(dashboard.pool)).toEqual(before);
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
