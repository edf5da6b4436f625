import { type Socket, connect, createServer } from 'node:net';

/** A line to a server that one node can lose while others keep theirs. */
export interface Line {
  readonly url: string;
  /** Breaks all connections and takes no new ones. */
  cut(): void;
  /** Connections stay, also new ones, and nothing passes any more: what hangs so stays so until it is cut. */
  hang(): void;
  mend(): void;
  close(): void;
}

/** @param target for example `redis://127.0.0.1:6379`; the line's URL differs in host and port alone */
export async function openLine(target: string): Promise<Line> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  let isCut = false;
  let isHung = false;
  const server = createServer((near) => {
    if (isCut) {
      near.destroy();
      return;
    }
    const far = connect(Number(port), hostname);
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        near.destroy();
        far.destroy();
        sockets.delete(socket);
      });
    }
    if (isHung) return;
    near.pipe(far);
    far.pipe(near);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const ownPort = address && typeof address === 'object' ? address.port : 0;
  const breakAll = (): void => sockets.forEach((socket) => socket.destroy());
  const url = new URL(target);
  url.host = `127.0.0.1:${ownPort}`;
  return {
    url: url.href,
    cut: () => {
      isCut = true;
      breakAll();
    },
    hang: () => {
      isHung = true;
      sockets.forEach((socket) => socket.unpipe());
    },
    mend: () => {
      isCut = false;
      isHung = false;
    },
    close: () => {
      breakAll();
      server.close();
    },
  };
}
