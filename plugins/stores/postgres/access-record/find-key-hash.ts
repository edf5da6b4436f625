import { LRUCache } from 'lru-cache';
import { type Pool } from 'pg';
import { StoreUnavailable } from '../../../core/ports';

const SELECT = `SELECT encode(hash, 'hex') AS hash FROM credential WHERE id = $1`;

/** Maximum keys with links in use, each about 200 bytes. */
const MAX_KEYS = 10_000;

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * The hash of a key by its id. A key keeps its hash for life, so it is read only once. The key's record says whether the key is still
 * valid.
 * @param pool with a statement time-out
 */
export function createFindKeyHash(pool: Pool): (credentialId: string) => Promise<string | undefined> {
  const known = new LRUCache<string, string>({ max: MAX_KEYS });
  return async (credentialId) => {
    const remembered = known.get(credentialId);
    if (remembered !== undefined || !UUID.test(credentialId)) return remembered;
    let hash: string | undefined;
    try {
      hash = (await pool.query<{ hash: string }>({ name: 'find-key-hash', text: SELECT, values: [credentialId] })).rows[0]?.hash;
    } catch (cause) {
      throw new StoreUnavailable('PostgreSQL did not respond', { cause });
    }
    if (hash !== undefined) known.set(credentialId, hash);
    return hash;
  };
}
