import { createHash } from 'node:crypto';
import type { Configuration, CustomFetch, ServerMetadata } from 'openid-client';
import type * as Library from 'openid-client';
import { z } from 'zod';
import { isSafeUrl, type SignInProvider } from './provider-settings';

/** Milliseconds. Somebody waits for the page. */
const TIMEOUT_MS = 5_000;
/** Many times the size of a provider's description or keys. */
const MAX_BYTES = 1_048_576;

/** Statuses of responses without a body, with which a `Response` cannot be made. */
const WITHOUT_BODY = new Set([204, 205, 304]);

async function readBounded(response: Response): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  const body: ReadableStream<Uint8Array> | null = response.body;
  const reader = body?.getReader();
  for (let part = await reader?.read(); part?.value; part = await reader?.read()) {
    const bytes = part.value;
    length += bytes.length;
    if (length > MAX_BYTES) {
      await reader?.cancel();
      throw new Error('the answer is too large');
    }
    chunks.push(bytes);
  }
  return new Uint8Array(Buffer.concat(chunks));
}

/** `fetch` of a provider: within 5 s and 1 MiB, over https, without redirects. */
const boundedFetch: CustomFetch = async (url, { body, method, headers: sent }) => {
  if (!isSafeUrl(url)) throw new Error('the provider names an address without https');
  const response = await fetch(url, {
    method,
    headers: sent,
    redirect: 'manual',
    signal: AbortSignal.timeout(TIMEOUT_MS),
    ...(body !== undefined && { body }),
  });
  const { status, headers } = response;
  const bytes = await readBounded(response);
  return new Response(WITHOUT_BODY.has(status) ? null : bytes, { status, headers });
};

/** The person whom a provider has identified. What a provider signs may still be anything, so each part has a form. */
export const identity = z.object({
  /** The provider's own id, never given to another person. OpenID Connect Core 1.0, section 2: 255 ASCII characters at most. */
  subject: z.string().regex(/^[ -~]{1,255}$/),
  /** An address in another form counts as none: letters that look alike, or lists, are never another person's address. */
  email: z.email().max(254).optional().catch(undefined),
  isEmailVerified: z.boolean(),
});
type Identity = z.output<typeof identity>;

/** Loaded when a provider is first used. */
export type Client = typeof Library;

/**
 * Reads how a provider describes itself.
 * @throws whatever the network or the library throws
 */
export async function discover(client: Client, provider: SignInProvider): Promise<Configuration> {
  const { issuer, clientId, clientSecret, kind } = provider;
  const insecure = issuer.startsWith('http:') ? [client.allowInsecureRequests] : [];
  if (kind === 'github') {
    const config = new client.Configuration(githubEndpoints(issuer), clientId, clientSecret);
    config[client.customFetch] = boundedFetch;
    for (const allow of insecure) allow(config);
    return config;
  }
  const found = await client.discovery(new URL(issuer), clientId, clientSecret, undefined, {
    [client.customFetch]: boundedFetch,
    // Checks the signature of the identity, although it comes over TLS.
    execute: [...insecure, client.enableNonRepudiationChecks],
  });
  // The standard's default for clients, unless the provider does not accept it.
  const methods = found.serverMetadata().token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
  if (!methods.includes('client_secret_basic')) return found;
  const config = new client.Configuration(found.serverMetadata(), clientId, clientSecret, client.ClientSecretBasic(clientSecret));
  config[client.customFetch] = boundedFetch;
  for (const allow of [...insecure, client.enableNonRepudiationChecks]) allow(config);
  return config;
}

/** The nonce of the sign-in that the verifier was made for, at this provider. A token signed for another sign-in is refused. */
export function nonceOf({ id }: SignInProvider, codeVerifier: string): string {
  return createHash('sha256').update(`nonce\0${id}\0${codeVerifier}`).digest('base64url');
}

interface Returned {
  readonly provider: SignInProvider;
  readonly code: string;
  readonly codeVerifier: string;
  readonly redirectURI: string;
}

/** Exchanges the code, and checks the tokens: issuer, audience, signature, time, nonce. */
export async function identify(
  client: Client,
  config: Configuration,
  { provider, code, codeVerifier, redirectURI }: Returned,
): Promise<Identity> {
  const at = new URL(redirectURI);
  at.searchParams.set('code', code);
  // better-auth has compared the response's issuer with the provider's.
  const { issuer, authorization_response_iss_parameter_supported: saysIssuer } = config.serverMetadata();
  if (saysIssuer) at.searchParams.set('iss', issuer);
  const isOidc = provider.kind === 'oidc';
  const tokens = await client.authorizationCodeGrant(config, at, {
    pkceCodeVerifier: codeVerifier,
    // better-auth has checked it, together with its cookie.
    expectedState: client.skipStateCheck,
    ...(isOidc && { expectedNonce: nonceOf(provider, codeVerifier) }),
  });
  if (!isOidc) return findGithubPerson(provider.issuer, tokens.access_token);
  const claims = tokens.claims();
  if (!claims) throw new Error('the provider sent no ID token');
  // Many send the address only on request.
  const said = claims['email'] === undefined ? await client.fetchUserInfo(config, tokens.access_token, claims.sub) : claims;
  return identity.parse({ subject: claims.sub, email: said['email'], isEmailVerified: said['email_verified'] === true });
}

/**
 * The endpoints of GitHub, or of a server of GitHub Enterprise.
 * @param base of its pages
 */
function githubEndpoints(base: string): ServerMetadata {
  return {
    issuer: base,
    authorization_endpoint: `${base}/login/oauth/authorize`,
    token_endpoint: `${base}/login/oauth/access_token`,
  };
}

/** GitHub's API has a name of its own. On a server of GitHub Enterprise it lies below the pages. */
const apiOf = (base: string): string => (base === 'https://github.com' ? 'https://api.github.com' : `${base}/api/v3`);

const account = z.object({ id: z.number().int() });
const addresses = z.array(z.object({ email: z.string(), primary: z.boolean(), verified: z.boolean() }));

async function ask(url: string, token: string): Promise<unknown> {
  const headers = { Authorization: `Bearer ${token}`, Accept: 'application/vnd.github+json', 'User-Agent': 'Tollgate' };
  const response = await boundedFetch(url, { method: 'GET', headers, body: undefined, redirect: 'manual' });
  if (!response.ok) throw new Error(`GitHub answered ${response.status}`);
  return response.json();
}

/** The person of a token. Accounts have several addresses; the primary one counts. */
async function findGithubPerson(base: string, token: string): Promise<Identity> {
  const api = apiOf(base);
  const [person, emails] = await Promise.all([ask(`${api}/user`, token), ask(`${api}/user/emails?per_page=100`, token)]);
  const primary = addresses.parse(emails).find((each) => each.primary);
  return identity.parse({ subject: String(account.parse(person).id), email: primary?.email, isEmailVerified: primary?.verified === true });
}
