import { createHash, generateKeyPairSync, type KeyObject, type KeyPairKeyObjectResult, sign } from 'node:crypto';
import { createServer } from 'node:http';
import { type AddressInfo } from 'node:net';

/** What a provider may say of a person, and get wrong. */
export interface Said {
  readonly claims?: Readonly<Record<string, unknown>>;
  /** Not the key that the provider publishes. */
  readonly isForged?: boolean;
}

interface Grant extends Said {
  readonly nonce: string | null;
  readonly challenge: string | null;
}

/** A provider of OpenID Connect, and a GitHub, that says what a test has it say; how a right one goes about it the tests with `oidc-provider` show. */
export interface FakeProvider {
  /** Base URL. */
  readonly issuer: string;
  /** What it was asked for, as `POST /token`. */
  readonly asked: string[];
  /** It answers 503 to everything. */
  isDown: boolean;
  /** Its answers never end. */
  isEndless: boolean;
  /** @param url where the dashboard sends the person. @returns the code with which the person comes back */
  consent(url: string, said: Said): string;
  close(): Promise<void>;
}

const newKeys = (): KeyPairKeyObjectResult => generateKeyPairSync('rsa', { modulusLength: 2048 });
/** The provider's, and one that it does not publish: of all tests of a file, since a pair takes a third of a second to make. */
const [own, other] = [newKeys(), newKeys()];

const base64 = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

function signed(claims: unknown, key: KeyObject): string {
  const text = `${base64({ alg: 'RS256', kid: 'one' })}.${base64(claims)}`;
  return `${text}.${sign('sha256', Buffer.from(text), key).toString('base64url')}`;
}

export async function startFakeProvider(clientId: string): Promise<FakeProvider> {
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
    if (!isOidc) return opaque;
    const now = Math.floor(Date.now() / 1000);
    const usual = { iss: issuer, aud: clientId, iat: now, exp: now + 60, nonce: grant.nonce, sub: 'person-1' };
    const claims = { ...usual, email: 'asha@example.com', email_verified: true, ...grant.claims };
    return { ...opaque, id_token: signed(claims, grant.isForged ? other.privateKey : own.privateKey) };
  }

  const server = createServer((request, response) => {
    const path = new URL(request.url ?? '/', 'http://unused').pathname;
    asked.push(`${request.method} ${path}`);
    const answer = (body: unknown, status = 200): void => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    };
    if (fake.isDown) return answer({}, 503);
    if (fake.isEndless) {
      const pour = (): void => void (response.writable && response.write(' '.repeat(65_536), () => setImmediate(pour)));
      response.writeHead(200, { 'content-type': 'application/json' });
      return pour();
    }
    if (path === '/.well-known/openid-configuration') {
      const places = { authorization_endpoint: `${issuer}/auth`, token_endpoint: `${issuer}/token`, jwks_uri: `${issuer}/jwks` };
      return answer({ issuer, ...places, id_token_signing_alg_values_supported: ['RS256'] });
    }
    if (path === '/jwks') return answer({ keys: [{ ...own.publicKey.export({ format: 'jwk' }), kid: 'one', alg: 'RS256', use: 'sig' }] });
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
    isDown: false,
    isEndless: false,
    consent(url, said) {
      const { searchParams } = new URL(url);
      const code = `code-${grants.size}-${searchParams.get('state')}`;
      grants.set(code, { ...said, nonce: searchParams.get('nonce'), challenge: searchParams.get('code_challenge') });
      return code;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return fake;
}
