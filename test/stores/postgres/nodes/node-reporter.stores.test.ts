import { type Pool } from 'pg';
import { type Change, type ChangeFeed } from '../../../../plugins/stores/cache/change-feed';
import { NodeReporter, type NodeReporterOptions } from '../../../../plugins/stores/postgres/nodes/node-reporter';
import { countNodes, readNodes } from '../../../../services/selling/operators/read-nodes';
import { readPropagation } from '../../../../services/selling/keys/read-propagation';
import { revokeKey, setKeyState } from '../../../../services/selling/keys/set-key-state';
import { newKey } from '../../../contracts/access-records';
import { eventually } from '../../../support/eventually';
import { useDatabase } from '../../../support/postgres/use-database';

const database = useDatabase();
let pool: Pool;
const reporters: NodeReporter[] = [];
beforeAll(() => void ({ pool } = database));
afterEach(async () => {
  for (const reporter of reporters.splice(0)) await reporter.close();
  await pool.query('DELETE FROM gateway_node');
});

/** A feed that says what a test has it say. */
class ScriptedFeed implements ChangeFeed {
  healthyAt = performance.now();
  healthy = true;
  private readonly listeners = new Set<(change: Change) => void>();

  isHealthy = (): boolean => this.healthy;
  lastHealthyAt = (): number => this.healthyAt;
  caughtUp = (): Promise<boolean> => Promise.resolve(this.healthy);
  subscribe(listener: (change: Change) => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }
  tell(change: Change): void {
    for (const listener of this.listeners) listener(change);
  }
}

async function report(feed: ChangeFeed, options: Partial<NodeReporterOptions> = {}): Promise<NodeReporter> {
  const reporter = new NodeReporter({ pool, feed, name: 'node-a', collectMs: 5, ...options });
  reporters.push(reporter);
  await eventually(async () => ((await pool.query('SELECT 1 FROM gateway_node WHERE id = $1', [reporter.id])).rowCount ?? 0) > 0);
  return reporter;
}

const stateOf = async (id: string): Promise<string | undefined> => (await readPropagation(pool, { id })).nodes[0]?.state;
const untilState = (id: string, state: string): Promise<void> => eventually(async () => (await stateOf(id)) === state);
const toldAt = async (id: string): Promise<string> =>
  (await pool.query('SELECT at::text FROM audit_log WHERE subject_id = $1 ORDER BY id DESC LIMIT 1', [id])).rows[0].at;

