import { parentPort, workerData } from 'node:worker_threads';
import { bundleFolder } from './bundle-folder';
import { normalForm } from './normal-form';
import { MAX_DOCUMENT_BYTES, readDocumentText } from './read-document-text';

/** Input of the thread: a text, and the path of the file from which it was read, if any. */
export interface ThreadInput {
  readonly text: string;
  readonly file: string | undefined;
}

/** Paths to which others refer are copied into each of them. Documents of public APIs are hardly longer in their normal form. */
const MAX_NORMAL_LENGTH = 4 * MAX_DOCUMENT_BYTES;

/** The thread's only message: the document as JSON, or the reason why it cannot be used. */
export type ThreadOutput = { readonly json: string } | { readonly problem: string };

async function read({ text, file }: ThreadInput): Promise<ThreadOutput> {
  try {
    const document = readDocumentText(text);
    const json = JSON.stringify(normalForm(file === undefined ? document : await bundleFolder(document, file)));
    if (json.length > MAX_NORMAL_LENGTH) return { problem: 'what it refers to makes it too long when written out' };
    return { json };
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) };
  }
}

void read(workerData as ThreadInput).then((output) => parentPort?.postMessage(output));
