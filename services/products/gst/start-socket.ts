import { type WebSocket } from 'ws';
import { z } from 'zod';
import { type SocketContext } from '../../kit/service/define-service';
import { answerFailure, ServiceError } from '../../kit/errors';
import { type Captcha__Output } from '../../workers/generated/identity/identity/v1/Captcha';
import { refreshSession, startSession, type GstDeps } from './start-session';

/** `refresh` may name the session of this connection, as the HTTP step does. Another session is refreshed over HTTP. */
const clientMessage = z.discriminatedUnion('type', [
  z.object({ type: z.literal('start') }),
  z.object({ type: z.literal('refresh'), sessionId: z.string().optional() }),
]);
type ClientMessage = z.output<typeof clientMessage>;

const serverMessage = z.discriminatedUnion('type', [
  z.object({ type: z.literal('captcha'), sessionId: z.string(), captcha: z.string().describe('A PNG in base64, without a data URI.') }),
  z.object({ type: z.literal('error'), code: z.string(), status: z.number().int(), message: z.string(), request_id: z.string() }),
]);
type ServerMessage = z.output<typeof serverMessage>;

/** For the documentation. */
export const startFrames = { sent: clientMessage, received: serverMessage };

/** WebSocket statuses "normal", "policy violation" and "internal error". */
const NORMAL = 1000;
const POLICY_VIOLATION = 1008;
const FAILED = 1011;

function parseMessage(data: unknown, isBinary: boolean): ClientMessage | undefined {
  try {
    return isBinary || !Buffer.isBuffer(data) ? undefined : clientMessage.safeParse(JSON.parse(data.toString('utf8'))).data;
  } catch {
    return undefined;
  }
}

function refuse(detail: string): ServiceError {
  return new ServiceError('invalid_request', { detail });
}

/** The exchange of one connection, which was charged as one request and therefore has one session. */
class StartExchange {
  private phase: 'new' | 'starting' | 'open' | 'failed' = 'new';
  private sessionId = '';

  constructor(
    private readonly socket: WebSocket,
    private readonly context: SocketContext,
    private readonly deps: GstDeps,
  ) {}

  receive(message: ClientMessage | undefined): void {
    if (message === undefined) {
      this.fail(refuse('Send {"type":"start"} or {"type":"refresh"}.'));
      return this.socket.close(POLICY_VIOLATION);
    }
    this.step(message).then(
      ({ sessionId, image }) => this.say({ type: 'captcha', sessionId, captcha: image.toString('base64') }),
      (error: unknown) => {
        this.fail(error);
        // There is no session to continue.
        if (this.phase === 'failed') this.socket.close(FAILED);
      },
    );
  }

  private step(message: ClientMessage): Promise<Captcha__Output> {
    return message.type === 'start' ? this.start() : this.refresh(message.sessionId ?? this.sessionId);
  }

  private async start(): Promise<Captcha__Output> {
    if (this.phase !== 'new') throw refuse('This connection has started its session: {"type":"refresh"} shows another captcha.');
    this.phase = 'starting';
    try {
      const captcha = await startSession(this.deps, this.context);
      this.phase = 'open';
      this.sessionId = captcha.sessionId;
      return captcha;
    } catch (error) {
      this.phase = 'failed';
      throw error;
    }
  }

  private async refresh(sessionId: string): Promise<Captcha__Output> {
    if (this.phase !== 'open') throw refuse('There is no captcha yet: {"type":"start"} asks for the first one.');
    if (sessionId !== this.sessionId) throw refuse('This connection refreshes the captcha of its own session only.');
    return refreshSession(this.deps, { sessionId, context: this.context });
  }

  private fail(error: unknown): void {
    const { requestId, log } = this.context;
    const { body, unexpected } = answerFailure(error, requestId);
    if (unexpected) log.error({ err: error }, 'a captcha could not be shown');
    this.say({ type: 'error', code: body.code, status: body.status, message: body.detail, request_id: body.request_id });
  }

  private say(message: ServerMessage): void {
    if (this.socket.readyState === this.socket.OPEN) this.socket.send(JSON.stringify(message));
  }
}

/**
 * The exchange of `GET /gst/start` over a WebSocket. The response to `{"type":"start"}` is `{"type":"captcha","sessionId","captcha"}`. A
 * later `{"type":"refresh"}` gets the same with the next captcha of the session. A refusal is
 * `{"type":"error","code","status","message"}`. The steps that follow are requests of their own. A failed start closes the connection with
 * 1011, any other message with 1008.
 */
export function serveStartSocket(socket: WebSocket, context: SocketContext, deps: GstDeps): void {
  const exchange = new StartExchange(socket, context, deps);
  const end = setTimeout(() => socket.close(NORMAL), deps.socketLifetimeMs);
  socket.once('close', () => clearTimeout(end));
  socket.on('message', (data, isBinary) => exchange.receive(parseMessage(data, isBinary)));
}
