import { z } from 'zod';
import { numberSetting } from '../../../plugins/core/settings';
import { type CallContext, defineRoute, defineService, type ServiceTools } from '../../kit/service/define-service';
import { indexRoute } from '../../kit/service/index-route';
import { bytesReply, JSON_TYPE, type Reply } from '../../kit/service/reply';
import { connectSessionWorkers, sessionWorkersFields } from '../../kit/worker/session-workers';
import { type Captcha__Output } from '../../workers/generated/identity/identity/v1/Captcha';
import { gst } from './facts';
import { captchaOutput, dataInput, dataOutput, sessionInput } from './schema';
import { refreshSession, startSession, type GstDeps, type GstWorkerMethods } from './start-session';
import { serveStartSocket, startFrames } from './start-socket';

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
