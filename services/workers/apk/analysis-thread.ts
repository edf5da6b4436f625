import { parentPort, workerData } from 'node:worker_threads';
import { analyzeApk } from './analyze-apk';
import { ApkRefused } from './apk-error';
import { FileSource } from './bytes/byte-source';
import { LIMITS } from './limits';
import { type FileFacts } from './report';
import { ownTask } from './thread-cpu';

/** Input of the thread. Threads share the process's open files. */
export interface AnalysisTask {
  readonly descriptor: number;
  readonly file: FileFacts;
  /** Folder into which APKs inside the file are unpacked. */
  readonly folder: string;
}

/** The thread's first message: its id in the kernel, by which its CPU time is read, if the id is known. */
export interface ThreadStarted {
  readonly kind: 'started';
  readonly task: string | undefined;
}

/** The thread's last message, posted once. An unforeseen error ends the thread instead. */
export type AnalysisReply =
  | { readonly kind: 'report'; readonly json: string }
  | { readonly kind: 'refused'; readonly code: ApkRefused['code']; readonly message: string };

async function analyze({ descriptor, file, folder }: AnalysisTask): Promise<AnalysisReply> {
  try {
    const json = JSON.stringify(await analyzeApk({ source: new FileSource(descriptor, file.size), file, folder }));
    if (json.length > LIMITS.reportCharacters) throw new ApkRefused('apk_too_complex', 'The app declares more than a report can hold.');
    return { kind: 'report', json };
  } catch (error) {
    if (error instanceof ApkRefused) return { kind: 'refused', code: error.code, message: error.message };
    throw error;
  }
}

parentPort?.postMessage({ kind: 'started', task: ownTask() } satisfies ThreadStarted);
void analyze(workerData as AnalysisTask).then((output) => parentPort?.postMessage(output));
