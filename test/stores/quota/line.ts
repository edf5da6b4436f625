import { type Socket, connect, createServer } from 'node:net';

/** A line to a server that one node can lose while others keep theirs. */
export interface Line {
  readonly url: string;
  /** Breaks all connections and takes no new ones. */
  cut(): void;
  mend(): void;
  close(): void;
}

/** @param target for example `redis://127.0.0.1:6379` */
export async function openLine(target: string): Promise<Line> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  let isCut = false;
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
    near.pipe(far);
    far.pipe(near);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const ownPort = address && typeof address === 'object' ? address.port : 0;
  const breakAll = (): void => sockets.forEach((socket) => socket.destroy());
  return {
    url: `redis://127.0.0.1:${ownPort}`,
    cut: () => {
      isCut = true;
      breakAll();
    },
    mend: () => void (isCut = false),
    close: () => {
      breakAll();
      server.close();
    },
  };
}
