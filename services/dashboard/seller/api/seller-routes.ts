import { type FastifyInstance, type FastifyRequest } from 'fastify';
import { addEndpoint, type AnyHandler } from '../../http/bind-endpoint';
import { type SignedInCaller, type OperatorCaller } from '../../http/callers';
import { type DashboardDeps } from '../../http/dashboard-deps';
import { Refusal } from '../../http/refusal';
import { takeRequest } from '../../http/request-limit';
import { serveDocument } from '../../customer/management/management-document';
import { type ProgramApiTools, refuseSubscribing } from '../../customer/management/management-routes';
import { sellerPaymentHandlers } from '../../billing/seller-payments';
import { hashApiKey, isPlausibleSellerToken } from '../../../../plugins/core/access/api-key';
import { bearerToken } from '../../../../plugins/core/access/credential-location';
import { isUuid } from '../../../../plugins/stores/postgres/database';
import { requireCustomer } from '../../../selling/customers/find-customer';
import { OperationRefused } from '../../../selling/operations/operation-refused';
import { findSellerToken, noteSellerTokenUse, type SellerGrant } from '../../../selling/tokens/seller-tokens';
import { customerHandlers } from '../console/customer-handlers';
import { operatorHandlers } from '../console/operator-handlers';
import { describeSellerApi, type SellerOperation, sellerOperations } from './seller-operations';

/** Prefix of the seller's API. Nothing below it accepts a cookie, and nothing beside it accepts one of its tokens. */
export const SELLER_PREFIX = '/api/seller';

/** Per minute and token. */
const MAX_REQUESTS = 600;

/** The challenge for a program without a usable token (RFC 6750). */
const CHALLENGE = { headers: { 'WWW-Authenticate': 'Bearer realm="seller"' } };
const WHERE = 'Create one under Tokens in the console.';
const REFUSED = {
  token_missing:
    'Send a token of the seller’s API as "Authorization: Bearer tg_seller_…". Other tokens, API keys and cookies are not accepted here.',
  token_not_valid: `This token does not exist, was revoked, or the operator who created it no longer is one. ${WHERE}`,
  token_expired: `This token has expired. ${WHERE}`,
} as const;
const refuse = (code: keyof typeof REFUSED): Refusal => new Refusal(code, { ...CHALLENGE, detail: REFUSED[code] });

async function findGrant(request: FastifyRequest, { db }: DashboardDeps): Promise<SellerGrant> {
  const secret = bearerToken(request.headers.authorization ?? '');
  if (secret === undefined) throw refuse('token_missing');
  const grant = isPlausibleSellerToken(secret) ? await findSellerToken(db, hashApiKey(secret)) : undefined;
  // A revoked token reads as one that never existed: a stranger must not learn which it is.
  if (!grant || grant.state === 'revoked') throw refuse('token_not_valid');
  if (grant.state === 'expired') throw refuse('token_expired');
  return grant;
}

/**
 * The caller who has a token of the seller's API with the scope that is needed. Cookies are ignored.
 * @throws Refusal 401 `token_missing`, `token_not_valid`, `token_expired`; 403 `scope_missing`; 429 `too_many_attempts`
 */
async function findSellerCaller(
  request: FastifyRequest,
  { scopes }: Pick<SellerOperation, 'scopes'>,
  deps: DashboardDeps,
): Promise<OperatorCaller & { readonly scopes: ReadonlySet<string> }> {
  const grant = await findGrant(request, deps);
  if (grant.isUseNews) await noteSellerTokenUse(deps.db, grant.id);
  await takeRequest(deps.db, { kind: 'seller', customerId: grant.id, mostPerMinute: MAX_REQUESTS });
  if (!scopes.some((each) => grant.scopes.includes(each))) {
    throw new Refusal('scope_missing', { detail: `This token needs the scope ${scopes.join(' or ')}.`, members: { scopes } });
  }
  const actor = { name: `operator:${grant.madeBy} (token ${grant.name})`, from: request.ip };
  return { id: grant.operatorId, email: grant.madeBy, actor, scopes: new Set(grant.scopes) };
}

/**
 * The same, for the customer whose id is in the path.
 * @throws as above, and OperationRefused `customer_unknown`
 */
async function findCustomersSeller(request: FastifyRequest, operation: SellerOperation, deps: DashboardDeps): Promise<SignedInCaller> {
  const { actor, scopes } = await findSellerCaller(request, operation, deps);
  const { customer: wanted = '' } = request.params as { customer?: string };
  if (!isUuid(wanted)) throw new OperationRefused('customer_unknown', 'there is no customer with this id');
  const { id: customerId, email } = await requireCustomer(deps.db, wanted);
  return { customerId, organisation: email, address: email, email, actor, scopes, isSeller: true };
}

/** The header means the same as `submission` in the body, which takes precedence. */
function takeIdempotencyKey(request: FastifyRequest): void {
  const key = request.headers['idempotency-key'];
  const { body } = request;
  if (typeof key !== 'string' || typeof body !== 'object' || body === null || Array.isArray(body)) return;
  request.body = { submission: key, ...body };
}

function handlerOf({ origin, endpoint }: SellerOperation, { deps, memberHandlers }: ProgramApiTools): AnyHandler {
  const handlers: Readonly<Record<string, AnyHandler>> = {
    ...memberHandlers,
    ...customerHandlers,
    ...operatorHandlers,
    ...sellerPaymentHandlers,
  };
  const handler = handlers[origin];
  if (!handler) throw new Error(`the seller's API has no handler for ${origin}`);
  if (endpoint.for !== 'members') return handler;
  return async (call: { readonly body: unknown; readonly caller: SignedInCaller }) => {
    await refuseSubscribing(call.body, call.caller, deps);
    return handler(call as never, deps);
  };
}

/** The seller's API: endpoints of the console, and of any customer, for the seller's programs. */
export function addSellerRoutes(app: FastifyInstance, tools: ProgramApiTools): void {
  const { deps, url } = tools;
  serveDocument(app, `${SELLER_PREFIX}/openapi.json`, () => describeSellerApi(`${url}${SELLER_PREFIX}`));
  for (const operation of sellerOperations) {
    const { name, endpoint } = operation;
    const find = endpoint.for === 'members' ? findCustomersSeller : findSellerCaller;
    const findCaller = async (request: FastifyRequest): Promise<unknown> => {
      const caller = await find(request, operation, deps);
      takeIdempotencyKey(request);
      return caller;
    };
    addEndpoint(app, { name, endpoint, handler: handlerOf(operation, tools) }, { deps, prefix: SELLER_PREFIX, findCaller });
  }
}