describe('what a node tells of itself', () => {
  it('is pending after a change, and confirmed once the feed has told that change', async () => {
    const { id } = await newKey(pool);
    const feed = new ScriptedFeed();
    await report(feed);
    expect(await readPropagation(pool, { id })).toMatchObject({ changedAt: null, nodes: [{ name: 'node-a', state: 'confirmed' }] });
    await setKeyState(pool, { id, state: 'inactive', actor: 'test' });
    const first = await toldAt(id);
    expect(await stateOf(id)).toBe('pending');
    await revokeKey(pool, { id, actor: 'test' });
    // The earlier change: it says nothing about the later one.
    feed.tell({ kind: 'credential', id, at: first });
    await eventually(
      async () => ((await pool.query('SELECT 1 FROM change_confirmation WHERE credential_id = $1', [id])).rowCount ?? 0) > 0,
    );
    expect(await stateOf(id)).toBe('pending');
    feed.tell({ kind: 'credential', id, at: await toldAt(id) });
    await untilState(id, 'confirmed');
    const { changedAt, nodes } = await readPropagation(pool, { id });
    expect(nodes[0]?.confirmedAt?.getTime()).toBeGreaterThanOrEqual(changedAt?.getTime() ?? Infinity);
  });

  it('is confirmed some seconds later when a change told nobody, such as rules that stayed the same', async () => {
    const { id } = await newKey(pool);
    const feed = new ScriptedFeed();
    await report(feed, { heartbeatMs: 10 });
    await revokeKey(pool, { id, actor: 'test' });
    expect(await stateOf(id)).toBe('pending');
    // A heartbeat of the feed that PostgreSQL answered 6 s from now.
    feed.healthyAt = performance.now() + 6_000;
    await untilState(id, 'confirmed');
  });

  it('is reading while the feed is down', async () => {
    const { id } = await newKey(pool);
    const feed = new ScriptedFeed();
    await report(feed, { heartbeatMs: 10 });
    await revokeKey(pool, { id, actor: 'test' });
    feed.healthy = false;
    await untilState(id, 'reading');
    feed.healthy = true;
    await untilState(id, 'pending');
  });

  it('says its version, and since when it hears of changes and Redis answers', async () => {
    const feed = new ScriptedFeed();
    let answers: boolean | undefined = true;
    await report(feed, { heartbeatMs: 10, version: '1.2.3', isRedisAnswering: () => answers });
    const told = async () => (await readNodes(pool))[0];
    const first = await told();
    expect(first).toMatchObject({ version: '1.2.3', state: 'live', redisAnswers: true, stateSince: first?.redisSince });
    await eventually(async () => ((await told())?.seenAt.getTime() ?? 0) > (first?.seenAt.getTime() ?? 0));
    expect(await told()).toMatchObject({ stateSince: first?.stateSince, redisSince: first?.redisSince });
    answers = false;
    await eventually(async () => (await told())?.redisAnswers === false);
    const away = await told();
    expect(away?.stateSince).toEqual(first?.stateSince);
    expect(away?.redisSince?.getTime()).toBeGreaterThan(first?.redisSince?.getTime() ?? Infinity);
    feed.healthy = false;
    await eventually(async () => (await told())?.state === 'reading');
    expect((await told())?.stateSince?.getTime()).toBeGreaterThan(first?.stateSince?.getTime() ?? Infinity);
    answers = undefined;
    await eventually(async () => (await told())?.redisAnswers === null);
    expect((await told())?.redisSince).toBeNull();
  });

  it('is gone 10 s after its last sign of life, left out once it was replaced, and forgotten after a day', async () => {
    const { id } = await newKey(pool);
    const reporter = await report(new ScriptedFeed(), { heartbeatMs: 3_600_000 });
    await pool.query("UPDATE gateway_node SET started_at = now() - interval '1 hour', seen_at = now() - interval '11 s'");
    expect(await stateOf(id)).toBe('gone');
    await report(new ScriptedFeed());
    expect((await readPropagation(pool, { id })).nodes).toMatchObject([{ state: 'confirmed' }]);
    await pool.query("UPDATE gateway_node SET seen_at = now() - interval '25 h' WHERE id = $1", [reporter.id]);
    await report(new ScriptedFeed(), { name: 'node-b' });
    expect((await readPropagation(pool, { id })).nodes.map(({ name }) => name)).toEqual(['node-a', 'node-b']);
  });

  it('is stopped once it has ended in order, and acts on no key any more', async () => {
    const { id } = await newKey(pool);
    const reporter = await report(new ScriptedFeed());
    await reporter.close();
    expect(await stateOf(id)).toBe('gone');
    expect(await readNodes(pool)).toMatchObject([{ id: reporter.id, state: 'stopped', stateSince: expect.any(Date) }]);
    expect(await countNodes(pool)).toEqual({ live: 0, reading: 0, stopped: 1, gone: 0 });
  });

  it('shows nothing of another customer’s key', async () => {
    const [mine, other] = [await newKey(pool), await newKey(pool)];
    await expect(readPropagation(pool, { id: mine.id, customerId: other.customerId })).rejects.toMatchObject({ code: 'key_unknown' });
  });

  it('writes a burst of changes in few statements, and each key’s last change', async () => {
    const feed = new ScriptedFeed();
    const { customerId } = await newKey(pool);
    const { rows: keys } = await pool.query<{ id: string }>(
      `INSERT INTO credential (customer_id, hash, prefix, last_four, mode)
       SELECT $1, sha256(n::text::bytea), 'tg_test', 'abcd', 'test' FROM generate_series(1, 500) AS n RETURNING id`,
      [customerId],
    );
    const ids = keys.map(({ id }) => id);
    const reporter = await report(feed, { collectMs: 50, heartbeatMs: 3_600_000 });
    let statements = 0;
    const query = pool.query.bind(pool);
    Object.assign(pool, { query: (...args: Parameters<typeof query>) => ((statements += 1), query(...args)) });
    for (let round = 0; round < 4; round++) for (const id of ids) feed.tell({ kind: 'credential', id, at: `2026-11-20 0${round}:00:00Z` });
    feed.tell({ kind: 'credential', id: 'nonsense', at: 'nonsense' });
    // Of a key that was erased before its change was confirmed, nothing may be written down.
    feed.tell({ kind: 'credential', id: '00000000-0000-4000-8000-000000000000', at: '2026-11-20 04:00:00Z' });
    await reporter.close();
    Object.assign(pool, { query });
    expect(statements).toBeLessThanOrEqual(2);
    const { rows } = await pool.query(
      'SELECT count(*)::int AS count, max(changed_at) AS last FROM change_confirmation WHERE node_id = $1',
      [reporter.id],
    );
    expect(rows).toEqual([{ count: 500, last: new Date('2026-11-20T03:00:00Z') }]);
  });

  it('never throws while PostgreSQL is away, and confirms what it could not then', async () => {
    const { id } = await newKey(pool);
    const feed = new ScriptedFeed();
    const errors: unknown[] = [];
    const away = { isAway: false };
    const failing = {
      query: (text: string, values: unknown[]) =>
        away.isAway ? Promise.reject(new Error('connection refused')) : pool.query(text, values),
    };
    await report(feed, { pool: failing as Pool, onError: (error) => errors.push(error), heartbeatMs: 20 });
    await revokeKey(pool, { id, actor: 'test' });
    away.isAway = true;
    feed.tell({ kind: 'credential', id, at: await toldAt(id) });
    await eventually(() => errors.length > 3);
    away.isAway = false;
    await untilState(id, 'confirmed');
  });
});
