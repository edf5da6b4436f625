import { createHmac } from 'node:crypto';
import { type FastifyInstance } from 'fastify';
import { createCatalogue, hasSandbox } from '../../../plugins/core/catalogue/catalogue';
import { ensureCustomer } from '../../selling/customers/join-customer';
import { takeAttempt } from '../../selling/customers/attempts';
import { invalidInput } from '../../kit/errors';
import { publicTryBody, type TryAnswer } from '../contract/try';
import { placeOf } from '../http/attempt-limits';
import { readBody } from '../http/bind-endpoint';
import { type DashboardDeps, type GatewayPort } from '../http/dashboard-deps';
import { Refusal } from '../http/refusal';
import { type GatewayCallerOptions } from '../customer/requests/gateway-caller';
import { isPublishedPath } from '../customer/requests/published-path';
import { bytesOf } from '../customer/requests/try-handlers';
import { prepareTryKey } from '../customer/requests/try-key';

/** The customer on whose behalf readers call. No person can sign in as it, because no mail reaches the domain (RFC 2606). */
const READERS = 'readers@tollgate.invalid';
const ACTOR = 'dashboard:readers';

/**
 * One call at a time from one address, a few in all: a customer's own test calls find the sandbox free. Twice the time of the sandbox's
 * slowest answers (30 s) is not waited for.
 */
export const READER_CALLS: Pick<GatewayCallerOptions, 'mostOfOne' | 'mostAtOnce' | 'timeoutMs'> = {
  mostOfOne: 1,
  mostAtOnce: 6,
  timeoutMs: 35_000,
};

const WINDOW_S = 600;
/** Enough to try every product once; a person who wants more signs up. */
const MAX_FROM_ONE_ADDRESS = 30;
/** Two in three seconds, over all products. Each product's share of a day is the shared key's own limit besides. */
const MAX_FROM_ALL = 400;

/** The examples' pictures and packages fit, in base64. */
const BODY_LIMIT_BYTES = 262_144;

interface PublicTryTools {
  readonly deps: DashboardDeps;
  /** Keys the names under which addresses are counted. */
  readonly secret: string;
  readonly gateway: GatewayPort;
}

async function takeCall({ deps, secret }: PublicTryTools, place: string): Promise<void> {
  const own = `public-try|${createHmac('sha256', secret).update(`public-try\0${place}`).digest('base64url')}`;
  const limits = [
    { key: own, most: MAX_FROM_ONE_ADDRESS, windowSeconds: WINDOW_S },
    { key: 'public-try', most: MAX_FROM_ALL, windowSeconds: WINDOW_S },
  ];
  for (const limit of limits) {
    const waitSeconds = await takeAttempt(deps.db, limit);
    if (waitSeconds === undefined) continue;
    const detail = 'Too many calls without an account. Wait a few minutes, or create an account: its test key has limits of its own.';
    throw new Refusal('too_many_attempts', { detail, headers: { 'Retry-After': String(waitSeconds) } });
  }
}

/**
 * `POST /api/public/try`: calls the sandbox for readers without an account, with a test key that the dashboard never shows. An operator
 * ends it by revoking the key of the customer `readers@tollgate.invalid`.
 */
export function servePublicTry(app: FastifyInstance, tools: PublicTryTools): void {
  const { deps, gateway } = tools;
  app.post('/api/public/try', { bodyLimit: BODY_LIMIT_BYTES }, async (request): Promise<TryAnswer> => {
    const call = readBody(request, publicTryBody);
    const product = (await deps.catalogue()).find(call.product);
    if (!product || !isPublishedPath(call.path, createCatalogue([product]))) {
      throw invalidInput([{ field: 'path', message: 'must be a route of the product' }]);
    }
    // Even if the catalogue lets test keys reach the live API: test keys belong to customers, and a reader has no account.
    if (!hasSandbox(product))
      throw invalidInput([{ field: 'product', message: 'has no sandbox, so readers without an account cannot call it' }]);
    const place = placeOf(request.ip);
    await takeCall(tools, place);
    const { id: customerId } = await ensureCustomer(deps.db, { email: READERS, actor: ACTOR });
    // The sandbox's data are made up, and the key is the seller's own.
    const key = await prepareTryKey(
      { product: product.id, consent: true },
      { customerId, organisation: READERS, address: READERS, email: READERS, actor: { name: ACTOR, from: request.ip } },
      deps,
    );
    const { method, path, query, headers, contentType } = call;
    return gateway.call(place, { key, method, path, query, headers, contentType, body: bytesOf(call) });
  });
}
