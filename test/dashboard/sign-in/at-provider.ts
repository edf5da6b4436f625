import { type LightMyRequestResponse } from 'fastify';
import { type SignInProvider } from '../../../services/dashboard/sign-in/providers/provider-settings';
import { PASSWORD, startDashboard, type TestDashboard } from '../support/dashboard';
import { livingCookies as living } from '../support/operator';
import { CLIENT, type FakeProvider, type Said, SECRET, startFakeProvider } from './fake-provider';

interface Begun {
  readonly url: string;
  /** Of the browser that began. */
  readonly cookie: string;
}

interface Return {
  readonly code: string;
  readonly cookie?: string | undefined;
  readonly at?: string;
}

export const leadsTo = ({ statusCode, headers }: LightMyRequestResponse) => `${statusCode} ${headers.location}`;
/** Where a refused sign-in leads: back to signing in, with the reason, and no session. */
export const expectRefused = (response: LightMyRequestResponse, reason: string) =>
  expect([leadsTo(response), hasSession(response)]).toEqual([`303 /sign-in?provider=${reason}`, false]);
export const hasSession = (response: LightMyRequestResponse) => living(response).includes('session_token');

/** A dashboard at which people sign in by a provider that answers as a test has it: new for each test, or by `beforeAll` for tests that leave nothing. */
export function useProviders(before = beforeEach, after = afterEach) {
  let provider: FakeProvider;
  let dashboard: TestDashboard;
  let requests = 0;
  /** Another for each request: an address may sign in so many times in a minute. */
  const anAddress = () => `192.0.2.${requests++ % 256}`;
  const acme = (): SignInProvider => ({
    id: 'acme',
    name: 'Acme',
    kind: 'oidc',
    issuer: provider.issuer,
    clientId: CLIENT,
    clientSecret: SECRET,
  });
  before(async () => {
    provider = await startFakeProvider(CLIENT);
    dashboard = await startDashboard({
      providers: [acme(), { ...acme(), id: 'other', name: 'Other' }, { ...acme(), id: 'github', name: 'GitHub', kind: 'github' }],
    });
  });
  after(async () => {
    await Promise.all([dashboard.close(), provider.close()]);
  });

  const post = (path: string, body: unknown, cookie?: string) => dashboard.ask({ method: 'POST', path: `/api${path}`, body, cookie });
  const actions = async () => {
    const { rows } = await dashboard.pool.query<{ action: string; details: unknown }>(
      "SELECT action, details FROM audit_log WHERE action LIKE 'account.%' ORDER BY id",
    );
    return rows.map(({ action, details }) => [action, details]);
  };
  const accounts = async () => {
    const { rows } = await dashboard.pool.query<{ email: string; provider: string }>(
      'SELECT u.email, a.provider_id AS provider FROM auth_account a JOIN auth_user u ON u.id = a.user_id ORDER BY 1, 2',
    );
    return rows.map(({ email, provider: id }) => `${email} ${id}`);
  };

  async function begin(then?: string, at = 'acme'): Promise<Begun> {
    const body = { provider: at, ...(then !== undefined && { then }) };
    const begun = await dashboard.ask({ method: 'POST', path: '/api/auth/sign-in/social', body, from: anAddress() });
    expect(begun.statusCode).toBe(200);
    return { url: begun.json<{ url: string }>().url, cookie: living(begun) };
  }

  function comeBack({ url }: Begun, { code, cookie, at = 'acme' }: Return): Promise<LightMyRequestResponse> {
    const state = new URL(url).searchParams.get('state') ?? '';
    const query = new URLSearchParams({ code, state });
    return dashboard.ask({ path: `/api/auth/callback/${at}?${query.toString()}`, cookie, from: anAddress() });
  }

  async function signIn(said: Said = {}, then?: string): Promise<LightMyRequestResponse> {
    const begun = await begin(then);
    return comeBack(begun, { code: provider.consent(begun.url, said), cookie: begun.cookie });
  }

  async function connect(cookie: string, said: Said = {}): Promise<LightMyRequestResponse> {
    const begun = await post('/account/ways', { provider: 'acme', password: PASSWORD }, cookie);
    expect(begun.statusCode).toBe(200);
    const { url } = begun.json<{ url: string }>();
    return comeBack({ url, cookie: '' }, { code: provider.consent(url, said), cookie: living(begun) });
  }

  const session = (cookie: string) => dashboard.ask({ path: '/api/session', cookie });

  return { provider: () => provider, dashboard: () => dashboard, post, actions, accounts, begin, comeBack, signIn, connect, session };
}
