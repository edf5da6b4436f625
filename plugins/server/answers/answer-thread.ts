import { parentPort, workerData } from 'node:worker_threads';
import { type AnswerPlace, AnswerSocket } from './answer-socket';

/** Milliseconds for which datagrams gather in the kernel. Responses become known that much later. */
const NAP_MS = 20;

const asleep = new Int32Array(new SharedArrayBuffer(4));

/** Receives the gateway's access log in its own thread, which may sleep. Posts 'ready', then lines. Any message ends the thread. */
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
