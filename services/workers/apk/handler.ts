import { ServiceError } from '../../kit/errors';
import { FairLimit, ownerOf } from '../../kit/fair-limit';
import { Places, shareOfOne } from '../../kit/places';
import { type WorkerCall } from '../../kit/worker/worker-call';
import { type PoolLevels } from '../../kit/worker/worker-metrics';
import { type AnalyzeRequest__Output } from '../generated/apk/apk/v1/AnalyzeRequest';
import { type AnalyzeResponse } from '../generated/apk/apk/v1/AnalyzeResponse';
import { type AnalysisReply } from './analysis-thread';
import { openNamelessFile, receiveUpload } from './receive-upload';
import { type AnalysisLimits, runAnalysis } from './run-analysis';

export interface ApkHandlerOptions extends AnalysisLimits {
  /** Folder for uploads that wait for their analysis. */
  readonly folder: string;
  /** Maximum files received or analysed at a time; more are refused. One subscription gets at most a quarter, test keys at most half. */
  readonly uploads: number;
  /** Maximum analyses at a time. Others wait, and subscriptions take turns. Each analysis takes up to about 200 MB. */
  readonly analyses: number;
}

type ApkCall = Pick<WorkerCall, 'signal' | 'log' | 'subscriptionId' | 'mode'>;

export interface ApkHandlers {
  Analyze(this: void, requests: AsyncIterable<AnalyzeRequest__Output>, call: ApkCall): Promise<AnalyzeResponse>;
  /** Load of the pool of analysis threads. */
  levels(this: void): PoolLevels;
}

/** The worker's only method. Nothing of a file outlives its call. */
export function createApkHandlers(options: ApkHandlerOptions): ApkHandlers {
  const analyses = new FairLimit({ atOnce: options.analyses });
  const uploads = new Places({
    most: options.uploads,
    mostOfOne: shareOfOne(options.uploads),
    fullDetail: 'Too many files are being analysed. Try again shortly.',
  });
  return {
    Analyze: async (requests, call) => {
      const { signal, log } = call;
      const release = uploads.take(call);
      try {
        const handle = await openNamelessFile(options.folder);
        try {
          const { facts } = await receiveUpload(requests, handle, signal);
          const startedAt = performance.now();
          const output = await analyses.run(
            ownerOf(call),
            () => runAnalysis({ descriptor: handle.fd, file: facts, folder: options.folder }, options, signal),
            call,
          );
          log.info({ bytes: facts.size, outcome: output.kind, ms: Math.round(performance.now() - startedAt) }, 'a file was analysed');
          return answer(output);
        } finally {
          await handle.close();
        }
      } finally {
        release();
      }
    },
    levels: () => analyses.levels(),
  };
}

function answer(output: AnalysisReply): AnalyzeResponse {
  if (output.kind === 'report') return { reportJson: output.json };
  const problem = output.code === 'not_an_apk' ? 'invalid_request' : 'validation_failed';
  throw new ServiceError(problem, {
    code: output.code,
    detail: output.message,
    members: { errors: [{ field: 'file', message: output.message }] },
  });
}
