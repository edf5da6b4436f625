import { recordAttack } from './attack-report';
import { customers } from './attacks/customers';
import { dashboardAttacks } from './attacks/dashboard';
import { strangers } from './attacks/strangers';
import { createWaitUntilFree } from './foreign-load';
import { type Neighbourhood, openNeighbourhood } from './neighbourhood';
import { type AttackObservation, observeAttack } from './observe-attack';
import attacks from './attacks.json';

/**
 * Growth during one attack. Threads that process pictures and pages take most of the memory, PostgreSQL's log files of 16 MB most of the
 * disk.
 */
const MAX_MEMORY_MB = 300;
const MAX_DISK_MB = 50;
/** Milliseconds of CPU a second. */
const ONE_PERCENT_OF_A_CORE = 10;

const untilFree = createWaitUntilFree(30_000);
let neighbourhood: Neighbourhood;
beforeAll(async () => {
  neighbourhood = await openNeighbourhood();
});
afterAll(async () => {
  await neighbourhood.close();
});

function expectBounded(seen: AttackObservation, freePerSecond: number | null | undefined): void {
  expect(seen.memoryMb).toBeLessThan(MAX_MEMORY_MB);
  expect(seen.diskMb).toBeLessThan(MAX_DISK_MB);
  if (typeof freePerSecond !== 'number' || seen.damage.charged > 0) return;
  expect(seen.cpuMsPerAttempt * freePerSecond).toBeLessThanOrEqual(ONE_PERCENT_OF_A_CORE);
}

describe('a paying customer is served as fast as before, and charged for what he was served, during', () => {
  const all = [...strangers, ...customers, ...dashboardAttacks];
  it.each(all.map((attack) => [attack.name, attack] as const))('%s', async (name, attack) => {
    await untilFree();
    const seen = await observeAttack(neighbourhood, attack);
    recordAttack(name, seen);
    expect(seen.failed).toEqual([]);
    for (const { served, charged } of seen.counts) expect(charged).toBe(served);
    expect(seen.slowed).toEqual([]);
    expectBounded(seen, attacks.find((each) => each.name === name)?.freePerSecond);
    await attack.verify?.(neighbourhood, seen.damage);
  });
});
