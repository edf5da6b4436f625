import { connect, type Socket } from 'node:net';
import { closeFrame, FrameDecoder, openFrame } from '../../../plugins/server/wire/frames';
import { decodeRpcReturn, type RpcReturn } from '../../../plugins/server/wire/rpc-messages';
import { Writer } from '../../../plugins/server/wire/wire-writer';

/** Why a call got no reply. Kong reads `closed` as "instance lost". */
export type CallFailure = 'refused' | 'closed' | 'timeout' | 'invalid' | 'aborted';

/** One call in flight. */
export interface PluginCall {
  sequence: number;
  /** Writes the RpcCall message. */
  write(to: Writer): void;
  /**
   * Serves one PDK call; undefined when the call is not an event. Returns false to hold all further frames until {@link
   * PluginConnection.release}. May end the call with {@link PluginConnection.abort}.
   */
  serve: ((method: string, args: { bytes: Buffer; start: number; end: number }, reply: Writer) => boolean) | undefined;
  /** Called exactly once. `answer` arrived completely, with the sequence of this call. */
  done(failure: CallFailure | undefined, answer: RpcReturn | undefined): void;
}

/** Events of a connection, for the pool. */
export interface ConnectionWatcher {
  idle(connection: PluginConnection): void;
  gone(connection: PluginConnection): void;
  /** Called when the connection starts or stops waiting for a client's body. */
  waits(connection: PluginConnection, isWaiting: boolean): void;
}

const EXIT = Buffer.from('kong.response.exit');

type State = 'idle' | 'method' | 'arguments' | 'answer';

/** One connection to the plugin server. It runs one call at a time, like Kong. */
export class PluginConnection {
  private readonly socket: Socket;
  private readonly decoder = new FrameDecoder((bytes, start, end) => this.frame(bytes, start, end));
  private readonly out = new Writer(1024);
  private state: State = 'idle';
  private call: PluginCall | undefined;
  private answer: RpcReturn | undefined;
  private method = '';
  private held: Buffer[] | undefined;
  private replyAt = 0;
  private connected = false;
  private closed = false;

  constructor(
    options: { socketPath: string; timeoutMs: number },
    private readonly watcher: ConnectionWatcher,
  ) {
    this.socket = connect({ path: options.socketPath });
    this.socket.setTimeout(options.timeoutMs);
    this.socket.on('connect', () => (this.connected = true));
    this.socket.on('data', (chunk: Buffer) => this.receive(chunk));
    this.socket.on('timeout', () => {
      // While frames are held we wait for the client's body, which has its own time-out.
      if (this.held === undefined) this.fail('timeout');
    });
    this.socket.on('error', () => this.fail(this.connected ? 'closed' : 'refused'));
    this.socket.on('end', () => this.fail('closed'));
    this.socket.on('close', () => this.fail('closed'));
  }

  start(call: PluginCall): void {
    this.call = call;
    this.state = call.serve === undefined ? 'answer' : 'method';
    const at = openFrame(this.out);
    call.write(this.out);
    closeFrame(this.out, at);
    this.flush();
  }

  /** Ends the call and the connection, as Kong does after `response.exit` and after a failed PDK call. */
  abort(): void {
    this.fail('aborted');
  }

  /** Continues after {@link PluginCall.serve} returned false. `write` writes the reply that was waited for. */
  release(write: (to: Writer) => void): void {
    const frames = this.held;
    this.held = undefined;
    if (this.closed || frames === undefined) return;
    this.watcher.waits(this, false);
    const at = openFrame(this.out);
    write(this.out);
    closeFrame(this.out, at);
    for (const frame of frames) this.frame(frame, 0, frame.length);
    this.flush();
    this.settle();
  }

  destroy(): void {
    this.fail('closed');
  }

  private receive(chunk: Buffer): void {
    try {
      this.decoder.push(chunk);
    } catch {
      this.fail('invalid');
      return;
    }
    this.flush();
    this.settle();
  }

  private frame(bytes: Buffer, start: number, end: number): void {
    if (this.closed) return;
    if (this.held !== undefined) {
      this.hold(this.held, Buffer.from(bytes.subarray(start, end)));
      return;
    }
    switch (this.state) {
      case 'method':
        this.method = bytes.toString('latin1', start, end);
        this.state = start === end ? 'answer' : 'arguments';
        return;
      case 'arguments':
        this.state = 'method';
        this.serve(bytes, start, end);
        return;
      case 'answer':
        this.readAnswer(bytes, start, end);
        return;
      case 'idle':
        // A message without a request. Whatever such a server sends next cannot be matched to a call.
        this.fail('invalid');
    }
  }

  /**
   * Method and arguments arrive in turn. A server that ends the request while it waits for a body has decided without the body, and so does
   * this gateway; Kong would continue to read.
   */
  private hold(held: Buffer[], frame: Buffer): void {
    held.push(frame);
    if (held.length % 2 === 0 && held.at(-2)?.equals(EXIT) === true) this.release(() => undefined);
  }

  private serve(bytes: Buffer, start: number, end: number): void {
    this.replyAt = openFrame(this.out);
    const replied = this.call?.serve?.(this.method, { bytes, start, end }, this.out);
    if (this.closed) return;
    if (replied === false) {
      this.out.length = this.replyAt;
      this.held = [];
      this.watcher.waits(this, true);
      return;
    }
    closeFrame(this.out, this.replyAt);
  }

  private readAnswer(bytes: Buffer, start: number, end: number): void {
    const answer = readReturn(bytes, start, end);
    if (answer === undefined || answer.sequence !== this.call?.sequence) {
      this.fail('invalid');
      return;
    }
    this.state = 'idle';
    this.answer = answer;
  }

  /** The call ends only when its whole reply was read and all replies before it were written to the socket. */
  private settle(): void {
    const { call, answer } = this;
    if (call === undefined || answer === undefined || this.closed) return;
    this.call = undefined;
    this.answer = undefined;
    if (this.decoder.isMidFrame) this.fail('invalid');
    else this.watcher.idle(this);
    call.done(undefined, answer);
  }

  private flush(): void {
    if (this.out.length === 0 || this.closed) return;
    this.socket.write(this.out.copy());
    this.out.reset(this.out.buffer.length > 65_536);
  }

  private fail(failure: CallFailure): void {
    if (this.closed) return;
    this.closed = true;
    this.decoder.stop();
    this.socket.destroy();
    this.watcher.gone(this);
    const { call } = this;
    this.call = undefined;
    call?.done(failure, undefined);
  }
}

function readReturn(bytes: Buffer, start: number, end: number): RpcReturn | undefined {
  try {
    return decodeRpcReturn(bytes, start, end);
  } catch {
    return undefined;
  }
}
