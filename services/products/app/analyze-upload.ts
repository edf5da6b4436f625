import { type IncomingUpload } from '../../kit/input/body-mode';
import { type CallContext } from '../../kit/service/define-service';
import { ServiceError } from '../../kit/errors';
import { type WorkerClient } from '../../kit/worker/worker-client';
import { type AnalyzeRequest } from '../../workers/generated/apk/apk/v1/AnalyzeRequest';
import { type AnalyzeResponse__Output } from '../../workers/generated/apk/apk/v1/AnalyzeResponse';
import { apkReport } from './schema';
import { type z } from 'zod';

// A type instead of an interface, because it must be a record of methods.
export type ApkWorkerMethods = { Analyze: { request: AnalyzeRequest; response: AnalyzeResponse__Output } };

/**
 * The header, then the pieces as the client sends them. Nothing is collected: a piece is read when the worker has taken the previous one.
 */
async function* requestsOf({ filename, stream }: IncomingUpload): AsyncGenerator<AnalyzeRequest> {
  yield { header: { fileName: filename ?? '' } };
  for await (const chunk of stream) yield { chunk: chunk as Buffer };
}

/**
 * Streams an upload to the worker and returns its report.
 * @throws ServiceError the worker's refusal; 502 when it fails or returns anything but a report; 504 when it takes too long
 */
export async function analyzeUpload(
  worker: WorkerClient<ApkWorkerMethods>,
  { upload, context, deadlineMs }: { upload: IncomingUpload; context: CallContext; deadlineMs: number },
): Promise<z.output<typeof apkReport>> {
  const { reportJson } = await worker.upload('Analyze', requestsOf(upload), { context, deadlineMs });
  try {
    return apkReport.parse(JSON.parse(reportJson));
  } catch (error) {
    throw new ServiceError('upstream_failed', { detail: 'The analysis worker sent an unexpected response.', cause: error });
  }
}
