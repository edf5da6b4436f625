import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { formatIpAddress, type IpAddress } from '../../../plugins/core/access/ip-address';
import { openDatabases } from '../../../services/products/ip/ip-databases';
import { openAddressLists } from '../../../services/products/ip/lists/address-lists';
import { LIST_DEFINITIONS } from '../../../services/products/ip/lists/list-definitions';
import { type KeptList, listPath, writeList } from '../../../services/products/ip/lists/list-file';
import { measureFlags } from '../../../services/products/ip/lists/measure-flags';
import { lookUpAddress } from '../../../services/products/ip/look-up-address';
import { databasePaths, ipSettings } from '../../../services/products/ip/settings';

/** Of each list. Comparing takes time by its square. */
const NETWORKS = 100;
const AS_OF = new Date('2026-11-20T06:00:00Z');

/** Networks of many sizes, scattered over 8.0.0.0/6 and 2600::/12 by a fixed rule. */
function networksOf(seed: number, count: number): string[] {
  let state = seed;
  const next = (below: number): number => (state = (state * 48_271) % 2_147_483_647) % below;
  return Array.from({ length: count }, () => {
    const [bits, base, room] = next(2) === 0 ? ([32, 8n << 24n, 26] as const) : ([128, 0x2600n << 112n, 44] as const);
    const hostBits = BigInt(bits === 32 ? next(9) : 64 + next(17));
    const place = (BigInt(next(2 ** 31 - 1)) << BigInt(bits === 32 ? 0 : 84)) % (1n << BigInt(bits === 32 ? room : 116));
    return `${formatIpAddress(((base + place) >> hostBits) << hostBits, bits)}/${bits - Number(hostBits)}`;
  });
}

it('every address of a list has its flag, and no neighbour has one from a list that does not name it', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'ip-lists-'));
  const kept = new Map<string, KeptList>(
    LIST_DEFINITIONS.map(({ id }, index) => [id, { asOf: AS_OF, networks: networksOf(index + 1, NETWORKS) }]),
  );
  for (const [id, list] of kept) await writeList(listPath(folder, id), list);
  const lists = await openAddressLists({ folder, off: [], pollMs: 0, onError: () => undefined });
  const databases = await openDatabases({ paths: databasePaths(ipSettings.parse({})), pollMs: 0, onError: () => undefined });
  const findNetworkFacts = () => Promise.resolve({ checked: [], hostname: null, listings: [], abuse: undefined });
  const lookUpWith = (some: typeof lists | undefined) => (address: IpAddress) =>
    lookUpAddress(address, { databases, lists: some, findNetworkFacts, mode: 'live', now: () => AS_OF.getTime() });
  const figures = await measureFlags({ kept, lookUp: lookUpWith(lists), lookUpWithoutLists: lookUpWith(undefined), sample: NETWORKS });
  expect(figures.map(({ list }) => list)).toEqual(LIST_DEFINITIONS.map(({ id }) => id));
  for (const { list, listed, flagged, unlisted, wrongly_flagged: wrong } of figures) {
    expect([list, listed > NETWORKS, flagged, unlisted > 0.75 * NETWORKS, wrong]).toEqual([list, true, listed, true, 0]);
  }
  lists.close();
  databases.close();
  await rm(folder, { recursive: true });
});
