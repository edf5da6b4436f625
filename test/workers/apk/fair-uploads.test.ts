import { tmpdir } from 'node:os';
import { createLog } from '../../../services/kit/log';
import { createApkHandlers } from '../../../services/workers/apk/handler';

const LIMITS = { folder: tmpdir(), threadFile: '', deadlineMs: 1_000, cpuMs: 1_000, heapMebibytes: 32, analyses: 2 };
const log = createLog('apk-worker', { level: 'silent' });
const call = (subscriptionId: string, mode: 'live' | 'test') => ({ subscriptionId, mode, log, signal: new AbortController().signal });

/** Uploads that send nothing until they are told to end, without a header. */
function slowUploads() {
  let end = (): void => undefined;
  const ended = new Promise<void>((resolve) => (end = resolve));
  async function* upload() {
    await ended;
    yield* [];
  }
  return { upload, end: () => end() };
}

it('slow uploads of one test key leave places for others, and all places are free once they have ended', async () => {
  const { Analyze } = createApkHandlers({ ...LIMITS, uploads: 16 });
  const outcomeOf = (subscription: string, mode: 'live' | 'test', upload: () => AsyncGenerator<never>) =>
    Analyze(upload(), call(subscription, mode)).then(
      () => 'analysed',
      (error: unknown) => (error instanceof Error ? error.message : 'unknown'),
    );
  const quick = slowUploads();
  quick.end();
  for (let round = 0; round < 3; round++) {
    const slow = slowUploads();
    const waiting = Array.from({ length: 4 }, () => outcomeOf('greedy', 'test', slow.upload));
    expect(await outcomeOf('greedy', 'test', quick.upload)).toBe('concurrency_exceeded');
    waiting.push(...Array.from({ length: 4 }, () => outcomeOf('second', 'test', slow.upload)));
    expect(await outcomeOf('third', 'test', quick.upload)).toBe('service_not_ready');
    expect(await outcomeOf('third', 'live', quick.upload)).toBe('invalid_request');
    slow.end();
    expect(await Promise.all(waiting)).toEqual(Array(8).fill('invalid_request'));
  }
});
