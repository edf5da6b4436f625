import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseIpAddress } from '../../../plugins/core/access/ip-address';
import { openAddressLists } from '../../../services/ip/lists/address-lists';
import { listPath, writeList } from '../../../services/ip/lists/list-file';

/** As many as the largest list has. */
const NETWORKS = 280_000;
/** What a request may wait for a list that is read meanwhile; sorted at once, one turn took 505 and more. */
const LONGEST_TURN_MS = 250;
const MOST_TRIES = 3;

/** Processor time: what others take of this machine is not the product's. */
const spentMs = (): number => process.cpuUsage().user / 1_000;

/** The longest turn while `work` ran, in milliseconds of processor time. */
async function longestTurn(work: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  let isOver = false;
  let turnedAt = spentMs();
  const turn = (): void => {
    const now = spentMs();
    longest = Math.max(longest, now - turnedAt);
    turnedAt = now;
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  await work();
  // The turn that ended the work is over when the next two are.
  for (let turns = 0; turns < 2; turns++) await new Promise((resolve) => setImmediate(resolve));
  isOver = true;
  return longest;
}

test(`a list of ${NETWORKS} networks is read in turns of at most ${LONGEST_TURN_MS} ms`, async () => {
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
  while (times.length < MOST_TRIES && !times.some((ms) => ms < LONGEST_TURN_MS)) {
    times.push(
      await longestTurn(async () => {
        const lists = await openAddressLists({ folder, off: [], pollMs: 0, onError: (_path, cause) => { throw cause; } }); // prettier-ignore
        const relay = parseIpAddress('2a02:26f7:1:1::9');
        expect(relay && lists.find(relay)).toHaveLength(1);
        lists.close();
      }),
    );
  }
  await rm(folder, { recursive: true });
  process.stderr.write(`longest turns: ${times.map((ms) => ms.toFixed(0)).join(', ')} ms\n`);
  expect(Math.min(...times)).toBeLessThan(LONGEST_TURN_MS);
}, 120_000);
