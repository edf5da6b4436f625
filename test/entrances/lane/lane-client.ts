import { connect, type Socket } from 'node:net';
import { frame, NO_QUESTION, readFrame } from '../../../plugins/entrances/lane/frames';
import { FrameDecoder } from '../../../plugins/server/wire/frames';
import { requestVariable, type FakeRequest } from '../../access-layer/fake-kong';

export interface Heard {
  readonly kind: string;
  readonly text: string;
  /** Which question it belongs to. */
  readonly question: number;
}

/** A refusal as the Lua reads it. */
export interface HeardRefusal {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Speaks the lane as the Lua does. */
export class LaneClient {
  private readonly heard: Heard[] = [];
  private readonly waiting: ((heard: Heard) => void)[] = [];
  /** The number of the last question. */
  private asked = 0;

  private constructor(private readonly socket: Socket) {
    const hear = (heard: Heard): void => {
      const take = this.waiting.shift();
      if (take) take(heard);
      else this.heard.push(heard);
    };
    const decoder = new FrameDecoder((bytes, start, end) => hear(readFrame(bytes, start, end)));
    socket.on('data', (chunk: Buffer) => decoder.push(chunk));
    socket.on('error', () => undefined);
    socket.on('close', () => hear({ kind: 'closed', text: '', question: NO_QUESTION }));
  }

  static open(path: string): Promise<LaneClient> {
    return new Promise((resolve, reject) => {
      const socket = connect(path, () => resolve(new LaneClient(socket)));
      socket.once('error', reject);
    });
  }

  /** A new question, or a part of the last one. */
  say(kind: string, text = '', question = kind === 'q' || kind === 'w' ? ++this.asked : this.asked): void {
    this.sayBytes(frame(kind, question, text));
  }

  sayBytes(text: string): void {
    this.socket.write(text, 'latin1');
  }

  /** The next frame; its kind is `closed` when the connection ended. */
  hear(): Promise<Heard> {
    const next = this.heard.shift();
    return next ? Promise.resolve(next) : new Promise((resolve) => this.waiting.push(resolve));
  }

  /** Asks, and hears the first answer. */
  ask(route: string, request: FakeRequest): Promise<Heard> {
    this.say('q', `${route}\n${requestVariable(request)}`);
    return this.hear();
  }

  close(): void {
    this.socket.destroy();
  }
}

/** The head of a request as the Lua sends it. */
export function headText({
  headers = {},
  path = '/ip',
  query = '',
  address = '203.0.113.7',
  requestId = 'req-1',
  method = 'GET',
}: FakeRequest): string {
  const lines = Object.entries(headers).flatMap(([name, value]) => [value].flat().map((each) => `${name}:${each}`));
  return [method, address, query === '' ? path : `${path}?${query}`, query, ...lines, String(requestId)].join('\n');
}

export function readRefusal({ kind, text }: Heard): HeardRefusal {
  if (kind !== 'r') throw new Error(`no refusal: ${kind}${text}`);
  const [head = '', rest = ''] = text.split('\n\n');
  const [status, ...lines] = head.split('\n');
  const headers = Object.fromEntries(lines.map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1)]));
  return { status: Number(status), headers, body: rest.slice(0, rest.indexOf('\n')) };
}
