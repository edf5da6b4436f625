import { setTimeout as sleep } from 'node:timers/promises';
import { type Pool } from 'pg';
import { hashApiKey } from '../../../../plugins/core/access/api-key';
import { AccessRecordCache } from '../../../../plugins/stores/cache/access-record-cache';
import { type Change } from '../../../../plugins/stores/cache/change-feed';
import { KnownHashes } from '../../../../plugins/stores/cache/known-hashes';
import { PostgresChangeFeed } from '../../../../plugins/stores/postgres/nodes/change-feed';
import { createPostgresHashSource } from '../../../../plugins/stores/postgres/access-record/list-hashes';
import { rotateKey } from '../../../../services/selling/keys/rotate-key';
import { createPostgresAccessRecords } from '../../../../plugins/stores/postgres/access-record/find-access-record';
import { revokeKey } from '../../../../services/selling/keys/set-key-state';
import { describeAccessRecords, newKey } from '../../../contracts/access-records';
import { eventually } from '../../../support/eventually';
import { useDatabase } from '../../../support/postgres/use-database';
import { openFaultProxy } from '../../../support/faults/fault-proxy';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** What a pooler in transaction mode does to a connection that listens. */
interface Pooler {
  readonly url: string;
  /** Connections made through it so far. */
  connections(): number;
  close(): Promise<void>;
}

const NOTIFICATION = 'A'.charCodeAt(0);
const BACKEND_KEY = 'K'.charCodeAt(0);

/** Announces a process of its own and lets notifications get lost, as a server connection that nobody holds does. */
function rewrite(message: Buffer): Buffer {
  if (message[0] === NOTIFICATION) return Buffer.alloc(0);
  if (message[0] === BACKEND_KEY) message.writeInt32BE(0x7abc_def0, 5);
  return message;
}

function forwardMessages(from: Socket, to: Socket): void {
  let rest = Buffer.alloc(0);
  from.on('data', (chunk: Buffer) => {
    rest = Buffer.concat([rest, chunk]);
    while (rest.length >= 5 && rest.length > rest.readInt32BE(1)) {
      const end = 1 + rest.readInt32BE(1);
      to.write(rewrite(Buffer.from(rest.subarray(0, end))));
      rest = rest.subarray(end);
    }
  });
}

