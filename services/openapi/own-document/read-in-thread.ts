import { join } from 'node:path';
import { runInThread } from '../../kit/run-in-thread';
import { type Json } from '../document-parts';
import { type DocumentInput, type DocumentOutput } from './document-thread';

/** YAML of 3 MB takes 8 s of CPU on a slow machine. */
const BOUNDS = { deadlineMs: 120_000, heapMebibytes: 1_024, tooMuch: 'it takes more memory or time to read than a document may' };

/**
 * Reads an OpenAPI document in a thread of its own, so that a large or hostile document delays nothing else.
 * @returns the document in its normal form
 * @throws Error with the reason why it cannot be used, in words for the seller
 */
export async function readInThread(input: DocumentInput): Promise<Json> {
  const output = await runInThread<DocumentOutput>(join(__dirname, 'document-thread'), input, BOUNDS);
  if ('problem' in output) throw new Error(output.problem);
  return JSON.parse(output.json) as Json;
}
