import { DeadlinePassed, within } from '../../kit/deadline';
import { ServiceError } from '../../kit/errors';
import { type WorkerCall } from '../../kit/worker/worker-call';
import { type RemoveBackgroundRequest__Output } from '../generated/image/image/v1/RemoveBackgroundRequest';
import { type RemoveBackgroundResponse } from '../generated/image/image/v1/RemoveBackgroundResponse';
import { type Engine } from './engine';
import { finishCutOut, readFinish } from './finish-cut-out';
import { openPicture } from './picture';

export interface ImageHandlerOptions {
  /** Test calls go to the sandbox, live calls to the configured engine. */
  readonly engines: { readonly live: Engine; readonly test: Engine };
  /** Milliseconds for one picture, including the wait for its turn. */
  readonly deadlineMs: number;
}

export interface ImageHandlers {
  RemoveBackground(
    this: void,
    request: RemoveBackgroundRequest__Output,
    call: Pick<WorkerCall, 'signal' | 'log' | 'mode' | 'subscriptionId'>,
  ): Promise<RemoveBackgroundResponse>;
}

/** Handlers of the worker's only method. Nothing of a picture outlives its call. */
export function createImageHandlers({ engines, deadlineMs }: ImageHandlerOptions): ImageHandlers {
  return {
    RemoveBackground: async (request, { signal: caller, log, mode, subscriptionId }) => {
      const startedAt = performance.now();
      const remove = async (signal: AbortSignal): Promise<RemoveBackgroundResponse> => {
        const finish = readFinish(request);
        const picture = await openPicture(request.image, finish.maxSide);
        const { width, height } = picture;
        const call = { mode, subscriptionId, signal, acceptUncertain: request.acceptUncertain };
        const { png, engine, confidence, isUncertain } = await engines[mode].cutOut(picture, call);
        log.info(
          { engine, confidence, isUncertain, width, height, ms: Math.round(performance.now() - startedAt) },
          'a background was removed',
        );
        const finished = await finishCutOut(png, { width, height }, finish);
        return { ...finished, engine, uncertain: isUncertain, ...(confidence !== null && { confidence }) };
      };
      try {
        return await within(deadlineMs, remove, caller);
      } catch (error) {
        throw error instanceof DeadlinePassed ? new ServiceError('upstream_timeout', { cause: error }) : error;
      }
    },
  };
}
