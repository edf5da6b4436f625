import { type Channel } from '../workers/asking';

/** What the parent of workers heard of the gateway; each worker finds its own requests among them. */
interface AnswersMessage {
  readonly tollgate: 'answers';
  readonly lines: string;
}

/** To a worker. */
export function passAnswers(worker: Channel, lines: string): void {
  worker.send?.({ tollgate: 'answers', lines } satisfies AnswersMessage);
}

/** In a worker. @param hear told of the lines that the parent passes on */
export function hearParent(parent: Channel, hear: (lines: string) => void): void {
  parent.on('message', (message) => {
    const { tollgate, lines } = (message ?? {}) as Partial<AnswersMessage>;
    if (tollgate === 'answers' && typeof lines === 'string') hear(lines);
  });
}
