import { type Channel, sendTo } from '../workers/asking';

/**
 * Lines of the gateway's access log, passed between the parent of workers and a worker. Each worker finds its own requests among the lines.
 */
interface AnswersMessage {
  readonly tollgate: 'answers';
  readonly lines: string;
}

/** Milliseconds for which lines to the parent gather. A message for each line would cost more than the rest of a decision. */
const GATHER_MS = 50;

function send(channel: Channel, lines: string): void {
  sendTo(channel, { tollgate: 'answers', lines } satisfies AnswersMessage);
}

/** From the parent to every worker. */
export function passToAll(workers: readonly Channel[], lines: string): void {
  for (const worker of workers) send(worker, lines);
}

/** @param hear takes the lines that the other end of the channel passes on */
export function hearOther(channel: Channel, hear: (lines: string) => void): void {
  channel.on('message', (message) => {
    const { tollgate, lines } = (message ?? {}) as Partial<AnswersMessage>;
    if (tollgate === 'answers' && typeof lines === 'string') hear(lines);
  });
}

/** From a worker to the parent, which passes them to all workers: lines about requests on which another worker may have decided. */
export function passToParent(parent: Channel): (line: string) => void {
  let waiting: string[] = [];
  const pass = (): void => {
    send(parent, waiting.join('\n'));
    waiting = [];
  };
  return (line) => {
    if (line === '') return;
    if (waiting.length === 0) setTimeout(pass, GATHER_MS).unref();
    waiting.push(line);
  };
}
