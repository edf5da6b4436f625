import { randomBytes } from 'node:crypto';
import { type NodeStanding, readPropagation } from '../../../../services/selling/keys/read-propagation';
import { revokeKey, setKeyState } from '../../../../services/selling/keys/set-key-state';
import { newKey } from '../../../contracts/access-records';
import { eventually } from '../../../support/eventually';
import { type GatewayNode, startNode } from '../../../support/system/node';
import { expectMeasured } from '../../../support/measured';
import { openedForTests } from '../../../support/opened';
import { useDatabase } from '../../../support/postgres/use-database';
import { connect, createServer, type Socket } from 'node:net';

/** A way to PostgreSQL that can be closed to connections by their application name. */
interface PostgresProxy {
  /** The database's URL through this proxy. */
  readonly url: string;
  /** From now on connections of this application are refused; those it has are cut. Undefined: none. */
  refuse(applicationName: string | undefined): void;
  close(): Promise<void>;
}

/** The start-up message names the application; nothing after it is looked at. */
async function startPostgresProxy(databaseUrl: string): Promise<PostgresProxy> {
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

const opened = openedForTests();
const database = useDatabase();
let proxy: PostgresProxy;
let nodes: Record<'sound' | 'deaf', GatewayNode>;

beforeAll(async () => {
  proxy = await opened.keep(startPostgresProxy(database.url));
  const options = { signingKeys: `test:${randomBytes(32).toString('base64')}`, upstreams: {} };
  const [sound, deaf] = await Promise.all([
    opened.keep(startNode({ ...options, databaseUrl: database.url, name: 'sound' })),
    opened.keep(startNode({ ...options, databaseUrl: proxy.url, name: 'deaf' })),
  ]);
  nodes = { sound, deaf };
  const names = async (): Promise<number> => (await database.pool.query('SELECT 1 FROM gateway_node WHERE feed_healthy')).rowCount ?? 0;
  await eventually(async () => (await names()) === 2);
});

async function standingOf(name: keyof typeof nodes, id: string): Promise<NodeStanding | undefined> {
  return (await readPropagation(database.pool, { id })).nodes.find((node) => node.name === name);
}

describe('real nodes', () => {
  it('confirm a revocation within a second', async () => {
    const { id } = await newKey(database.pool);
    await revokeKey(database.pool, { id, actor: 'test' });
    const isConfirmed = async (name: keyof typeof nodes): Promise<boolean> => (await standingOf(name, id))?.state === 'confirmed';
    await eventually(async () => (await isConfirmed('sound')) && (await isConfirmed('deaf')));
    const { changedAt, nodes: standings } = await readPropagation(database.pool, { id });
    expect(standings.map(({ name }) => name)).toEqual(['deaf', 'sound']);
    for (const { confirmedAt } of standings) expectMeasured((confirmedAt?.getTime() ?? NaN) - (changedAt?.getTime() ?? 0), 1_000);
  });

  it('read on every request while their feed is broken, and confirm again when it is back', async () => {
    const { id } = await newKey(database.pool);
    proxy.refuse('tollgate change feed');
    await setKeyState(database.pool, { id, state: 'inactive', actor: 'test' });
    await eventually(async () => (await standingOf('deaf', id))?.state === 'reading');
    await eventually(async () => (await standingOf('sound', id))?.state === 'confirmed');
    expect(await standingOf('deaf', id)).toMatchObject({ state: 'reading' });
    proxy.refuse(undefined);
    await eventually(async () => (await standingOf('deaf', id))?.state !== 'reading');
    await revokeKey(database.pool, { id, actor: 'test' });
    await eventually(async () => (await standingOf('deaf', id))?.state === 'confirmed');
  });

  it('are gone 10 s after they stopped', async () => {
    const { id } = await newKey(database.pool);
    await nodes.deaf.stop();
    await database.pool.query("UPDATE gateway_node SET seen_at = seen_at - interval '10 seconds' WHERE name = 'deaf'");
    expect(await standingOf('deaf', id)).toMatchObject({ state: 'gone' });
    await eventually(async () => (await standingOf('sound', id))?.state !== 'gone');
  });
});
