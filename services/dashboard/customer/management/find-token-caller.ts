import { type FastifyRequest } from 'fastify';
import { hashApiKey, isPlausibleAdminToken } from '../../../../plugins/core/access/api-key';
import { bearerToken } from '../../../../plugins/core/access/credential-location';
import { findToken, noteTokenUse, type TokenGrant } from '../../../selling/tokens/find-token';
import { type DashboardDeps } from '../../http/dashboard-deps';
import { Refusal } from '../../http/refusal';
import { takeRequest } from '../../http/request-limit';
import { refuseSuspended } from '../../http/refuse-suspended';
import { type ManagementOperation } from './management-document';
import { type Caller } from '../../http/callers';

/** Ten a second, all tokens of a customer together. A program that reads more often reads the same again. */
const MAX_REQUESTS = 600;

/** The challenge for a program without a usable token (RFC 6750). */
const CHALLENGE = { headers: { 'WWW-Authenticate': 'Bearer realm="management"' } };

async function findGrant(request: FastifyRequest, { db }: DashboardDeps): Promise<TokenGrant> {
  const secret = bearerToken(request.headers.authorization ?? '');
  if (secret === undefined) throw new Refusal('token_missing', CHALLENGE);
  const grant = isPlausibleAdminToken(secret) ? await findToken(db, hashApiKey(secret)) : undefined;
  // A revoked token reads as one that never existed: a stranger must not learn which it is.
  if (!grant || grant.state === 'revoked') throw new Refusal('token_not_valid', CHALLENGE);
  if (grant.state === 'expired') throw new Refusal('token_expired', CHALLENGE);
  return grant;
}

/**
 * The caller who has a token of the management API with the scope that is needed. Cookies are ignored.
 * @throws Refusal 401 `token_missing`, `token_not_valid`, `token_expired`; 403 `scope_missing`; 403 `customer_suspended` for a change; 429
 * `too_many_attempts`
 */
export async function findTokenCaller(
  request: FastifyRequest,
  { name: endpointName, endpoint, scopes }: ManagementOperation,
  deps: DashboardDeps,
): Promise<Caller> {
  const grant = await findGrant(request, deps);
  const { id, name, customerId, email, suspended, isUseNews } = grant;
  if (isUseNews) await noteTokenUse(deps.db, id);
  await takeRequest(deps.db, { kind: 'management', customerId, mostPerMinute: MAX_REQUESTS });
  if (!scopes.some((each) => grant.scopes.includes(each))) {
    throw new Refusal('scope_missing', { detail: `This token needs the scope ${scopes.join(' or ')}.`, members: { scopes } });
  }
  refuseSuspended(suspended, { name: endpointName, endpoint });
  const actor = { name: `token:${name}`, from: request.ip };
  return { customerId, organisation: email, address: email, email, actor, scopes: new Set(grant.scopes) };
}
