import { StoreUnavailable } from '../../../../plugins/core/ports';
import { createPostgresAccessRecords } from '../../../../plugins/stores/postgres/access-record/find-access-record';
import { createFindKeyHash } from '../../../../plugins/stores/postgres/access-record/find-key-hash';
import { createPool } from '../../../../plugins/stores/postgres/pool';
import { describeAccessRecords, newKey } from '../../../contracts/access-records';
import { useDatabase } from '../../../support/postgres/use-database';

const database = useDatabase();

describeAccessRecords('PostgreSQL', () => ({
  records: createPostgresAccessRecords(database.pool),
  pool: database.pool,
  settle: () => Promise.resolve(),
}));

describe('PostgreSQL as AccessRecords', () => {
  it('says that the store is unavailable when nothing listens there', async () => {
    const pool = createPool('postgres://nobody:none@127.0.0.1:1/none', { statementTimeoutMs: 500 });
    const failure: unknown = await createPostgresAccessRecords(pool)
      .findAccessRecord('0'.repeat(64))
      .catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(StoreUnavailable);
    expect(String(failure)).not.toContain('nobody');
    await pool.end();
  });

  it('asks once more when the connection broke under the query', async () => {
    const pool = createPool(database.url, { max: 1 });
    const records = createPostgresAccessRecords(pool);
    const { hash, id } = await newKey(database.pool);
    const { rows } = await pool.query('SELECT pg_backend_pid() AS pid');
    // The pool notices an idle connection's end by itself, so the end must come while the query is under way.
    const blocker = await database.pool.connect();
    await blocker.query('BEGIN');
    await blocker.query('LOCK TABLE credential IN ACCESS EXCLUSIVE MODE');
    const found = records.findAccessRecord(hash);
    for (let waiting = 0; waiting === 0;) {
      const result = await database.pool.query("SELECT 1 FROM pg_stat_activity WHERE pid = $1 AND wait_event_type = 'Lock'", [rows[0].pid]);
      waiting = result.rowCount ?? 0;
    }
    await database.pool.query('SELECT pg_terminate_backend($1)', [rows[0].pid]);
    await blocker.query('ROLLBACK');
    blocker.release();
    await expect(found).resolves.toMatchObject({ credentialId: id });
    await pool.end();
  });

  it.each<[string, object | null, object]>([
    ['the product’s service', { testKeys: 'service' }, { takesTestKeys: true }],
    ['the live API, which the catalogue opens to them', { testKeys: 'live' }, { takesTestKeys: true }],
    ['an address', { sandboxUrl: 'http://127.0.0.1:9001' }, { takesTestKeys: true, sandbox: { host: '127.0.0.1', port: 9001 } }],
    ['nothing that the definition names', { prefix: '/seo' }, { takesTestKeys: false }],
    ['a word that this version does not know', { testKeys: 'elsewhere' }, { takesTestKeys: false }],
    ['nothing, without a definition', null, { takesTestKeys: false }],
    ['nothing, while it says how proofs are signed', { proof: 'hs256' }, { takesTestKeys: false, proof: 'hs256' }],
  ])('says whether test keys are answered: by %s', async (_, definition, expected) => {
    const { hash } = await newKey(database.pool, { products: ['api-seo'], mode: 'test' });
    await database.pool.query("UPDATE product SET definition = $1 WHERE id = 'api-seo'", [definition && JSON.stringify(definition)]);
    const record = await createPostgresAccessRecords(database.pool).findAccessRecord(hash);
    expect(record?.subscriptions).toEqual([expect.objectContaining(expected)]);
  });

  it('gives no subscription to spend from once the product has lost its limits', async () => {
    const { hash } = await newKey(database.pool, { products: ['api-gst'] });
    await database.pool.query("UPDATE product SET daily = NULL, monthly = NULL WHERE id = 'api-gst'");
    const record = await createPostgresAccessRecords(database.pool).findAccessRecord(hash);
    expect(record?.products).toEqual(['api-gst']);
    expect(record?.subscriptions).toEqual([]);
  });
});

describe('the hash of a key by its id', () => {
  it('is the one that its record is found by, and is asked for once', async () => {
    const { hash, id } = await newKey(database.pool);
    const pool = createPool(database.url, { max: 1 });
    const findKeyHash = createFindKeyHash(pool);
    expect(await findKeyHash(id)).toBe(hash);
    await pool.end();
    expect(await findKeyHash(id)).toBe(hash);
  });

  it('is unknown for an id that no key has, and for what is no id', async () => {
    const findKeyHash = createFindKeyHash(database.pool);
    expect(await findKeyHash('6f1de1a8-41cf-4e0c-9a5d-3d9e0f8a2b7c')).toBeUndefined();
    expect(await findKeyHash("' OR true --")).toBeUndefined();
  });

  it('cannot be told when nothing listens there', async () => {
    const pool = createPool('postgres://nobody:none@127.0.0.1:1/none', { statementTimeoutMs: 500 });
    await expect(createFindKeyHash(pool)('6f1de1a8-41cf-4e0c-9a5d-3d9e0f8a2b7c')).rejects.toThrow(StoreUnavailable);
    await pool.end();
  });
});
