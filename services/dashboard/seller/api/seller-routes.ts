import { type FastifyInstance, type FastifyRequest } from 'fastify';
import { addEndpoint, type AnyHandler } from '../../http/bind-endpoint';
import { type Caller } from '../../http/callers';
import { serveDocument } from '../../customer/management/management-document';
import { type ProgramApiTools, refuseSubscribing } from '../../customer/management/management-routes';
import { sellerPaymentHandlers } from '../../billing/seller-payments';
import { customerHandlers } from '../console/customer-handlers';
import { operatorHandlers } from '../console/operator-handlers';
import { findCustomersSeller, findSellerCaller } from './find-seller-caller';
import { describeSellerApi, type SellerOperation, sellerOperations } from './seller-operations';

/** Prefix of the seller's API. Nothing below it accepts a cookie, and nothing beside it accepts one of its tokens. */
export const SELLER_PREFIX = '/api/seller';

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
  return async (call: { readonly body: unknown; readonly caller: Caller }) => {
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
