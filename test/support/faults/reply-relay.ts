import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** What a gateway hears in place of a reply, and whether the connection ends then. */
export interface BrokenReply {
  readonly bytes: Uint8Array;
  readonly ends?: boolean;
}

/** Stands between a gateway and its plugin server, on unix sockets, and breaks what the server says. */
export interface ReplyRelay {
  /** Breaks every reply from now on. */
  breakReplies(how: (reply: Buffer) => BrokenReply): void;
  /** Passes everything again. Connections that had a broken reply end. */
  mend(): void;
  /** Replies that were broken so far. */
  readonly brokenCount: number;
  close(): Promise<void>;
}

/** Kong answers these calls by itself: they are what the server asks before it replies. */
const QUESTION = /^[^]{4}kong\.(?:client|nginx|request)\.get/;

export async function openReplyRelay({ path, server }: { path: string; server: string }): Promise<ReplyRelay> {
  let breakReply: ((reply: Buffer) => BrokenReply) | undefined;
  let brokenCount = 0;
  const open = new Set<Socket>();
  const spoiled = new Set<Socket>();
  const keep = (socket: Socket): void => {
    open.add(socket);
    // A vanished peer is ordinary here; `close` follows.
    socket.on('error', () => undefined).on('close', () => open.delete(socket));
  };
  const listener = createServer((gateway) => {
    const far = connect(server);
    [gateway, far].forEach(keep);
    gateway.pipe(far);
    far.on('data', (reply: Buffer) => {
      if (!breakReply || QUESTION.test(reply.toString('latin1', 0, 64))) return void gateway.write(reply);
      brokenCount++;
      spoiled.add(gateway);
      const { bytes, ends } = breakReply(reply);
      gateway.write(bytes);
      if (ends) gateway.destroySoon();
    });
    far.on('close', () => gateway.destroySoon());
    gateway.on('close', () => {
      spoiled.delete(gateway);
      far.destroy();
    });
  });
  listener.listen(path);
  await once(listener, 'listening');
  return {
    breakReplies: (how) => void (breakReply = how),
    mend() {
      breakReply = undefined;
      spoiled.forEach((gateway) => gateway.destroy());
    },
    get brokenCount() {
      return brokenCount;
    },
    async close() {
      open.forEach((socket) => socket.destroy());
      await new Promise((done) => listener.close(done));
    },
  };
}
