import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { answerLineIn } from '../../core/access/answer-line';

export interface AnswerPlace {
  readonly host: string;
  readonly port: number;
}

export interface AnswerSocketOptions {
  readonly listen: AnswerPlace;
  /** Takes the datagrams of a short period at once, as lines with line feeds between them. */
  readonly hear: (lines: string) => void;
  /** Sleeps between reads. Without it, each datagram is read as it arrives. */
  readonly nap?: (() => void) | undefined;
}

/** Bytes that the kernel should keep until they are read. It may give less (net.core.rmem_max). */
const BUFFER_BYTES = 4 * 1024 * 1024;
/** libuv reads at most this many before it does anything else. */
const AT_ONCE = 32;

/** Receives the gateway's access log: one datagram for each request. No request waits for it. */
export class AnswerSocket {
  private lines: string[] = [];
  /** Number of datagrams read, and the number at the last look. */
  private read = 0;
  private seen = 0;
  private isLooking = false;

  private constructor(
    private readonly socket: Socket,
    private readonly options: AnswerSocketOptions,
  ) {
    socket.on('message', (datagram) => this.take(answerLineIn(datagram)));
    // A datagram that cannot be read is lost, like others that may be.
    socket.on('error', () => undefined);
  }

  /** @throws Error when the address cannot be used */
  static async open(options: AnswerSocketOptions): Promise<AnswerSocket> {
    const { host, port } = options.listen;
    const socket = createSocket({ type: host.includes(':') ? 'udp6' : 'udp4', recvBufferSize: BUFFER_BYTES });
    socket.bind({ address: host, port, exclusive: true });
    await once(socket, 'listening');
    return new AnswerSocket(socket, options);
  }

  /** The port, for a socket that was opened with 0. */
  get port(): number {
    return this.socket.address().port;
  }

  async close(): Promise<void> {
    const closed = once(this.socket, 'close');
    this.socket.close();
    await closed;
    this.tell();
  }

  private take(line: string | undefined): void {
    this.read += 1;
    if (line !== undefined) this.lines.push(line);
    if (this.isLooking) return;
    this.isLooking = true;
    setImmediate(() => this.look());
  }

  /**
   * Keeps reading as long as there may be more. Then the next datagrams gather in the kernel: waking up for each would cost ten times as
   * much.
   */
  private look(): void {
    const isFull = this.read - this.seen >= AT_ONCE;
    this.seen = this.read;
    if (isFull) {
      setImmediate(() => this.look());
      return;
    }
    this.isLooking = false;
    this.tell();
    this.options.nap?.();
  }

  private tell(): void {
    const { lines } = this;
    this.lines = [];
    if (lines.length > 0) this.options.hear(lines.join('\n'));
  }
}
