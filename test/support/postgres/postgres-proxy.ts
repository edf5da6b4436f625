import { connect, createServer, type Socket } from 'node:net';

/** A way to PostgreSQL that can be closed to connections by their application name. */
export interface PostgresProxy {
  /** The database's URL through this proxy. */
  readonly url: string;
  /** From now on connections of this application are refused; those it has are cut. Undefined: none. */
  refuse(applicationName: string | undefined): void;
  close(): Promise<void>;
}

/** The start-up message names the application; nothing after it is looked at. */
export async function startPostgresProxy(databaseUrl: string): Promise<PostgresProxy> {
  const target = new URL(databaseUrl);
  const open = new Map<Socket, string>();
  let refused: string | undefined;
  const isRefused = (startup: string): boolean => refused !== undefined && startup.includes(`application_name\0${refused}\0`);
  const server = createServer((socket) => {
    socket.on('error', () => undefined).on('close', () => open.delete(socket));
    socket.once('data', (first) => {
      const startup = first.toString('latin1');
      if (isRefused(startup)) return socket.destroy();
      open.set(socket, startup);
      const upstream = connect(Number(target.port || 5432), target.hostname);
      upstream.on('error', () => socket.destroy()).on('close', () => socket.destroy());
      socket.on('close', () => upstream.destroy());
      upstream.write(first);
      return socket.pipe(upstream).pipe(socket);
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the proxy has no port');
  const url = new URL(databaseUrl);
  url.host = `127.0.0.1:${address.port}`;
  return {
    url: url.href,
    refuse(applicationName) {
      refused = applicationName;
      for (const [socket, startup] of open) if (isRefused(startup)) socket.destroy();
    },
    close: () =>
      new Promise((done) => {
        server.close(() => done());
        for (const socket of open.keys()) socket.destroy();
      }),
  };
}
