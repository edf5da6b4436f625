import { once } from 'node:events';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { type ServerLog } from '../log';
import { type AnswerPlace } from './answer-socket';

export interface HearingOptions {
  readonly listen: AnswerPlace;
  /** Takes lines with line feeds between them. */
  readonly hear: (lines: string) => void;
  readonly log: ServerLog;
}

/** Small, because it holds only the lines of a short time. */
const LIMITS = { maxYoungGenerationSizeMb: 4, maxOldGenerationSizeMb: 32 };

/**
 * Receives the gateway's access log in a thread, so that no decision waits for it.
 * @throws Error when the address cannot be used
 */
export async function hearAnswers({ listen, hear, log }: HearingOptions): Promise<{ close(): Promise<void> }> {
  const thread = new Worker(join(__dirname, 'answer-thread.js'), { workerData: listen, resourceLimits: LIMITS });
  const ended = new Promise((resolve) => thread.once('exit', resolve));
  await once(thread, 'message');
  thread.on('message', (lines: string) => hear(lines));
  thread.on('error', (err) => log.error({ err }, 'the gateway’s access log is no longer received'));
  log.info({ ...listen }, 'the gateway’s access log is received');
  return {
    async close() {
      thread.postMessage('end');
      await ended;
    },
  };
}
