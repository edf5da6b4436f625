import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { encodeFrames, FrameDecoder } from '../../../plugins/server/wire/frames';
import { decodeRpcCall, type RpcCall } from '../../../plugins/server/wire/rpc-messages';
import { encodeRpcReturn } from '../../support/gateway/kong-messages';

/** One event as a script sees it. */
export interface ScriptedEvent {
  sequence: number;
  instanceId: number;
  socket: Socket;
  /** One plugin kit call; resolves with the reply's bytes, rejects when Kong closed instead. */
  call(method: string, args?: Uint8Array): Promise<Buffer>;
  /** Several calls in one write; replies in order. */
  batch(calls: readonly [string, Uint8Array][]): Promise<Buffer[]>;
  /** The empty frame and the RpcReturn. */
  end(): void;
  write(bytes: Uint8Array): void;
}

export interface ScriptedServer {
  path: string;
  calls: RpcCall[];
  connections: Set<Socket>;
  /** Replaced by tests at will. Default: ends at once. */
  onEvent: (event: ScriptedEvent) => void | Promise<void>;
  onStart: (call: RpcCall & { command: 'start_instance' }, socket: Socket) => void;
  close(): Promise<void>;
}

export const INSTANCE_ID = 4242;

/** A plugin server that plays what a test tells it to. */
export async function startPluginServer(): Promise<ScriptedServer> {
  const path = join(tmpdir(), `plugin-${randomUUID().slice(0, 8)}.sock`);
  const connections = new Set<Socket>();
  const scripted: ScriptedServer = {
    path,
    calls: [],
    connections,
    onEvent: (event) => event.end(),
    onStart: (call, socket) =>
      void socket.write(
        encodeFrames([
          encodeRpcReturn({ sequence: call.sequence, instanceStatus: { name: call.name, instanceId: INSTANCE_ID, startedAt: 1 } }),
        ]),
      ),
    close: async () => {
      for (const socket of connections) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
      rmSync(path, { force: true });
    },
  };
  const server = createServer((socket) => {
    connections.add(socket);
    socket.on('close', () => connections.delete(socket));
    new Conversation(socket, scripted);
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  return scripted;
}

class Conversation {
  private waiting: { resolve: (reply: Buffer) => void; reject: (error: Error) => void }[] = [];

  constructor(
    private readonly socket: Socket,
    private readonly server: ScriptedServer,
  ) {
    const decoder = new FrameDecoder((bytes, start, end) => this.frame(Buffer.from(bytes.subarray(start, end))));
    socket.on('data', (chunk) => decoder.push(chunk));
    socket.on('error', () => undefined);
    socket.on('close', () => this.waiting.splice(0).forEach((wait) => wait.reject(new Error('closed'))));
  }

  private frame(frame: Buffer): void {
    const reply = this.waiting.shift();
    if (reply !== undefined) {
      reply.resolve(frame);
      return;
    }
    const call = decodeRpcCall(frame);
    this.server.calls.push(call);
    if (call.command === 'start_instance') this.server.onStart(call, this.socket);
    if (call.command === 'handle_event') void this.run(call);
  }

  private async run(call: RpcCall & { command: 'handle_event' }): Promise<void> {
    const { socket } = this;
    const batch = (calls: readonly [string, Uint8Array][]): Promise<Buffer[]> => {
      const replies = calls.map(() => new Promise<Buffer>((resolve, reject) => this.waiting.push({ resolve, reject })));
      socket.write(encodeFrames(calls.flatMap(([method, args]) => [Buffer.from(method), args])));
      return Promise.all(replies);
    };
    const event: ScriptedEvent = {
      sequence: call.sequence,
      instanceId: call.instanceId,
      socket,
      batch,
      call: async (method, args = Buffer.alloc(0)) => (await batch([[method, args]]))[0] as Buffer,
      end: () => void socket.write(encodeFrames([Buffer.alloc(0), encodeRpcReturn({ sequence: call.sequence })])),
      write: (bytes) => void socket.write(bytes),
    };
    await Promise.resolve(this.server.onEvent(event)).catch(() => undefined);
  }
}
