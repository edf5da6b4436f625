import { createHash, createHmac, generateKeyPairSync, type KeyObject, type KeyPairKeyObjectResult, sign } from 'node:crypto';
import { type LightMyRequestResponse } from 'fastify';
import { type SignInProvider } from '../../../services/dashboard/sign-in/providers/provider-settings';
import { PASSWORD, startDashboard, type TestDashboard } from '../support/dashboard';
import { livingCookies as living } from '../support/operator';
import { serve } from '../../support/http';

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

/** What a provider may say of a person, and get wrong. */
export interface Said {
  readonly claims?: Readonly<Record<string, unknown>>;
  /** Not the key that the provider publishes. */
  readonly isForged?: boolean;
  /** In place of a signature by a key. */
  readonly alg?: 'none' | 'HS256';
  /** With which it is signed by HS256; the secret that both know unless given. */
  readonly secret?: string;
  /** What the token says of its key. */
  readonly header?: Readonly<Record<string, unknown>>;
  /** It gives a token for its own interface alone. */
  readonly hasNoIdentity?: boolean;
}

/** What an endpoint does in place of an answer. */
export type Fault = 'down' | 'endless' | 'silent' | 'redirect';

interface Grant extends Said {
  readonly nonce: string | null;
  readonly challenge: string | null;
}

/** A provider of OpenID Connect, and a GitHub, that says what a test has it say; how a right one goes about it the tests with `oidc-provider` show. */
interface FakeProvider {
  /** Base URL. */
  readonly issuer: string;
  /** What it was asked for, as `POST /token`. */
  readonly asked: string[];
  /** By path; `*` of all. */
  readonly faults: Record<string, Fault>;
  /** Called once it is silent, its head sent. */
  onSilence: () => void;
  /** What it says of itself beside the usual. */
  readonly metadata: Record<string, unknown>;
  /** With which it signs, and what it publishes. */
  keys: { kid: string; signing: KeyPairKeyObjectResult; published: readonly object[] };
  /** What it says of the person on request. */
  userinfo: Record<string, unknown>;
  /** @param url where the dashboard sends the person. @returns the code with which the person comes back */
  consent(url: string, said: Said): string;
  close(): Promise<void>;
}

export const EMAIL = 'asha@example.com';
export const CLIENT = 'tollgate';
export const SECRET = 'the-client-secret';

const newKeys = (): KeyPairKeyObjectResult => generateKeyPairSync('rsa', { modulusLength: 2048 });
/** The provider's, and one that it does not publish: of all tests of a file, since a pair takes a third of a second to make. */
export const [own, other] = [newKeys(), newKeys()];

const base64 = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

export const published = (keys: KeyPairKeyObjectResult, kid: string): object => ({
  ...keys.publicKey.export({ format: 'jwk' }),
  ...{ kid, alg: 'RS256', use: 'sig' },
});

function signed(claims: unknown, { key, kid, said }: { key: KeyObject; kid: string; said: Said }): string {
  const { alg, secret = SECRET, header } = said;
  if (alg) {
    const text = `${base64({ alg, kid, ...header })}.${base64(claims)}`;
    return `${text}.${alg === 'none' ? '' : createHmac('sha256', secret).update(text).digest('base64url')}`;
  }
  const text = `${base64({ alg: 'RS256', kid, ...header })}.${base64(claims)}`;
  return `${text}.${sign('sha256', Buffer.from(text), key).toString('base64url')}`;
}

async function startFakeProvider(clientId: string): Promise<FakeProvider> {
  const grants = new Map<string, Grant>();
  const asked: string[] = [];
  let issuer = '';
  let granted: Said = {};

  function token(form: URLSearchParams, isOidc: boolean): unknown {
    const grant = grants.get(form.get('code') ?? '');
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    if (!grant || grant.challenge !== challenge) return { error: 'invalid_grant' };
    grants.delete(form.get('code') ?? '');
    granted = grant;
    const opaque = { access_token: 'opaque-access-token', token_type: 'bearer' };
    if (!isOidc || grant.hasNoIdentity) return opaque;
    const now = Math.floor(Date.now() / 1000);
    const usual = { iss: issuer, aud: clientId, iat: now, exp: now + 60, nonce: grant.nonce, sub: 'person-1' };
    const claims = { ...usual, email: 'asha@example.com', email_verified: true, ...grant.claims };
    const { signing, kid } = fake.keys;
    return { ...opaque, id_token: signed(claims, { key: (grant.isForged ? other : signing).privateKey, kid, said: grant }) };
  }

  const { url, close } = await serve((request, response) => {
    const path = new URL(request.url ?? '/', 'http://unused').pathname;
    asked.push(`${request.method} ${path}`);
    const answer = (body: unknown, status = 200): void => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    };
    const fault = fake.faults[path] ?? fake.faults['*'];
    if (fault === 'down') return answer({}, 503);
    if (fault === 'redirect') return void response.writeHead(307, { location: `${issuer}/internal` }).end();
    if (fault === 'endless') {
      const pour = (): void => void (!response.destroyed && response.write(' '.repeat(65_536), () => setImmediate(pour)));
      response.writeHead(200, { 'content-type': 'application/json' });
      return pour();
    }
    if (fault === 'silent') return void response.writeHead(200, { 'content-type': 'application/json' }).write('{', () => fake.onSilence());
    if (path === '/.well-known/openid-configuration') {
      const userinfo = { userinfo_endpoint: `${issuer}/userinfo` };
      const places = {
        authorization_endpoint: `${issuer}/auth`,
        token_endpoint: `${issuer}/token`,
        jwks_uri: `${issuer}/jwks`,
        ...userinfo,
      };
      return answer({ issuer, ...places, id_token_signing_alg_values_supported: ['RS256'], ...fake.metadata });
    }
    if (path === '/jwks') return answer({ keys: fake.keys.published });
    if (path === '/userinfo') return answer(fake.userinfo);
    const person = { email: 'asha@example.com', email_verified: true, ...granted.claims };
    if (path === '/api/v3/user') return answer({ id: 1_234, email: 'shown@example.com' });
    if (path === '/api/v3/user/emails') {
      const others = { email: 'other@example.com', primary: false, verified: true };
      return answer([others, { email: person.email, primary: true, verified: person.email_verified }]);
    }
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      const result = token(new URLSearchParams(body), path === '/token');
      answer(result, typeof result === 'object' && result !== null && 'error' in result ? 400 : 200);
    });
  });
  const fake: FakeProvider = {
    get issuer() {
      return issuer;
    },
    asked,
    faults: {},
    onSilence: () => undefined,
    metadata: {},
    keys: { kid: 'one', signing: own, published: [published(own, 'one')] },
    userinfo: { sub: 'person-1', email: EMAIL, email_verified: true },
    consent(url, said) {
      const { searchParams } = new URL(url);
      const code = `code-${grants.size}-${searchParams.get('state')}`;
      grants.set(code, { ...said, nonce: searchParams.get('nonce'), challenge: searchParams.get('code_challenge') });
      return code;
    },
    close,
  };
  issuer = url;
  return fake;
}
