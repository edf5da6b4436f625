import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openAddressLists } from '../../../services/products/ip/lists/address-lists';
import { listPath, writeList } from '../../../services/products/ip/lists/list-file';
import { addressOf } from './address-of';

/**
 * CPU time in milliseconds of each turn of the event loop while `work` runs, shortest first: a busy machine takes time away that no turn has used.
 * @param next how the next look is asked for; each takes a turn of its own
 */
async function turnsDuring(work: () => Promise<unknown>, next: (look: () => void) => void = setImmediate): Promise<number[]> {
  const turns: number[] = [];
  let last = process.cpuUsage();
  let isOver = false;
  const look = (): void => {
    turns.push(process.cpuUsage(last).user / 1_000);
    last = process.cpuUsage();
    if (!isOver) next(look);
  };
  next(look);
  await work();
  isOver = true;
  return turns.sort((a, b) => a - b);
}

/** As many as the largest list has. */
const NETWORKS = 280_000;
/** What a request may wait for a list that is read meanwhile; sorted at once, one turn took 505 and more. */
const MAX_TURN_MS = 250;
const MAX_TRIES = 3;

it(`a list of ${NETWORKS} networks is read in turns of at most ${MAX_TURN_MS} ms`, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'ip-lists-'));
  // Three of four are of version 6, in no order, as relays are listed.
  const networks = Array.from({ length: NETWORKS }, (_, index) => {
    const mixed = (index * 7_919) % NETWORKS;
    const hex = (value: number): string => value.toString(16);
    return mixed % 4 === 0
      ? `11.${mixed >> 16}.${(mixed >> 8) & 255}.${mixed & 255}/32`
      : `2a02:26f7:${hex(mixed >> 8)}:${hex(mixed & 255)}::/64`;
  });
  await writeList(listPath(folder, 'icloud_relay'), { asOf: new Date(), networks });
  const times: number[] = [];
  // Again where the first also compiled what it ran.
  while (times.length < MAX_TRIES && !times.some((ms) => ms < MAX_TURN_MS)) {
    const turns = await turnsDuring(async () => {
      const lists = await openAddressLists({ folder, off: [], pollMs: 0, onError: (_path, cause) => { throw cause; } }); // prettier-ignore
      expect(lists.find(addressOf('2a02:26f7:1:1::9'))).toHaveLength(1);
      lists.close();
      // The turn that ended the work is over when the next two are.
      for (let more = 0; more < 2; more++) await new Promise((resolve) => setImmediate(resolve));
    });
    times.push(turns.at(-1) ?? Infinity);
  }
  await rm(folder, { recursive: true });
  process.stderr.write(`longest turns: ${times.map((ms) => ms.toFixed(0)).join(', ')} ms\n`);
  expect(Math.min(...times)).toBeLessThan(MAX_TURN_MS);
}, 120_000);
