import { z } from 'zod';
import { type WebSocket } from 'ws';
import { numberSetting } from '../../../plugins/core/settings';
import { type CallContext, defineRoute, defineService, type ServiceTools, type SocketContext } from '../../kit/service/define-service';
import { indexRoute } from '../../kit/service/index-route';
import { bytesReply, JSON_TYPE, type Reply } from '../../kit/service/reply';
import { connectSessionWorkers, sessionWorkersFields, type SessionWorkers } from '../../kit/worker/session-workers';
import { type Captcha__Output } from '../../workers/generated/identity/identity/v1/Captcha';
import { type GstRecord__Output } from '../../workers/generated/identity/identity/v1/GstRecord';
import { type GstStartRequest } from '../../workers/generated/identity/identity/v1/GstStartRequest';
import { type GstSubmitRequest } from '../../workers/generated/identity/identity/v1/GstSubmitRequest';
import { type SessionRequest } from '../../workers/generated/identity/identity/v1/SessionRequest';
import { type WorkerCallOptions } from '../../kit/worker/worker-client';
import { answerFailure, ServiceError } from '../../kit/errors';
import { gst } from './facts';
import { captchaOutput, dataInput, dataOutput, sessionInput } from './schema';

type GstWorkerMethods = {
  GstStart: { request: GstStartRequest; response: Captcha__Output };
  GstRefresh: { request: SessionRequest; response: Captcha__Output };
  GstSubmit: { request: GstSubmitRequest; response: GstRecord__Output };
};

interface GstDeps {
  readonly workers: SessionWorkers<GstWorkerMethods>;
  /** Milliseconds. */
  readonly socketLifetimeMs: number;
}

/** The next captcha of a session. The previous one becomes void. */
function refreshSession(
  { workers }: GstDeps,
  call: { sessionId: string; context: WorkerCallOptions['context'] },
): Promise<Captcha__Output> {
  const { sessionId, context } = call;
  return workers.next('GstRefresh', { sessionId }, { context, sessionId });
}

/** Opens a session. */
function startSession({ workers }: GstDeps, context: WorkerCallOptions['context']): Promise<Captcha__Output> {
  return workers.start('GstStart', {}, { context, idOf: ({ sessionId }) => sessionId });
}

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
const startFrames = { sent: clientMessage, received: serverMessage };

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
function serveStartSocket(socket: WebSocket, context: SocketContext, deps: GstDeps): void {
  const exchange = new StartExchange(socket, context, deps);
  const end = setTimeout(() => socket.close(NORMAL), deps.socketLifetimeMs);
  socket.once('close', () => clearTimeout(end));
  socket.on('message', (data, isBinary) => exchange.receive(parseMessage(data, isBinary)));
}

/** Environment of the gst service. */
export const gstSettings = z.object({
  ...sessionWorkersFields,
  /** Milliseconds a WebSocket at /gst/start stays open. */
  GST_SOCKET_MS: numberSetting({ min: 50, max: 3_600_000 }).default(300_000),
});

type GstSettings = z.output<typeof gstSettings>;

/** No session of this product lives longer than five minutes. */
const SESSION_LIFETIME_MS = 5 * 60_000;

type GstCaptchaAnswer = { sessionId: string; image: string };

function answerOf({ sessionId, image, mediaType }: Captcha__Output): GstCaptchaAnswer {
  return { sessionId, image: `data:${mediaType};base64,${image.toString('base64')}` };
}

async function refresh({ sessionId }: { sessionId: string }, context: CallContext, deps: GstDeps): Promise<GstCaptchaAnswer> {
  return answerOf(await refreshSession(deps, { sessionId, context }));
}

async function submit(
  { sessionId, gstin, captcha }: { sessionId: string; gstin: string; captcha: string },
  context: CallContext,
  deps: GstDeps,
): Promise<Reply> {
  const { payloadJson } = await deps.workers.next('GstSubmit', { sessionId, gstin, captcha }, { context, sessionId });
  return bytesReply(Buffer.from(payloadJson), JSON_TYPE);
}

/** The workers, and the registry of which worker owns which session. */
export function createGstDeps(tools: ServiceTools<GstSettings>): GstDeps {
  const workers = connectSessionWorkers<GstWorkerMethods>(tools, SESSION_LIFETIME_MS);
  return { workers, socketLifetimeMs: tools.settings.GST_SOCKET_MS };
}

const IN_SESSION = 'Send the `sessionId` of the previous step.';

const startRoute = defineRoute({
  method: 'GET',
  path: '/gst/start',
  does: 'Opens a session and returns its `sessionId` and a captcha.',
  notes:
    'An upgrade to a WebSocket gets a 101: send {"type":"start"} and receive {"type":"captcha","sessionId","captcha"}, the ' +
    'captcha as a PNG in base64; {"type":"refresh"} shows the next one. Refusals are {"type":"error","code","status","message","request_id"}. ' +
    'A connection has one session, is charged once, and ends after five minutes. x-webSocket describes the frames.',
  frames: startFrames,
  output: captchaOutput,
  moreSuccesses: { 101: 'Switching protocols: the request asked for a WebSocket, which is charged once it is open' },
  body: { kind: 'ignored' },
  handler: async (_input, context, deps: GstDeps) => answerOf(await startSession(deps, context)),
  webSocket: serveStartSocket,
});

const dataRoute = defineRoute({
  method: 'POST',
  path: '/gst/data',
  does: `Sends a registration number with the solution of the captcha, and returns the registration. ${IN_SESSION}`,
  notes:
    'Do not simply send a failed submit again. After 502 the captcha may be used up: ask for the next one. After 504 the session has ended.',
  input: dataInput,
  output: dataOutput,
  fails: ['session_expired', 'session_busy', 'attempts_exhausted', 'captcha_rejected', 'number_unknown'],
  example: { after: [startRoute] },
  handler: (input, context, deps: GstDeps) => submit(input, context, deps),
});

const REFRESH = '/gst/refresh_captcha';

const refreshRoute = (path: `/${string}`, does: string) =>
  defineRoute({
    method: 'GET',
    path,
    purpose: 'Refresh the captcha',
    does,
    input: sessionInput,
    output: captchaOutput,
    fails: ['session_expired', 'session_busy', 'refreshes_exhausted'],
    example: { of: REFRESH, after: [startRoute] },
    handler: (input, context, deps: GstDeps) => refresh(input, context, deps),
  });

/** Tax-registration records behind a captcha. */
export const gstService = defineService<GstDeps, GstSettings>({
  ...gst,
  settings: gstSettings,
  createDeps: createGstDeps,
  checkReady: (deps) => deps.workers.checkReady(),
  hasWorkers: (deps) => deps.workers.hasWorkers,
  close: (deps) => deps.workers.close(),
  routes: [
    indexRoute('ANY', '/gst'),
    startRoute,
    dataRoute,
    refreshRoute(REFRESH, `Returns another captcha for the same session. ${IN_SESSION}`),
    refreshRoute('/api/v1/gst/refresh-captcha', `The same as \`${REFRESH}\`, at another path.`),
  ],
});