/** @param url of the database, without TLS */
async function openPooler(url: string): Promise<Pooler> {
  const target = new URL(url);
  const sockets = new Set<Socket>();
  let connections = 0;
  const server = createServer((client) => {
    connections++;
    const database = connect(Number(target.port), target.hostname);
    for (const [one, other] of [
      [client, database],
      [database, client],
    ] as const) {
      sockets.add(one);
      one.on('error', () => other.destroy()).on('close', () => other.destroy());
    }
    client.pipe(database);
    forwardMessages(database, client);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const through = new URL(url);
  through.hostname = '127.0.0.1';
  through.port = String((server.address() as AddressInfo).port);
  return {
    url: through.href,
    connections: () => connections,
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/** The longest that any node may honour a revoked key. */
const ONE_SECOND_MS = 1_000;
/** What a server that only waits for its turn may take. Nothing is tested of it but that the tests need not be quick. */
const PATIENCE_MS = 120_000;

const database = useDatabase();
let pool: Pool;
let feed: PostgresChangeFeed;
let cache: AccessRecordCache;
let told: Change[];
const healthy = (): Promise<void> => eventually(() => feed.isHealthy());
const killConnections = () =>
  pool.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE application_name = 'tollgate change feed' AND datname = current_database()`,
  );

beforeAll(() => void ({ pool } = database));
beforeEach(async () => {
  told = [];
  feed = new PostgresChangeFeed({ url: database.url, abandonMs: PATIENCE_MS });
  feed.subscribe((change) => told.push(change));
  const deadlines = { rereadDeadlineMs: PATIENCE_MS, coldDeadlineMs: PATIENCE_MS };
  cache = new AccessRecordCache({ source: createPostgresAccessRecords(pool), feed, ...deadlines });
  await healthy();
});
afterEach(async () => {
  cache.close();
  await feed.close();
});

/** Resolves once everything committed so far has been told. */
const settle = (): Promise<void> => eventually(() => feed.caughtUp());

describeAccessRecords('the cache over PostgreSQL', () => ({ records: cache, pool, settle }));

describe('the change feed', () => {
  it('announces a gap before it is healthy, then each change', async () => {
    expect(told[0]).toEqual({ kind: 'gap' });
    expect(told).toHaveLength(1);
    const { id, customerId, hash } = await newKey(pool);
    // No other test looks at the plans of this product.
    await pool.query("UPDATE plan SET daily = daily + 1 WHERE product_id = 'api-seo'");
    await settle();
    expect(told).toEqual(
      expect.arrayContaining([
        { kind: 'credential', id, at: expect.any(String), hash: hash.slice(0, 16) },
        { kind: 'customer', id: customerId },
        { kind: 'everything', isCatalogue: true },
      ]),
    );
  });

  it('takes a message that it cannot read for a change of everything', async () => {
    for (const payload of ['', 'nonsense', 'null', '{"credential":7}', '{"somewhat":"new"}'])
      await pool.query('SELECT pg_notify($1, $2)', ['tollgate_changes', payload]);
    await settle();
    expect(told.slice(1)).toEqual(Array(5).fill({ kind: 'everything' }));
  });

  it('has told everything that was committed before the call once it says that it is caught up', async () => {
    for (let count = 0; count < 20; count++) {
      const { id } = await newKey(pool);
      expect(await feed.caughtUp()).toBe(true);
      expect(told).toContainEqual(expect.objectContaining({ kind: 'credential', id }));
    }
  });

  it('is not caught up while its server does not answer', async () => {
    const line = await openFaultProxy(database.url);
    const hung = new PostgresChangeFeed({ url: line.url });
    await eventually(() => hung.isHealthy());
    line.setMode('hang');
    expect(await hung.caughtUp()).toBe(false);
    await hung.close();
    await line.close();
  });

  it('comes back by itself after its connection was killed, and announces the gap', async () => {
    await killConnections();
    await eventually(() => told.filter(({ kind }) => kind === 'gap').length >= 2);
    await healthy();
  });
});

describe('with a real feed', () => {
  it('honours no revoked key a second after the revocation was committed', async () => {
    const { id, hash } = await newKey(pool);
    await settle();
    // From memory: the cache honours it without asking.
    await eventually(async () => {
      const { hits } = cache.stats();
      expect(await cache.findAccessRecord(hash)).toMatchObject({ state: 'active' });
      return cache.stats().hits > hits;
    });
    await revokeKey(pool, { id, actor: 'test' });
    await sleep(ONE_SECOND_MS);
    expect(await cache.findAccessRecord(hash)).toMatchObject({ state: 'revoked' });
  });

  it('finds a new key at once on every node that knows all hashes, and asks nothing for a key that does not exist', async () => {
    const feeds = [0, 1].map(() => new PostgresChangeFeed({ url: database.url }));
    const nodes = feeds.map((each) => {
      const hashes = new KnownHashes({ source: createPostgresHashSource(pool), feed: each });
      return { hashes, cache: new AccessRecordCache({ source: createPostgresAccessRecords(pool), feed: each, hashes }) };
    });
    await eventually(() => feeds.every((each) => each.isHealthy()) && nodes.every(({ hashes }) => hashes.stats().isComplete));
    for (let count = 0; count < 50; count++) {
      const { hash, id } = await newKey(pool);
      for (const node of nodes) expect(await node.cache.findAccessRecord(hash)).toMatchObject({ credentialId: id });
      const second = await rotateKey(pool, { id, actor: 'test' });
      for (const node of nodes)
        expect(await node.cache.findAccessRecord(hashApiKey(second.key))).toMatchObject({ credentialId: second.id });
    }
    const reads = (): number => nodes.reduce((sum, node) => sum + node.cache.stats().reads, 0);
    const before = reads();
    for (let count = 0; count < 200; count++) {
      for (const node of nodes) expect(await node.cache.findAccessRecord(hashApiKey(`unknown ${count}`))).toBeUndefined();
    }
    expect(reads() - before).toBeLessThan(5);
    for (const node of nodes) {
      node.cache.close();
      node.hashes.close();
    }
    for (const each of feeds) await each.close();
  });

  it('does not honour a key that was revoked while its connection was gone', async () => {
    const { id, hash } = await newKey(pool);
    await settle();
    await cache.findAccessRecord(hash);
    await killConnections();
    await revokeKey(pool, { id, actor: 'test' });
    await sleep(ONE_SECOND_MS);
    expect(await cache.findAccessRecord(hash)).toMatchObject({ state: 'revoked' });
    await settle();
    expect(await cache.findAccessRecord(hash)).toMatchObject({ state: 'revoked' });
  });

  it('does not honour a revoked key behind a pooler, through which nothing is told', async () => {
    const pooler = await openPooler(database.url);
    const pooled = new PostgresChangeFeed({ url: pooler.url });
    const behind = new AccessRecordCache({ source: createPostgresAccessRecords(pool), feed: pooled });
    try {
      const { id, hash } = await newKey(pool);
      await eventually(() => pooled.isHealthy() || pooler.connections() > 1);
      await behind.findAccessRecord(hash);
      await revokeKey(pool, { id, actor: 'test' });
      await sleep(ONE_SECOND_MS);
      expect(await behind.findAccessRecord(hash)).toMatchObject({ state: 'revoked' });
      expect(pooled.isHealthy()).toBe(false);
    } finally {
      behind.close();
      await pooled.close();
      await pooler.close();
    }
  });
});
