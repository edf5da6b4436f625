import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { isPromise } from 'node:util/types';
import { type FastifyReply, type FastifyRequest } from 'fastify';
import { type Catalogue, type CatalogueProduct } from '../../../plugins/core/catalogue/catalogue';
import { type RequestContext } from '../../../plugins/core/proof/context-token';
import { type Clock } from '../../../plugins/core/ports';
import { type CallState, stateOf } from './call-state';
import { visibleHeader } from './context';
import { DEFAULT_DEADLINE_MS, withDeadline } from '../deadline';
import { type CallContext, type Route } from './define-service';
import { ServiceError } from '../errors';
import { type CallInput } from '../input/body-mode';
import { readInput, uploadFailure } from '../input/input';
import { knownParameters } from '../input/near-misses';
import { type Log, pathOf } from '../log';
import { DEFAULT_BODY_LIMIT_BYTES } from '../input/read-body';
import { JSON_TYPE, Reply } from './reply';
import { type RouteUnits } from './route-description';
import { traceSignal } from '../tracing';
import { Places, type ReleasePlace } from '../places';
import { coercionsOf, validateInput } from '../input/validate';

export interface RouteTools {
  readonly deps: unknown;
  readonly log: Log;
  readonly clock: Clock;
  readonly takeSlot: TakeSlot;
  /** Milliseconds before a request without a slot is refused; {@link REFUSAL_PAUSE_MS} unless given. */
  readonly refusalPauseMs?: number | undefined;
  readonly published: Pick<CatalogueProduct, 'id' | 'routes'>;
}

/**
 * Takes a slot for a request.
 * @throws ServiceError 429 `concurrency_exceeded` when all slots of its subscription are in use
 */
type TakeSlot = (proof: RequestContext) => ReleasePlace;

const NOT_RESERVED = 'This gateway does not reserve enough units for such a request. Ask for one thing at a time.';

type Handler = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>;

/** The methods of a path's routes, besides OPTIONS; undefined when a route takes all methods. */
function allowedMethods(route: Route): readonly string[] | undefined {
  switch (route.method) {
    case 'ANY':
      return undefined;
    case 'GET':
      return ['GET', 'HEAD'];
    case 'POST':
      return ['POST'];
  }
}

/** Binds the routes of one path. Each takes its own methods. */
export function bindPath(routes: readonly Route[], tools: RouteTools): Handler {
  const handlers = new Map<string, Handler>();
  for (const route of routes) {
    const handler = bindRoute(route, tools);
    const methods = allowedMethods(route);
    if (!methods) return handler;
    for (const method of methods) handlers.set(method, handler);
  }
  const allow = [...handlers.keys(), 'OPTIONS'].join(', ');
  return async (request, reply) => {
    const handler = handlers.get(request.method);
    if (handler) return handler(request, reply);
    if (request.method === 'OPTIONS') return reply.code(204).header('Allow', allow).send();
    throw new ServiceError('method_not_allowed', { detail: `This route accepts ${allow}.`, headers: { Allow: allow } });
  };
}

const nothing: ReleasePlace = () => undefined;

/**
 * Creates the slots of heavy products: how many requests of one subscription this process serves at a time. Requests for other products are
 * not counted.
 * @param override replaces the catalogue's numbers for every heavy product
 */
export function createSlots(catalogue: Catalogue, override?: number): TakeSlot {
  const byCount = new Map<number, Places>();
  return (proof) => {
    const published = catalogue.find(proof.product)?.slots;
    if (published === undefined) return nothing;
    const mostOfOne = override ?? published;
    const places = byCount.get(mostOfOne) ?? new Places({ mostOfOne });
    byCount.set(mostOfOne, places);
    return places.take(proof);
  };
}

/**
 * Milliseconds before a request without a free slot is refused. Without this delay, a program that retries at once, whatever Retry-After
 * says, would cost others as many refusals as it can send. With it, the program gets a few a second on each connection. Nothing of the
 * request is held during the delay.
 */
const REFUSAL_PAUSE_MS = 250;

/** @throws ServiceError 429 `concurrency_exceeded`, after a pause */
async function takeSlot(proof: RequestContext, tools: RouteTools): Promise<ReleasePlace> {
  try {
    return tools.takeSlot(proof);
  } catch (error) {
    await sleep(tools.refusalPauseMs ?? REFUSAL_PAUSE_MS);
    throw error;
  }
}

