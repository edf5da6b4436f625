import { type WebSocket } from 'ws';
import { z } from 'zod';
import { type SocketContext } from '../kit/service/define-service';
import { answerFailure } from '../kit/errors';
import { startSession, type GstDeps } from './start-session';

const startMessage = z.object({ type: z.literal('start') });

/** WebSocket statuses "normal" and "policy violation". */
const NORMAL = 1000;
const POLICY_VIOLATION = 1008;

function isStart(data: unknown): boolean {
  try {
    return Buffer.isBuffer(data) && startMessage.safeParse(JSON.parse(data.toString('utf8'))).success;
  } catch {
    return false;
  }
}

/**
 * The exchange of `GET /gst/start` over a WebSocket: `{"type":"start"}` is answered with `{"type":"captcha","sessionId","captcha"}`, or
 * with `{"type":"error","code","status","message"}`. One connection was charged as one request, so it opens one session; the steps that
 * follow are requests of their own. Anything else that is said ends the connection with 1008.
 */
export function serveStartSocket(socket: WebSocket, context: SocketContext, deps: GstDeps): void {
  let started = false;
  const say = (message: Readonly<Record<string, unknown>>): void => {
    if (socket.readyState === socket.OPEN) socket.send(JSON.stringify(message));
  };
  const fail = (error: unknown): void => {
    const { body, unexpected } = answerFailure(error, context.requestId);
    if (unexpected) context.log.error({ err: error }, 'a session could not be started');
    say({ type: 'error', code: body.code, status: body.status, message: body.detail, request_id: body.request_id });
  };
  const end = setTimeout(() => socket.close(NORMAL), deps.socketLifetimeMs);
  socket.once('close', () => clearTimeout(end));
  socket.on('message', (data, isBinary) => {
    if (isBinary || started || !isStart(data)) {
      const message = started ? 'This connection has started its session.' : 'Send {"type":"start"}.';
      say({ type: 'error', code: 'invalid_request', status: 400, message, request_id: context.requestId });
      return socket.close(POLICY_VIOLATION);
    }
    started = true;
    // Deferred, so that a failure to begin is told like any other.
    Promise.resolve()
      .then(() => startSession(deps, context))
      .then(({ sessionId, image }) => say({ type: 'captcha', sessionId, captcha: image.toString('base64') }), fail)
      .catch((error: unknown) => context.log.debug({ err: error }, 'an answer could not be sent'));
  });
}
