import { randomUUID } from 'node:crypto';
import { endpointsFor } from '../../../services/dashboard/contract/endpoints';
import { managementOperations } from '../../../services/dashboard/customer/management/management-document';
import { setCustomerLimits } from '../../../services/selling/customers/customer-limits';
import { passkeyEndpoints } from '../../../services/dashboard/contract/sign-in';
import { ORIGIN, PASSWORD, startDashboard, tokenOf, useDashboard, verdict } from '../support/dashboard';
import {
  askEndpoint,
  type Belongings,
  makeBelongings,
  isPrinted,
  keepsEverything,
  type Sample,
  samples,
  stillPayments,
} from '../support/endpoint-samples';
import { isChange } from '../../../services/dashboard/http/bind-endpoint';
import { suspendCustomer } from '../../../services/selling/suspensions/suspend';

const endpoints = endpointsFor('members');
const NOBODY = '00000000-0000-4000-8000-000000000000';

describe('customers', () => {
  const dashboard = useDashboard({ payments: stillPayments });
  let victim: Belongings;
  let stranger: Belongings;

  beforeAll(async () => {
    victim = await makeBelongings(dashboard, 'victim@example.com');
    stranger = await makeBelongings(dashboard, 'stranger@example.com');
    // Each is asked for twice, by session and by token, within a minute.
    await setCustomerLimits(dashboard.pool, { customer: 'stranger@example.com', limits: { writesPerMinute: 1_000 }, actor: 'test' });
    // When a token was last used is noted once a while.
    await dashboard.ask({ path: '/api/v1/keys', headers: { authorization: `Bearer ${stranger.token.secret}` } });
  });

  const named = endpoints.filter(({ path }) => path.includes(':'));
  const forPrograms = new Set<string>(managementOperations.map(({ name }) => name));
  const proofOf = ({ cookie, token }: Belongings, by: string) => (by === 'token' ? { token: token.secret } : { cookie });
  const sampleOf = (name: string, own: Belongings): Sample => {
    const sample = samples[name];
    if (!sample) throw new Error(`${name} has no sample in endpoint-samples.ts`);
    return sample(own);
  };

  describe('another customer’s things', () => {
    it.each(['session', 'token'])('read as unknown by %s and stay as they are', async (by) => {
      // Nothing but the id that was asked for tells the two apart.
      const plain = (body: string) => body.replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'ID').replace(/"request_id":"\w+"/, '');
      await keepsEverything(dashboard.pool, async () => {
        for (const endpoint of by === 'token' ? named.filter(({ name }) => forPrograms.has(name)) : named) {
          const sample = sampleOf(endpoint.name, victim);
          const ask = (params: Readonly<Record<string, string>>) =>
            askEndpoint(dashboard, endpoint, { sample: { ...sample, params }, ...proofOf(stranger, by) });
          const theirs = await ask(sample.params ?? {});
          const nobodys = await ask(Object.fromEntries(Object.keys(sample.params ?? {}).map((name) => [name, NOBODY])));
          expect([endpoint.name, theirs.statusCode, nobodys.statusCode]).toEqual([endpoint.name, 404, 404]);
          expect(plain(theirs.body)).toBe(plain(nobodys.body));
        }
      });
    });

    // programs.stores.test.ts does the same by token.
    it.each(named)('are reached by their owner with the same request: $name', async (endpoint) => {
      // What is read stays as it is for the next.
      const owner = endpoint.method === 'GET' ? victim : await makeBelongings(dashboard);
      const answer = await askEndpoint(dashboard, endpoint, { sample: sampleOf(endpoint.name, owner), cookie: owner.cookie });
      expect([answer.statusCode, answer.body]).toEqual([(endpoint.answer ?? endpoint.file) ? 200 : 204, expect.any(String)]);
      if (endpoint.answer) expect(endpoint.answer.safeParse(answer.json()).error).toBeUndefined();
    });

    it.each(['session', 'token'])('are in none of the lists by %s', async (by) => {
      const lists = endpoints.filter(({ name, path }) => name.startsWith('GET ') && !path.includes(':'));
      for (const endpoint of by === 'token' ? lists.filter(({ name }) => forPrograms.has(name)) : lists) {
        const { path, answer } = endpoint;
        const sample = { query: 'from=2026-01-01&to=2026-01-31' };
        const listed = await askEndpoint(dashboard, endpoint, { sample, ...proofOf(stranger, by) });
        if (answer && listed.statusCode === 200) expect([path, answer.safeParse(listed.json()).error]).toEqual([path, undefined]);
        for (const secret of [
          victim.key.id,
          victim.subscription.id,
          victim.webhook.id,
          victim.requestId,
          victim.planRequestId,
          victim.invoiceId,
          victim.checkoutId,
          victim.paidPlanId,
          'victim@example.com',
        ])
          expect(listed.body).not.toContain(secret);
      }
    });
  });

  describe('without a session', () => {
    // This dashboard's address is none that browsers keep passkeys for.
    const closed = (['members', 'persons', 'accounts', 'operators'] as const)
      .flatMap((audience) => [...endpointsFor(audience)])
      .filter(({ name }) => !(name in passkeyEndpoints));

    it('nothing is told or done', async () => {
      await keepsEverything(dashboard.pool, async () => {
        for (const endpoint of closed)
          for (const cookie of [undefined, 'tollgate.session_token=forged.c2lnbmF0dXJl', 'tollgate.session_token=']) {
            const answer = await askEndpoint(dashboard, endpoint, { sample: samples[endpoint.name]?.(victim), cookie });
            expect([endpoint.name, verdict(answer)]).toEqual([endpoint.name, '401 not_signed_in']);
          }
      });
    });
  });

  describe('a request from another site', () => {
    const origins = ['https://evil.example', 'null', `${ORIGIN}.evil.example`, 'http://dashboard.test:81', 'https://dashboard.test', ''];
    const routes = [
      ...endpoints.filter(({ method }) => method !== 'GET'),
      ...endpointsFor('everybody').filter(({ method, path }) => method === 'POST' && path.startsWith('/auth/')),
    ];

    it('changes nothing, whatever cookie it brings', async () => {
      await keepsEverything(dashboard.pool, async () => {
        for (const endpoint of routes) {
          const sample = { body: {}, ...samples[endpoint.name]?.(victim) };
          // Each way of being another site at one route, one way at each.
          for (const origin of endpoint === routes[0] ? origins : origins.slice(0, 1)) {
            const headers = { origin, referer: `${ORIGIN}/keys` };
            const answer = await askEndpoint(dashboard, endpoint, { sample, cookie: victim.cookie, headers });
            expect([endpoint.name, origin, verdict(answer)]).toEqual([endpoint.name, origin, '403 forbidden']);
          }
        }
      });
    });

    it.each(['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x'])(
      'cannot be a form: %s',
      async (type) => {
        await keepsEverything(dashboard.pool, async () => {
          for (const path of ['/api/keys', '/api/auth/sign-in/email', `/api/keys/${victim.key.id}/revoke`]) {
            const by = { cookie: victim.cookie, headers: { 'content-type': type } };
            const answer = await dashboard.ask({ method: 'POST', path, body: { version: victim.key.version }, ...by });
            expect(verdict(answer)).toBe('415 media_type_unsupported');
          }
        });
      },
    );

    it('gets no permission to read answers', async () => {
      const answer = await dashboard.ask({ path: '/api/keys', cookie: victim.cookie, headers: { origin: 'https://evil.example' } });
      expect(Object.keys(answer.headers).filter((name) => name.startsWith('access-control-'))).toEqual([]);
      expect(answer.headers['cross-origin-resource-policy']).toBe('same-origin');
    });
  });

  describe('a suspended customer', () => {
    const changes = endpointsFor('members').filter((each) => isChange(each.name, each));

    it('the session of a suspended customer buys nothing and makes nothing, as its tokens do not', async () => {
      const own = await makeBelongings(dashboard, 'unpaid@example.com');
      await suspendCustomer(dashboard.pool, { customer: 'unpaid@example.com', reason: 'unpaid since August', actor: 'cli' });
      await keepsEverything(dashboard.pool, async () => {
        for (const endpoint of changes.filter(({ whileSuspended }) => !whileSuspended)) {
          const answer = await askEndpoint(dashboard, endpoint, { sample: samples[endpoint.name]?.(own), cookie: own.cookie });
          expect([endpoint.name, verdict(answer)]).toEqual([endpoint.name, '403 customer_suspended']);
          expect(answer.json().detail).toBe('The seller suspended this account: unpaid since August.');
        }
      });
    });

    it('it reads, revokes, cancels and leaves', async () => {
      const own = await makeBelongings(dashboard, 'late@example.com');
      await suspendCustomer(dashboard.pool, { customer: 'late@example.com', reason: 'unpaid', actor: 'cli' });
      const open = endpointsFor('members').filter((each) => (!isChange(each.name, each) || each.whileSuspended) && !isPrinted(each));
      for (const endpoint of open) {
        const answer = await askEndpoint(dashboard, endpoint, { sample: samples[endpoint.name]?.(own), cookie: own.cookie });
        expect([endpoint.name, verdict(answer)]).not.toEqual([endpoint.name, '403 customer_suspended']);
      }
      expect(changes.filter(({ whileSuspended }) => whileSuspended).map(({ name }) => name)).toEqual([
        'POST /keys/revoke',
        'POST /keys/:id/deactivate',
        'POST /keys/:id/revoke',
        'POST /subscriptions/:id/cancel',
        'POST /plan-requests/:id/withdraw',
        'PUT /billing/details',
        'POST /paid-plans/:id/cancel',
        'POST /billing/portal',
        'POST /alerts/read',
        'DELETE /webhooks/:id',
        'POST /tokens/:id/revoke',
        'POST /team/invitations/:id/revoke',
        'DELETE /team/members/:userId',
        'POST /team/leave',
      ]);
    });
  });
});

