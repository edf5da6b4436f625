/** A question over the channel between parent and worker, and its reply. Other messages are ignored. */
type Message = { readonly tollgate: 'ask'; readonly id: number; readonly question: unknown } | Answer;
interface Answer {
  readonly tollgate: 'answer';
  readonly id: number;
  readonly value: unknown;
}

/** One end of a channel between processes: `process`, or a worker from its parent's side. */
export interface Channel {
  send?(message: object, sent: (error: Error | null) => void): unknown;
  on(event: 'message', listener: (message: unknown) => void): unknown;
}

/**
 * Sends to the other end. A message to a process that has just ended is lost. Without a callback, Node would report that as an `error`
 * event of the channel, which ends this process too: the parent of all workers would end because one of them died.
 */
export function sendTo(channel: Channel, message: object): void {
  channel.send?.(message, () => undefined);
}

export type Ask = (question: object) => Promise<unknown>;

function isMessage(message: unknown): message is Message {
  return typeof message === 'object' && message !== null && 'tollgate' in message && 'id' in message;
}

/**
 * Lets both ends ask and reply. A question to a process that ends never gets a reply.
 * @param answer returns the value for a question of the other end; undefined is a value
 */
export function openChannel(channel: Channel, answer: (question: unknown) => unknown): Ask {
  const waiting = new Map<number, (value: unknown) => void>();
  let asked = 0;
  channel.on('message', (message) => {
    if (!isMessage(message)) return;
    if (message.tollgate === 'answer') {
      waiting.get(message.id)?.(message.value);
      waiting.delete(message.id);
      return;
    }
    const { id } = message;
    void Promise.resolve(answer(message.question)).then((value) => sendTo(channel, { tollgate: 'answer', id, value } satisfies Answer));
  });
  return (question) =>
    new Promise((resolve) => {
      const id = ++asked;
      waiting.set(id, resolve);
      sendTo(channel, { tollgate: 'ask', id, question } satisfies Message);
    });
}
