import { type IncomingMessage, type Server } from 'node:http';
import { type Duplex } from 'node:stream';
import { type Span } from '@opentelemetry/api';
import { type WebSocket, WebSocketServer } from 'ws';
import { type RequestContext } from '../../../plugins/core/proof/context-token';
import { type Clock } from '../../../plugins/core/ports';
import { type ProblemCode } from '../../../plugins/core/problems';
import { TRACE_HEADER } from '../../../plugins/core/proof/trace-context';
import { type ContextKeys } from '../../../plugins/core/proof/verify-context';
import { findProof, requestIdOf } from './context';
import { type Route } from './define-service';
import { answerFailure, rawAnswer, ServiceError } from '../errors';
import { type Log, pathOf } from '../log';
import { continueTrace, noteFailure, traceSignal } from '../tracing';

/** Maximum bytes of one message from a client. */
const MAX_MESSAGE_BYTES = 65_536;
/** WebSocket status "internal error". */
const INTERNAL_ERROR = 1011;
/** WebSocket status "going away". */
const GOING_AWAY = 1001;

export interface UpgradeTools {
  readonly routes: readonly Route[];
  readonly products: readonly string[];
  readonly contextKeys: ContextKeys;
  readonly deps: unknown;
  readonly log: Log;
  readonly clock: Clock;
}

/** Closes every open socket, for a drain. */
export type CloseSockets = () => void;

/**
 * Accepts upgrades on a server. The proof is checked before the handshake, exactly as for a request. A server without WebSocket routes
 * ignores an `Upgrade` header, as HTTP allows.
 */
export function acceptWebSockets(server: Server, tools: UpgradeTools): CloseSockets {
  const byPath = new Map(tools.routes.filter((route) => 'webSocket' in route).map((route) => [route.path as string, route]));
  if (byPath.size === 0) return () => undefined;
  const sockets = new WebSocketServer({ noServer: true, maxPayload: MAX_MESSAGE_BYTES, perMessageDeflate: false });
  server.on('upgrade', (request: IncomingMessage, stream: Duplex, head: Buffer) => {
    stream.on('error', () => stream.destroy());
    const proof = findProof(request.headers, { keys: tools.contextKeys, products: tools.products, nowMs: tools.clock.now() });
    const requestId = requestIdOf(request.headers, proof);
    if (!proof) return refuse(stream, 'gateway_proof_missing', requestId);
    const route = byPath.get(pathOf(request.url ?? '').replace(/(?<=.)\/$/, ''));
    if (!route) return refuse(stream, 'route_unknown', requestId);
    sockets.handleUpgrade(request, stream, head, (socket) => {
      const span = continueTrace(request.headers[TRACE_HEADER], {
        name: `socket ${route.path}`,
        attributes: { 'tollgate.request_id': requestId },
      });
      void serve(socket, route, { proof, requestId, span, tools });
    });
  });
  return () => {
    for (const socket of sockets.clients) socket.close(GOING_AWAY);
  };
}

function refuse(stream: Duplex, problem: ProblemCode, requestId: string): void {
  stream.end(rawAnswer(answerFailure(new ServiceError(problem), requestId)));
}

async function serve(
  socket: WebSocket,
  route: Route,
  call: { proof: RequestContext; requestId: string; span: Span | undefined; tools: UpgradeTools },
): Promise<void> {
  const { proof, requestId, span, tools } = call;
  const closed = new AbortController();
  traceSignal(closed.signal, span);
  const log = tools.log.child({ requestId });
  socket.once('close', () => {
    closed.abort();
    span?.end();
  });
  socket.on('error', (error) => log.debug({ err: error }, 'a WebSocket failed'));
  try {
    const context = { requestId, proof, mode: proof.mode, log, clock: tools.clock, signal: closed.signal };
    await route.webSocket?.(socket, context, tools.deps);
  } catch (error) {
    if (span) noteFailure(span, error);
    log.error({ err: error, route: route.path }, 'a WebSocket handler failed');
    socket.close(INTERNAL_ERROR);
  }
}