/** Binds one route: input, schema, handler within its deadline, response. */
function bindRoute(route: Route, tools: RouteTools): Handler {
  const limitBytes = route.bodyLimitBytes ?? DEFAULT_BODY_LIMIT_BYTES;
  const inputOptions = { body: route.body ?? ({ kind: 'fields' } as const), limitBytes, bodyOnlyFields: route.bodyOnlyFields ?? [] };
  const deadlineMs = route.deadlineMs ?? DEFAULT_DEADLINE_MS;
  const validation = {
    schema: route.input,
    coercions: coercionsOf(route.input),
    parameters: knownParameters(route.input, inputOptions.body),
    status: route.validationStatus ?? 400,
  };
  return async (request, reply) => {
    const state = stateOf(request);
    if (state.proof?.link && route.takesLinks !== true) throw new ServiceError('link_not_valid');
    // Takes the slot before the body is read: a request whose body is still being sent counts, and delays no other.
    const release = route.isLight ? undefined : await takeSlot(proofOf(state), tools);
    try {
      const read = await readInput(request.raw, inputOptions);
      const result = await answerOf(request, read);
      return send(request, reply, result);
    } finally {
      release?.();
    }
  };

  async function answerOf(request: FastifyRequest, read: CallInput): Promise<unknown> {
    const state = stateOf(request);
    try {
      const input = validateInput(read, validation);
      if (route.units) checkReserved(proofOf(state), route.units);
      const context = contextOf(request, state, { read, tools });
      const outcome = route.handler(input, context, tools.deps);
      return isPromise(outcome) ? await withDeadline<unknown>(outcome, state.cancel, deadlineMs) : outcome;
    } catch (error) {
      throw uploadFailure(read.upload, limitBytes) ?? error;
    } finally {
      discardRest(read);
    }
  }
}

/** Drops an upload that the handler did not read to its end, so that the connection does not wait. */
function discardRest(read: CallInput): void {
  const stream = read.upload?.stream;
  if (!stream || stream.readableEnded || stream.destroyed) return;
  stream.on('error', () => undefined);
  stream.resume();
}

function proofOf(state: CallState): RequestContext {
  if (!state.proof) throw new ServiceError('gateway_proof_missing');
  return state.proof;
}

/**
 * Refuses a request for which the gateway reserved less than it may cost, in case the gateway's configuration forgets it.
 * @throws ServiceError 503 `upstream_not_configured`
 */
function checkReserved({ chargedDay, units: taken = 1 }: RequestContext, { most }: RouteUnits): void {
  if (chargedDay === null || taken >= most) return;
  const cause = new Error(`the gateway reserves ${taken} units for this request: set post_units to ${most}`);
  throw new ServiceError('upstream_not_configured', { detail: NOT_RESERVED, cause });
}

function contextOf(request: FastifyRequest, state: CallState, { read, tools }: { read: CallInput; tools: RouteTools }): CallContext {
  const proof = proofOf(state);
  let log: Log | undefined;
  if (state.span) traceSignal(state.cancel.signal, state.span);
  return {
    requestId: state.requestId,
    proof,
    published: tools.published,
    mode: proof.mode,
    method: request.method,
    path: pathOf(request.raw.url ?? ''),
    get signal() {
      return state.cancel.signal;
    },
    // Made on first use, because most calls write nothing.
    get log() {
      return (log ??= tools.log.child({ requestId: state.requestId, mode: proof.mode }));
    },
    clock: tools.clock,
    charge: (units) => void (state.cost = units),
    header: (name) => visibleHeader(request.headers, name),
    files: read.files,
    upload: read.upload,
  };
}

function send(request: FastifyRequest, reply: FastifyReply, result: unknown): FastifyReply {
  if (!(result instanceof Reply)) {
    const text = JSON.stringify(result) as string | undefined;
    if (text === undefined) throw new Error('the handler returned a value that JSON cannot represent');
    return reply.code(200).header('Content-Type', JSON_TYPE).send(text);
  }
  reply.code(result.status).headers(result.headers);
  const { body } = result;
  if (!(body instanceof Readable)) return reply.send(body);
  if (request.method === 'HEAD') {
    body.destroy();
    return reply.send();
  }
  const { signal } = stateOf(request).cancel;
  const stop = (): void => void body.destroy();
  signal.addEventListener('abort', stop, { once: true });
  body.once('close', () => signal.removeEventListener('abort', stop));
  return reply.send(body);
}
