import { connect, type Socket } from 'node:net';
import { encodeFrames, FrameDecoder } from '../../plugins/server/wire/frames';
import { encodeString, type ExitArgs } from '../../plugins/server/wire/pdk-messages';
import { decodeRpcReturn, encodeRpcCall, type RpcCall, type RpcReturn } from '../../plugins/server/wire/rpc-messages';
import { decodeExitArgs } from '../../kong/local/plugin/pdk-decoders';
import { encodeRawBodyResult, encodeStruct } from '../support/gateway/kong-messages';

export interface RecordedCall {
  method: string;
  args: Buffer;
}

/** How one event went, seen from Kong. */
export interface EventRecord {
  calls: RecordedCall[];
  /** The methods that came before Kong answered anything, then those after the first answers, and so on. */
  exchanges: string[][];
  exit?: ExitArgs;
  /** The closing answer; absent when the request was ended by `response.exit` or the connection. */
  answer?: RpcReturn;
  closedByServer: boolean;
}

/** A reply to a PDK call; `undefined` answers nothing, as a Kong that waits for a slow client does. */
export type Reply = Buffer | ((args: Buffer) => Buffer | undefined);

export const usualReplies: Record<string, Reply> = {
  'kong.request.get_headers': encodeStruct({ host: 'api.test', 'x-api-key': 'tg_test_1', accept: ['a/b', 'c/d'] }),
  'kong.request.get_raw_query': encodeString('a=1&b=2'),
  'kong.request.get_raw_body': encodeRawBodyResult({ content: Buffer.from('k=v') }),
  'kong.client.get_forwarded_ip': encodeString('203.0.113.7'),
  'kong.nginx.get_var': (args) => Buffer.from(args),
};

type Command = Exclude<RpcCall, { command: 'unknown' }>;
/** Omit that keeps the members of a union apart. */
type Unnumbered<T> = T extends { sequence: number } ? Omit<T, 'sequence'> : never;

/** Kong's side of one connection to a plugin server: one call at a time, and the connection closed after `response.exit`. */
export class ScriptedKong {
  private readonly decoder = new FrameDecoder((bytes, start, end) => this.onFrame(Buffer.from(bytes.subarray(start, end))));
  private sequence = 1;
  private frames: Buffer[] = [];
  private waiting: (() => void) | undefined;
  closed = false;

  private constructor(readonly socket: Socket) {
    socket.on('data', (chunk) => this.decoder.push(Buffer.from(chunk)));
    socket.on('error', () => {});
    socket.on('close', () => this.wake({ closed: true }));
    socket.on('end', () => this.wake({ closed: true }));
  }

  static connect(socketPath: string): Promise<ScriptedKong> {
    return new Promise((resolve, reject) => {
      const socket = connect(socketPath);
      socket.once('error', reject);
      socket.once('connect', () => {
        socket.off('error', reject);
        resolve(new ScriptedKong(socket));
      });
    });
  }

  /** Sends bytes as they are, in as many writes as there are arguments. */
  async sendRaw(...chunks: Buffer[]): Promise<void> {
    for (const chunk of chunks) {
      await new Promise<void>((resolve) => this.socket.write(chunk, () => resolve()));
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  /** Sends a call and leaves the reading to the caller; returns its sequence. */
  send(call: Unnumbered<Command>): number {
    const sequence = this.sequence++;
    this.socket.write(encodeFrames([encodeRpcCall({ ...call, sequence })]));
    return sequence;
  }

  /** A call that is answered with one frame. @throws Error when the server closes instead */
  async ask(call: Unnumbered<Command>): Promise<RpcReturn> {
    this.send(call);
    const frame = await this.nextFrame();
    if (!frame) throw new Error('closed');
    return decodeRpcReturn(frame);
  }

  /** @returns the id of the new instance */
  async startInstance(config: object | string, name = 'echo'): Promise<number> {
    const json = typeof config === 'string' ? config : JSON.stringify(config);
    const answer = await this.ask({ command: 'start_instance', name, config: Buffer.from(json) });
    if (!answer.instanceStatus) throw new Error('no instance in the answer');
    return answer.instanceStatus.instanceId;
  }

  /** Runs one event as Kong does. `replies` replace the usual ones; writes are answered with an empty frame. */
  async event(instanceId: number, replies: Record<string, Reply | undefined> = {}, eventName = 'access'): Promise<EventRecord> {
    this.send({ command: 'handle_event', instanceId, eventName });
    return this.serveEvent(replies);
  }

  /** The rest of {@link event}, after a call that the test sent itself. */
  async serveEvent(replies: Record<string, Reply | undefined> = {}): Promise<EventRecord> {
    const record: EventRecord = { calls: [], exchanges: [], closedByServer: false };
    const table = { ...usualReplies, ...replies };
    let exchange: string[] = [];
    const out: Buffer[] = [];
    const endExchange = (): void => {
      if (exchange.length > 0) record.exchanges.push(exchange);
      exchange = [];
      this.reply(out.splice(0));
    };
    for (;;) {
      if (this.frames.length === 0) endExchange();
      const name = await this.nextFrame();
      const args = name && (await this.nextFrame());
      if (!args) return { ...record, closedByServer: true };
      const method = name.toString();
      if (method === '') {
        endExchange();
        return { ...record, answer: decodeRpcReturn(args) };
      }
      record.calls.push({ method, args });
      exchange.push(method);
      if (method === 'kong.response.exit') {
        endExchange();
        this.socket.destroy();
        return { ...record, exit: decodeExitArgs(args) };
      }
      const reply = method in table ? table[method] : Buffer.alloc(0);
      const bytes = typeof reply === 'function' ? reply(args) : reply;
      if (bytes) out.push(bytes);
    }
  }

  destroy(): void {
    this.socket.destroy();
  }

  private reply(replies: Buffer[]): void {
    if (replies.length > 0) this.socket.write(encodeFrames(replies));
  }

  private onFrame(frame: Buffer): void {
    this.frames.push(frame);
    this.wake({ closed: false });
  }

  private wake(now: { closed: boolean }): void {
    if (now.closed) this.closed = true;
    this.waiting?.();
  }

  /** The next frame, or undefined once the server has closed. */
  async nextFrame(): Promise<Buffer | undefined> {
    while (this.frames.length === 0 && !this.closed) await this.somethingNew();
    return this.frames.shift();
  }

  /** Resolves once the server has ended the connection. */
  async untilClosed(): Promise<void> {
    while (!this.closed) await this.somethingNew();
  }

  private async somethingNew(): Promise<void> {
    await new Promise<void>((resolve) => (this.waiting = resolve));
    this.waiting = undefined;
  }
}
