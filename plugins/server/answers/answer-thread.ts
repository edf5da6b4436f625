import { parentPort, workerData } from 'node:worker_threads';
import { type AnswerPlace, AnswerSocket } from './answer-socket';

/** For so long datagrams gather in the kernel, and answers are known later. */
const NAP_MS = 20;

const asleep = new Int32Array(new SharedArrayBuffer(4));

/** Hears the gateway's access log in a thread of its own, which may sleep. Posts 'ready', then lines; at any message it ends. */
async function main(): Promise<void> {
  const listen = workerData as AnswerPlace;
  const hear = (lines: string): void => parentPort?.postMessage(lines);
  const socket = await AnswerSocket.open({ listen, hear, nap: () => void Atomics.wait(asleep, 0, 0, NAP_MS) });
  parentPort?.once('message', () => void socket.close());
  parentPort?.postMessage('ready');
}

main().catch((error: unknown) => {
  throw error;
});
