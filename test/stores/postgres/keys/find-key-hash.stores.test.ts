import { StoreUnavailable } from '../../../../plugins/core/ports';
import { createFindKeyHash } from '../../../../plugins/stores/postgres/keys/find-key-hash';
import { createPool } from '../../../../plugins/stores/postgres/pool';
import { newKey } from '../../../contracts/access-records';
import { testDatabase, type TestDatabase } from '../../../support/postgres/postgres';

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.close());

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
