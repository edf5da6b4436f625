import { createHash } from 'node:crypto';
import { type Configuration } from 'openid-client';
import type * as Library from 'openid-client';
import { z } from 'zod';
import { boundedFetch } from './bounded-fetch';
import { findGithubPerson, githubEndpoints } from './github';
import { type Identity } from './identity';
import { type SignInProvider } from './provider-settings';

/** Loaded when a provider is first asked. */
export type Client = typeof Library;

/** How a provider is asked: as it describes itself. @throws whatever the network or the library throws */
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
    // The signature of what says who somebody is, although it comes over TLS.
    execute: [...insecure, client.enableNonRepudiationChecks],
  });
  // What the standard has clients use unless the provider does not take it.
  const methods = found.serverMetadata().token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
  if (!methods.includes('client_secret_basic')) return found;
  const config = new client.Configuration(found.serverMetadata(), clientId, clientSecret, client.ClientSecretBasic(clientSecret));
  config[client.customFetch] = boundedFetch;
  for (const allow of [...insecure, client.enableNonRepudiationChecks]) allow(config);
  return config;
}

/** Of the sign-in that the verifier was made for, at this provider: what it signs for another counts for nothing. */
export function nonceOf({ id }: SignInProvider, codeVerifier: string): string {
  return createHash('sha256').update(`nonce\0${id}\0${codeVerifier}`).digest('base64url');
}

interface Returned {
  readonly provider: SignInProvider;
  readonly code: string;
  readonly codeVerifier: string;
  readonly redirectURI: string;
}

/** Trades the code in, and checks what comes for it: issuer, audience, signature, time, nonce. */
export async function identify(
  client: Client,
  config: Configuration,
  { provider, code, codeVerifier, redirectURI }: Returned,
): Promise<Identity> {
  const at = new URL(redirectURI);
  at.searchParams.set('code', code);
  // better-auth has compared the one of the answer with the provider's.
  const { issuer, authorization_response_iss_parameter_supported: saysIssuer } = config.serverMetadata();
  if (saysIssuer) at.searchParams.set('iss', issuer);
  const isOidc = provider.kind === 'oidc';
  const tokens = await client.authorizationCodeGrant(config, at, {
    pkceCodeVerifier: codeVerifier,
    // better-auth has looked at it, and at the cookie that goes with it.
    expectedState: client.skipStateCheck,
    ...(isOidc && { expectedNonce: nonceOf(provider, codeVerifier) }),
  });
  if (!isOidc) return findGithubPerson(provider.issuer, tokens.access_token);
  const claims = tokens.claims();
  if (!claims) throw new Error('the provider sent no ID token');
  // Many send the address only to who asks for it.
  const said = claims['email'] === undefined ? await client.fetchUserInfo(config, tokens.access_token, claims.sub) : claims;
  const email = z.string().safeParse(said['email']).data;
  return { subject: claims.sub, email, isEmailVerified: said['email_verified'] === true };
}
