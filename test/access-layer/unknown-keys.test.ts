import crypto from 'node:crypto';
import { generateApiKey, hashApiKey } from '../../plugins/core/access/api-key';
import { type AccessRecord } from '../../plugins/core/ports';
import { AccessRecordCache } from '../../plugins/stores/cache/access-record-cache';
import { type Change } from '../../plugins/stores/cache/change-feed';
import { KnownHashes } from '../../plugins/stores/cache/known-hashes';
import { eventually } from '../support/eventually';
import { call, recordOf } from './call-plugin';
import { memoryQuota, NOW_MS } from './fake-kong';

const unknown = generateApiKey('live');
const KEYS = {
  'ours with a wrong checksum': unknown.slice(0, -1) + (unknown.endsWith('A') ? 'B' : 'A'),
  'ours, and unknown': unknown,
  'of a foreign form, and unknown': 'shop-9-7f4e11c09ab2d35586Zq',
  'of a foreign form, imported and revoked': 'shop-1-7f4e11c09ab2d35586Zq',
  'of a foreign form, imported and inactive': 'shop-2-7f4e11c09ab2d35586Zq',
  'of a foreign form, imported and expired': 'shop-3-7f4e11c09ab2d35586Zq',
} as const;
type Which = keyof typeof KEYS;

/** What one request costs beyond the work of every request. */
interface Work {
  /** SHA-256 of the key. */
  readonly hashes: number;
  /** Records read from the database. */
  readonly reads: number;
  /** Questions whether all changes have been reported; requests that ask together share one. */
  readonly proofs: number;
  /** Exchanges with the store of the quota. */
  readonly spends: number;
}

const imported = new Map<string, AccessRecord>([
  [hashApiKey(KEYS['of a foreign form, imported and revoked']), recordOf({ credentialId: 'one', state: 'revoked' })],
  [hashApiKey(KEYS['of a foreign form, imported and inactive']), recordOf({ credentialId: 'two', state: 'inactive' })],
  [hashApiKey(KEYS['of a foreign form, imported and expired']), recordOf({ credentialId: 'three', expiresAtMs: NOW_MS - 1 })],
]);

/** The records as a node has them: a cache before a store, and the list of keys that exist. */
async function openNode() {
  const work = { hashes: 0, reads: 0, proofs: 0, spends: 0 };
  const listeners: ((change: Change) => void)[] = [];
  const feed = {
    isHealthy: () => true,
    lastHealthyAt: () => 0,
    caughtUp: () => Promise.resolve(++work.proofs > 0),
    subscribe: (listener: (change: Change) => void) => (listeners.push(listener), () => undefined),
  };
  const starts = Buffer.from([...imported.keys()].map((each) => each.slice(0, 16)).join(''), 'hex');
  const hashes = new KnownHashes({ source: { readHashes: () => Promise.resolve({ starts, next: undefined }) }, feed });
  const source = { findAccessRecord: (hash: string) => (work.reads++, Promise.resolve(imported.get(hash))) };
  const clock = { now: () => NOW_MS, monotonic: () => 0 };
  const records = new AccessRecordCache({ source, feed, hashes, clock });
  listeners.forEach((listener) => listener({ kind: 'gap' }));
  await eventually(() => hashes.stats().isComplete);
  const counted = memoryQuota();
  const quota = { ...counted, spend: (...given: Parameters<typeof counted.spend>) => (work.spends++, counted.spend(...given)) };
  const ask = async (which: Which) => {
    const before = { ...work };
    const hash = jest.spyOn(crypto, 'hash');
    const { exit } = await call({ headers: { 'x-api-key': KEYS[which] } }, { records, quota });
    const spent: Work = {
      hashes: hash.mock.calls.length,
      reads: work.reads - before.reads,
      proofs: work.proofs - before.proofs,
      spends: work.spends - before.spends,
    };
    hash.mockRestore();
    return { exit, spent };
  };
  return { ask };
}

const NOTHING: Work = { hashes: 0, reads: 0, proofs: 0, spends: 0 };

describe('a key that admits nothing', () => {
  it.each<[Which, Work]>([
    ['ours with a wrong checksum', NOTHING],
    ['ours, and unknown', { ...NOTHING, hashes: 1, proofs: 1 }],
    ['of a foreign form, and unknown', { ...NOTHING, hashes: 1, proofs: 1 }],
    ['of a foreign form, imported and revoked', { ...NOTHING, hashes: 1, reads: 1 }],
    ['of a foreign form, imported and inactive', { ...NOTHING, hashes: 1, reads: 1 }],
    ['of a foreign form, imported and expired', { ...NOTHING, hashes: 1, reads: 1 }],
  ])(
    'is refused for the same work whatever its form, one exchange with the database at most, and then from memory: %s',
    async (which, first) => {
      const { ask } = await openNode();
      expect((await ask(which)).spent).toEqual(first);
      expect((await ask(which)).spent).toEqual({ ...NOTHING, hashes: first.hashes });
    },
  );

  it('is refused alike where it is unknown, inactive or revoked', async () => {
    const { ask } = await openNode();
    const refusal = async (which: Which) => (await ask(which)).exit;
    const expected = await refusal('ours with a wrong checksum');
    expect(expected).toMatchObject({ status: 401, body: { code: 'key_unknown' } });
    const alike: Which[] = ['ours, and unknown', 'of a foreign form, and unknown', 'of a foreign form, imported and revoked', 'of a foreign form, imported and inactive']; // prettier-ignore
    for (const which of alike) expect([which, await refusal(which)]).toEqual([which, expected]);
    expect(await refusal('of a foreign form, imported and expired')).toMatchObject({ body: { code: 'key_expired' } });
  });
});