describe('secrets', () => {
  const dashboard = useDashboard({ hasOutbox: true });
  let cookie: string;
  /** Every answer after the one that shows a secret. */
  const bodies: string[] = [];

  beforeAll(async () => {
    cookie = await dashboard.signUp('asha@example.com');
  });

  async function ask(method: 'GET' | 'POST' | 'PATCH', path: string, body?: unknown) {
    const answer = await dashboard.ask({ method, path, body, cookie });
    bodies.push(answer.body);
    return answer;
  }

  it('of keys are in exactly one answer, in no log, and nowhere in the database', async () => {
    const made = await ask('POST', '/api/keys', { submission: randomUUID(), mode: 'live', products: ['api-ip'], name: 'n' });
    const { secret, key } = made.json();
    const rotated = await ask('POST', `/api/keys/${key.id}/rotate`, { version: key.version, submission: randomUUID(), overlapHours: 1 });
    const next = rotated.json();
    for (const path of ['/api/keys', `/api/keys/${key.id}`, `/api/keys/${next.key.id}`, '/api/products', '/api/session'])
      await ask('GET', path);
    await ask('PATCH', `/api/keys/${next.key.id}`, { version: next.key.version, name: secret });
    for (const each of [secret, next.secret]) {
      // A person may name a key by the secret of another: it is theirs to give away.
      expect(bodies.filter((body) => JSON.stringify({ ...JSON.parse(body), name: '' }).includes(each))).toHaveLength(1);
      expect(dashboard.log()).not.toContain(each);
    }
    await dashboard.pool.query('UPDATE credential SET name = NULL');
    const { rows } = await dashboard.pool.query<{ tables: string }>(
      `SELECT string_agg(query_to_xml(format('SELECT * FROM %I', relname), true, false, '')::text, '') AS tables
       FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND relname <> 'audit_log'`,
    );
    expect(rows[0]?.tables).not.toContain(next.secret);
  });

  it('of people and mail are in no log: neither passwords, cookies, addresses, nor the links', async () => {
    const wrong = 'a password that is wrong';
    await dashboard.ask({ method: 'POST', path: '/api/auth/sign-in/email', body: { email: 'asha@example.com', password: wrong } });
    await dashboard.ask({ method: 'POST', path: '/api/auth/request-password-reset', body: { email: 'asha@example.com' } });
    for (const token of ['very-secret-token', tokenOf(dashboard.mails[0])]) {
      await dashboard.ask({ path: `/verify?token=${token}` });
      await dashboard.ask({ path: `/api/auth/verify-email?token=${token}` });
      await dashboard.ask({ method: 'POST', path: '/api/auth/verify-email', body: { token, password: wrong } });
    }
    await dashboard.ask({ path: '/reset-password?token=very-secret-token' });
    const tokens = dashboard.mails.flatMap(({ text }) => [...text.matchAll(/token=([\w.-]+)/g)].map(([, token = '']) => token));
    expect(tokens.length).toBeGreaterThan(0);
    const secrets = [PASSWORD, wrong, 'very-secret-token', 'asha@example.com', ...tokens, cookie.split('=')[1] ?? ''];
    for (const secret of secrets) expect(dashboard.log()).not.toContain(secret);
    expect(dashboard.log()).toContain('a mail lies in the outbox');
    expect(dashboard.log()).toContain('http://dashboard.test/outbox');
  });

  it('in the outbox are shown in the embedded run, and there is no such page where mail is sent', async () => {
    const { mails } = (await dashboard.ask({ path: '/api/outbox' })).json();
    expect(mails[0]).toEqual({
      id: expect.any(String),
      at: expect.any(String),
      to: 'asha@example.com',
      subject: expect.any(String),
      text: expect.stringContaining('http'),
    });
    for (const host of ['dashboard.test', 'localhost:8080', '127.0.0.1:8080', '[::1]:8080'])
      expect((await dashboard.ask({ path: '/api/outbox', headers: { host } })).statusCode).toBe(200);
    const sending = await startDashboard();
    try {
      expect((await sending.ask({ path: '/api/outbox' })).statusCode).toBe(404);
      expect((await sending.ask({ path: '/api/installation' })).json()).toEqual({
        hasOutbox: false,
        gatewayUrl: 'http://gateway.test',
        providers: [],
        hasPasskeys: false,
      });
    } finally {
      await sending.close();
    }
  });

  it('in the outbox are not for a page of another site whose name leads to this machine', async () => {
    for (const host of ['evil.example', 'evil.example:8080', 'localhost.evil.example']) {
      const answer = await dashboard.ask({ path: '/api/outbox', headers: { host } });
      expect([answer.statusCode, answer.json().mails]).toEqual([403, undefined]);
    }
  });
});
