import { type FastifyInstance, type FastifyRequest } from 'fastify';
import { viewSubscriptions } from '../../../selling/subscriptions/subscription-view';
import { findToken, noteTokenUse, type TokenGrant } from '../../../selling/tokens/management-tokens';
import { hashApiKey, isPlausibleAdminToken } from '../../../../plugins/core/access/api-key';
import { bearerToken } from '../../../../plugins/core/access/credential-location';
import { type Scope } from '../../contract/fields';
import { addEndpoint, type AnyHandler, type EndpointTools, type MemberHandlers } from '../../http/bind-endpoint';
import { type DashboardDeps } from '../../http/dashboard-deps';
import { Refusal } from '../../http/refusal';
import { takeRequest, takeWrite } from '../../http/request-limit';
import { describeManagementApi, type ManagementOperation, managementOperations, serveDocument } from './management-document';
import { type SignedInCaller } from '../../http/callers';
import { refuseSuspended } from '../../http/refuse-suspended';

/** Prefix of the management API. Nothing below it accepts a cookie, and nothing beside it accepts a token. */
export const MANAGEMENT_PREFIX = '/api/v1';

const SUBSCRIBING: Scope = 'subscriptions:write';

/** The products that a body asks for on a key. */
function productsOf(body: unknown): readonly unknown[] {
  const products: unknown = typeof body === 'object' && body !== null ? Reflect.get(body, 'products') : undefined;
  return Array.isArray(products) ? products : [];
}

/** A key for a new product subscribes its customer to it, which is more than `keys:write` may. @throws Refusal 403 `scope_missing` */
export async function refuseSubscribing(body: unknown, { customerId, scopes }: SignedInCaller, { db }: DashboardDeps): Promise<void> {
  const products = productsOf(body);
  if (scopes === undefined || scopes.has(SUBSCRIBING) || products.length === 0) return;
  const owned = await viewSubscriptions(db, customerId);
  if (products.every((product) => owned.some((each) => each.product === product && each.state !== 'cancelled'))) return;
  const detail = `This would change what is subscribed to: subscribe first, or use a token with the scope ${SUBSCRIBING}.`;
  throw new Refusal('scope_missing', { detail, members: { scopes: [SUBSCRIBING] } });
}

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
async function findTokenCaller(
  request: FastifyRequest,
  { name: endpointName, endpoint, scopes }: ManagementOperation,
  deps: DashboardDeps,
): Promise<SignedInCaller> {
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

export interface ProgramApiTools {
  readonly deps: DashboardDeps;
  /** The dashboard's own URL. */
  readonly url: string;
  readonly memberHandlers: MemberHandlers;
}

/** The management API: endpoints of the pages, for programs with a token. */
export function addManagementRoutes(app: FastifyInstance, { deps, url, memberHandlers }: ProgramApiTools): void {
  serveDocument(app, `${MANAGEMENT_PREFIX}/openapi.json`, () => describeManagementApi(`${url}${MANAGEMENT_PREFIX}`));
  for (const operation of managementOperations) {
    const { name, endpoint } = operation;
    const handler = memberHandlers[name as keyof typeof memberHandlers] as AnyHandler;
    /** On pages the person decides whether a key may subscribe; a token needs the scope first. */
    const forTokens = async (call: { readonly body: unknown; readonly caller: SignedInCaller }): Promise<unknown> => {
      await refuseSubscribing(call.body, call.caller, deps);
      return handler(call as never, deps);
    };
    const tools: EndpointTools = {
      deps,
      prefix: MANAGEMENT_PREFIX,
      findCaller: (request) => findTokenCaller(request, operation, deps),
      takeWrite: ({ customerId }: SignedInCaller) => takeWrite(deps.db, customerId),
    };
    addEndpoint(app, { name, endpoint, handler: forTokens }, tools);
  }
}
