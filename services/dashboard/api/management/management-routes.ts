import { type FastifyInstance } from 'fastify';
import { viewSubscriptions } from '../../../../plugins/stores/postgres/subscriptions/subscription-view';
import { JSON_TYPE } from '../../../kit/service/reply';
import { type Scope } from '../../contract/tokens';
import { bindEndpoint, type EndpointTools } from '../http/bind-endpoint';
import { type Caller, type DashboardDeps, type Endpoint } from '../http/define-endpoint';
import { Refusal } from '../http/refusal';
import { takeWrite } from '../http/request-limit';
import { findTokenCaller } from './find-token-caller';
import { describeManagementApi } from './management-document';
import { managementOperations } from './management-operations';

/** Where the management API begins. Nothing below it takes a cookie, and nothing beside it takes a token. */
export const MANAGEMENT_PREFIX = '/api/v1';

const SUBSCRIBING: Scope = 'subscriptions:write';

/** The products that a body wants for a key. */
function productsOf(body: unknown): readonly unknown[] {
  const products: unknown = typeof body === 'object' && body !== null ? Reflect.get(body, 'products') : undefined;
  return Array.isArray(products) ? products : [];
}

/** A key for a new product subscribes its customer to it, which is more than `keys:write` may. @throws Refusal 403 `scope_missing` */
async function refuseSubscribing(body: unknown, { customerId, scopes }: Caller, { db }: DashboardDeps): Promise<void> {
  const products = productsOf(body);
  if (scopes === undefined || scopes.has(SUBSCRIBING) || products.length === 0) return;
  const owned = await viewSubscriptions(db, customerId);
  if (products.every((product) => owned.some((each) => each.product === product && each.state !== 'cancelled'))) return;
  const detail = `This would change what is subscribed to: subscribe first, or use a token with the scope ${SUBSCRIBING}.`;
  throw new Refusal('scope_missing', { detail, members: { scopes: [SUBSCRIBING] } });
}

/** An endpoint of the pages, which leave it to the person whether a key may subscribe; of a token that is asked first. */
function forTokens(endpoint: Endpoint): Endpoint {
  return {
    ...endpoint,
    handler: async (call, deps) => {
      await refuseSubscribing(call.body, call.caller, deps);
      return endpoint.handler(call, deps);
    },
  };
}

/**
 * The management API: endpoints of the pages, for programs with a token.
 * @param url the dashboard's own URL
 */
export function addManagementRoutes(app: FastifyInstance, deps: DashboardDeps, url: string): void {
  const document = JSON.stringify(describeManagementApi(`${url}${MANAGEMENT_PREFIX}`));
  app.get(`${MANAGEMENT_PREFIX}/openapi.json`, { exposeHeadRoute: false }, (_request, reply) =>
    reply.header('Content-Type', JSON_TYPE).send(document),
  );
  for (const operation of managementOperations) {
    const { method, path } = operation.endpoint;
    const tools: EndpointTools<Caller> = {
      deps,
      findCaller: (request) => findTokenCaller(request, operation, deps),
      takeWrite: ({ customerId }) => takeWrite(deps.db, customerId),
    };
    const handler = bindEndpoint(forTokens(operation.endpoint), tools);
    app.route({ method, url: `${MANAGEMENT_PREFIX}${path}`, exposeHeadRoute: false, handler });
  }
}
