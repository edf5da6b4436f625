import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { codeOf } from '../../kit/error-code';
import { type Json } from '../document-parts';
import { type ThreadInput, type ThreadOutput } from './document-thread';

const COMPILED = join(__dirname, 'document-thread.js');
/** The compiled file beside the sources, else the one in dist/. */
const THREAD = existsSync(COMPILED) ? COMPILED : join(__dirname, '../../../dist/services/openapi/own-document/document-thread.js');

/** YAML of 3 MB takes 8 s of CPU on a slow machine. */
const DEADLINE_MS = 120_000;
const HEAP_MEBIBYTES = 1_024;
const TOO_MUCH = 'it takes more memory or time to read than a document may';

/**
 * Reads an OpenAPI document in a thread of its own: a large or hostile one keeps nobody else waiting.
 * @returns the document in its normal form
 * @throws Error with why it cannot be used, in words for the seller
 */
export function readInThread(input: ThreadInput): Promise<Json> {
  return new Promise((resolve, reject) => {
    const thread = new Worker(THREAD, {
      workerData: input,
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MEBIBYTES },
      env: {},
    });
    const timer = setTimeout(() => {
      reject(new Error(TOO_MUCH));
      void thread.terminate();
    }, DEADLINE_MS);
    thread.once('message', (output: ThreadOutput) =>
      'json' in output ? resolve(JSON.parse(output.json) as Json) : reject(new Error(output.problem)),
    );
    thread.once('error', (error) => reject(codeOf(error) === 'ERR_WORKER_OUT_OF_MEMORY' ? new Error(TOO_MUCH) : error));
    // After a message this has no effect.
    thread.once('exit', () => {
      clearTimeout(timer);
      reject(new Error(TOO_MUCH));
    });
  });
}
