import { type ServerMetadata } from 'openid-client';
import { z } from 'zod';
import { boundedFetch } from './bounded-fetch';
import { type Identity } from './identity';

/** Where GitHub, or a server of GitHub Enterprise, signs people in. @param base of its pages */
export function githubEndpoints(base: string): ServerMetadata {
  return {
    issuer: base,
    authorization_endpoint: `${base}/login/oauth/authorize`,
    token_endpoint: `${base}/login/oauth/access_token`,
  };
}

/** GitHub's API is at a name of its own; that of a server of GitHub Enterprise below its pages. */
const apiOf = (base: string): string => (base === 'https://github.com' ? 'https://api.github.com' : `${base}/api/v3`);

const account = z.object({ id: z.number().int() });
const addresses = z.array(z.object({ email: z.string(), primary: z.boolean(), verified: z.boolean() }));

async function ask(url: string, token: string): Promise<unknown> {
  const headers = { Authorization: `Bearer ${token}`, Accept: 'application/vnd.github+json', 'User-Agent': 'Tollgate' };
  const response = await boundedFetch(url, { method: 'GET', headers, body: undefined, redirect: 'manual' });
  if (!response.ok) throw new Error(`GitHub answered ${response.status}`);
  return response.json();
}

/** Whose token it is. Accounts have several addresses, of which the primary one counts. */
export async function findGithubPerson(base: string, token: string): Promise<Identity> {
  const api = apiOf(base);
  const [person, emails] = await Promise.all([ask(`${api}/user`, token), ask(`${api}/user/emails?per_page=100`, token)]);
  const primary = addresses.parse(emails).find((each) => each.primary);
  return { subject: String(account.parse(person).id), email: primary?.email, isEmailVerified: primary?.verified === true };
}
