import { OPERATION_REFUSALS } from '../../../services/selling/operations/operation-refusals';
import { type FastifyInstance } from 'fastify';
import { type Audience, type Endpoint } from '../../../services/dashboard/contract/endpoint';
import { sellerOperations } from '../../../services/dashboard/seller/api/seller-operations';
import { contract } from '../../../services/dashboard/contract/endpoints';
import { hasOwnWords, type RefusalCode } from '../../../services/dashboard/contract/refusals';

/** What anybody of an audience may be told, whatever was asked for. */
const USUAL: readonly RefusalCode[] = ['forbidden', 'not_signed_in', 'too_many_attempts'];
const OF_TOKENS: readonly RefusalCode[] = ['token_missing', 'token_not_valid', 'token_expired', 'scope_missing', 'customer_suspended'];
const OF_AUDIENCE: Readonly<Record<Audience, readonly RefusalCode[]>> = {
  members: [...OF_TOKENS, 'customers_only', 'organisation_missing', 'organisation_changed', 'role_forbids'],
  persons: ['customers_only'],
  accounts: ['customers_only'],
  operators: ['operators_only', 'second_factor_missing'],
  everybody: [],
};
/** Where an operator looks at what a customer sees. */
const VIEW = '/operator/customers/:viewed/view';
const OF_VIEWS: readonly RefusalCode[] = [...OF_AUDIENCE.operators, 'customer_unknown'];

/** By method and path below the prefix of the seller's API. */
const sellers = new Map(sellerOperations.map((each) => [each.name as string, each.endpoint]));
const OF_SELLERS: readonly RefusalCode[] = [...OF_TOKENS, 'customer_unknown'];

const endpoints: Readonly<Record<string, Endpoint | undefined>> = contract;

/** Whether it is one of the dashboard's codes, and not one of the kit or of better-auth. */
const isRefusalCode = (code: string): code is RefusalCode => hasOwnWords(code as RefusalCode) || code in OPERATION_REFUSALS;

function isDeclared(code: RefusalCode, { method, url }: { readonly method: string; readonly url: string }): boolean {
  const isView = url.startsWith(`/api${VIEW}`);
  const ofSellers = url.startsWith('/api/seller/') ? sellers.get(`${method} ${url.slice('/api/seller'.length)}`) : undefined;
  if (ofSellers) return [...USUAL, ...OF_SELLERS, ...(ofSellers.refuses ?? [])].includes(code);
  const endpoint = endpoints[`${method} ${url.replace(/^\/api(\/v1)?/, '').replace(VIEW, '')}`];
  // What better-auth refuses has codes of its own.
  if (!endpoint || url.startsWith('/api/auth/')) return true;
  const declared = [...USUAL, ...OF_AUDIENCE[endpoint.for], ...(isView ? OF_VIEWS : []), ...(endpoint.refuses ?? [])];
  return declared.includes(code);
}

/** Refusals that were sent, by endpoint, although the contract does not name them there. */
export function watchRefusals(app: FastifyInstance): readonly string[] {
  const undeclared: string[] = [];
  app.addHook('onSend', (request, reply, payload, done) => {
    const url = request.routeOptions.url ?? '';
    const code: unknown = reply.statusCode >= 400 && typeof payload === 'string' ? /"code":"(\w+)"/.exec(payload)?.[1] : undefined;
    if (typeof code === 'string' && isRefusalCode(code) && !isDeclared(code, { method: request.method, url })) {
      undeclared.push(`${request.method} ${url} ${code}`);
    }
    done(null, payload);
  });
  return undeclared;
}
