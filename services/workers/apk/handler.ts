import pLimit from 'p-limit';
import { ServiceError } from '../../kit/errors';
import { type WorkerCall } from '../../kit/worker/worker-call';
import { type PoolLevels } from '../../kit/worker/worker-metrics';
import { type AnalyzeRequest__Output } from '../generated/apk/apk/v1/AnalyzeRequest';
import { type AnalyzeResponse } from '../generated/apk/apk/v1/AnalyzeResponse';
import { type ThreadOutput } from './analysis-thread';
import { openNamelessFile, receiveUpload } from './receive-upload';
import { type AnalysisLimits, runAnalysis } from './run-analysis';

export interface ApkHandlerOptions extends AnalysisLimits {
  /** Uploads wait here until they are analysed. */
  readonly folder: string;
  /** Files being received or analysed; more are refused. */
  readonly uploads: number;
  /** Analyses at a time; the others wait. Each takes up to about 200 MB. */
  readonly analyses: number;
}

export interface ApkHandlers {
  Analyze(this: void, requests: AsyncIterable<AnalyzeRequest__Output>, call: Pick<WorkerCall, 'signal' | 'log'>): Promise<AnalyzeResponse>;
  /** Of the threads that analyse. */
  levels(this: void): PoolLevels;
}

/** The worker's only method. Nothing of a file outlives its call. */
export function createApkHandlers(options: ApkHandlerOptions): ApkHandlers {
  const slots = pLimit(options.analyses);
  let open = 0;
  return {
    Analyze: async (requests, { signal, log }) => {
      if (open >= options.uploads)
        throw new ServiceError('service_not_ready', { detail: 'Too many files are being analysed. Try again shortly.' });
      open++;
      try {
        const handle = await openNamelessFile(options.folder);
        try {
          const { facts } = await receiveUpload(requests, handle, signal);
          const startedAt = performance.now();
          const output = await slots(() => runAnalysis({ descriptor: handle.fd, file: facts }, options, signal));
          log.info({ bytes: facts.size, outcome: output.kind, ms: Math.round(performance.now() - startedAt) }, 'a file was analysed');
          return answer(output);
        } finally {
          await handle.close();
        }
      } finally {
        open--;
      }
    },
    levels: () => ({ waiting: slots.pendingCount, busy: slots.activeCount, size: options.analyses }),
  };
}

function answer(output: ThreadOutput): AnalyzeResponse {
  if (output.kind === 'report') return { reportJson: output.json };
  const problem = output.code === 'not_an_apk' ? 'invalid_request' : 'validation_failed';
  throw new ServiceError(problem, {
    code: output.code,
    detail: output.message,
    members: { errors: [{ field: 'file', message: output.message }] },
  });
}
