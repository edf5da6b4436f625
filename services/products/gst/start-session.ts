import { type Captcha__Output } from '../../workers/generated/identity/identity/v1/Captcha';
import { type GstRecord__Output } from '../../workers/generated/identity/identity/v1/GstRecord';
import { type GstStartRequest } from '../../workers/generated/identity/identity/v1/GstStartRequest';
import { type GstSubmitRequest } from '../../workers/generated/identity/identity/v1/GstSubmitRequest';
import { type SessionRequest } from '../../workers/generated/identity/identity/v1/SessionRequest';
import { type SessionWorkers } from '../../kit/worker/session-workers';
import { type WorkerCallOptions } from '../../kit/worker/worker-client';

export type GstWorkerMethods = {
  GstStart: { request: GstStartRequest; response: Captcha__Output };
  GstRefresh: { request: SessionRequest; response: Captcha__Output };
  GstSubmit: { request: GstSubmitRequest; response: GstRecord__Output };
};

export interface GstDeps {
  readonly workers: SessionWorkers<GstWorkerMethods>;
  /** Milliseconds. */
  readonly socketLifetimeMs: number;
}

/** The next captcha of a session. The previous one becomes void. */
export function refreshSession(
  { workers }: GstDeps,
  call: { sessionId: string; context: WorkerCallOptions['context'] },
): Promise<Captcha__Output> {
  const { sessionId, context } = call;
  return workers.next('GstRefresh', { sessionId }, { context, sessionId });
}

/** Opens a session. */
export function startSession({ workers }: GstDeps, context: WorkerCallOptions['context']): Promise<Captcha__Output> {
  return workers.start('GstStart', {}, { context, idOf: ({ sessionId }) => sessionId });
}
