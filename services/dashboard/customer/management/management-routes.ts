import { type FastifyInstance } from 'fastify';
import { viewSubscriptions } from '../../../selling/subscriptions/subscription-view';
import { type Scope } from '../../contract/fields';
import { addEndpoint, type AnyHandler, type EndpointTools, type MemberHandlers } from '../../http/bind-endpoint';
import { type DashboardDeps } from '../../http/dashboard-deps';
import { Refusal } from '../../http/refusal';
import { takeWrite } from '../../http/request-limit';
import { findTokenCaller } from './find-token-caller';
import { describeManagementApi, managementOperations, serveDocument } from './management-document';
import { type Caller } from '../../http/callers';

/** Prefix of the management API. Nothing below it accepts a cookie, and nothing beside it accepts a token. */
export const MANAGEMENT_PREFIX = '/api/v1';

const SUBSCRIBING: Scope = 'subscriptions:write';

/** The products that a body asks for on a key. */
function productsOf(body: unknown): readonly unknown[] {
  const products: unknown = typeof body === 'object' && body !== null ? Reflect.get(body, 'products') : undefined;
  return Array.isArray(products) ? products : [];
}

/** A key for a new product subscribes its customer to it, which is more than `keys:write` may. @throws Refusal 403 `scope_missing` */
export async function refuseSubscribing(body: unknown, { customerId, scopes }: Caller, { db }: DashboardDeps): Promise<void> {
  const products = productsOf(body);
  if (scopes === undefined || scopes.has(SUBSCRIBING) || products.length === 0) return;
  const owned = await viewSubscriptions(db, customerId);
  if (products.every((product) => owned.some((each) => each.product === product && each.state !== 'cancelled'))) return;
  const detail = `This would change what is subscribed to: subscribe first, or use a token with the scope ${SUBSCRIBING}.`;
  throw new Refusal('scope_missing', { detail, members: { scopes: [SUBSCRIBING] } });
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
    const forTokens = async (call: { readonly body: unknown; readonly caller: Caller }): Promise<unknown> => {
      await refuseSubscribing(call.body, call.caller, deps);
      return handler(call as never, deps);
    };
    const tools: EndpointTools = {
      deps,
      prefix: MANAGEMENT_PREFIX,
      findCaller: (request) => findTokenCaller(request, operation, deps),
      takeWrite: ({ customerId }: Caller) => takeWrite(deps.db, customerId),
    };
    addEndpoint(app, { name, endpoint, handler: forTokens }, tools);
  }
}
