import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { answerLineIn } from '../../core/access/answer-line';
import { type ServerLog } from '../log';

export interface AnswerSocketOptions {
  readonly listen: { readonly host: string; readonly port: number };
  /** Told of what came within a moment, at once: lines with line feeds between them. */
  readonly hear: (lines: string) => void;
  readonly log: ServerLog;
}

/** What the kernel keeps while this process is busy; it gives what it may (net.core.rmem_max). */
const BUFFER_BYTES = 4 * 1024 * 1024;
/** Lines of a moment travel together, to the worker processes too. */
const MOMENT_MS = 20;

/** Hears the gateway's access log: one datagram a request, which nobody waits for. */
export class AnswerSocket {
  private lines: string[] = [];
  private timer: NodeJS.Timeout | undefined;

  private constructor(
    private readonly socket: Socket,
    private readonly options: AnswerSocketOptions,
  ) {
    socket.on('message', (datagram) => this.take(answerLineIn(datagram)));
    socket.on('error', (err) => options.log.error({ err }, 'the gateway’s access log could not be read'));
  }

  /** @throws Error when the address cannot be had */
  static async open(options: AnswerSocketOptions): Promise<AnswerSocket> {
    const { host, port } = options.listen;
    const socket = createSocket({ type: host.includes(':') ? 'udp6' : 'udp4', recvBufferSize: BUFFER_BYTES });
    socket.bind({ address: host, port, exclusive: true });
    await once(socket, 'listening');
    options.log.info({ host, port: socket.address().port }, 'the gateway’s access log is heard');
    return new AnswerSocket(socket, options);
  }

  /** The port, for a socket that was given 0. */
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
    if (line === undefined) return;
    this.lines.push(line);
    this.timer ??= setTimeout(() => this.tell(), MOMENT_MS);
  }

  private tell(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    const { lines } = this;
    this.lines = [];
    if (lines.length > 0) this.options.hear(lines.join('\n'));
  }
}
