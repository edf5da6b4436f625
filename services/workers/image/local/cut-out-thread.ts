import { parentPort, workerData } from 'node:worker_threads';
import { MIN_FOREGROUND, MAX_FOREGROUND } from '../limits';
import { loadOnnxFinder } from '../onnx/onnx-finder';
import { applyAlpha } from './apply-alpha';
import { type CutOutAnswer, type CutOutJob, type ForegroundFinder, type ThreadMethod } from '../cut-out-job';
import { loadGrabCutFinder } from './grab-cut-finder';

async function cutOut(find: ForegroundFinder, { picture, small, leastConfidence }: CutOutJob): Promise<CutOutAnswer> {
  const found = await find(small, leastConfidence);
  if (!found) return { kind: 'no_foreground' };
  if (!found.alpha) return { kind: 'unclear', confidence: found.confidence };
  const share = applyAlpha(picture.rgba, picture, { alpha: found.alpha, width: small.width, height: small.height });
  if (share < MIN_FOREGROUND || share > MAX_FOREGROUND) {
    // A method that cannot tell how clear its cut is stands by it.
    return found.confidence === null ? { kind: 'no_foreground' } : { kind: 'unclear', confidence: 0 };
  }
  return { kind: 'cut_out', rgba: picture.rgba, confidence: found.confidence };
}

/** Answers one job at a time, in the order in which they come. What fails in a job is told; what fails here ends the thread. */
function serve(method: ThreadMethod): void {
  const finder = method.kind === 'grabcut' ? loadGrabCutFinder() : loadOnnxFinder(method.model);
  parentPort?.on('message', (job: CutOutJob) => {
    void finder
      .then((find) => cutOut(find, job))
      .catch((error: unknown): CutOutAnswer => ({ kind: 'failed', message: error instanceof Error ? error.message : String(error) }))
      .then((answer) => parentPort?.postMessage(answer, answer.kind === 'cut_out' ? [answer.rgba.buffer] : []));
  });
}

serve(workerData as ThreadMethod);
