import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { startTurnMeter } from '../../test/support/system/turn-meter';
import { type Footprint } from './footprint';
import { machineCpuMs } from './foreign-load';
import { countsOf, failuresOf, type PathCount, type PathTimes, slowedPaths, timesOf } from './judge-answers';
import { type HealthyPath, type Neighbourhood } from './neighbourhood';

/** The result of an attack. */
export interface Damage {
  readonly attempts: number;
  /** Attempts that took one of the attacker's own units. */
  readonly charged: number;
  readonly statuses: ReadonlyMap<number, number>;
}

export interface Attack {
  /** Name in bench/neighbours/attacks.json. */
  readonly name: string;
  /** The bystander's calls in the meantime, in addition to `/ip`. */
  readonly paths: readonly HealthyPath[];
  /** The attacker's preparation. The returned function attacks until the signal fires. */
  prepare(neighbourhood: Neighbourhood): Promise<(signal: AbortSignal) => Promise<Damage>>;
  /** Further conditions that must hold afterwards. @throws when one does not */
  verify?(neighbourhood: Neighbourhood, damage: Damage): Promise<void> | void;
}

export interface AttackObservation {
  readonly quiet: readonly PathTimes[];
  readonly attacked: readonly PathTimes[];
  /** Paths that became slower than allowed, except where the machine gave this process no turns. */
  readonly slowed: readonly string[];
  /** The bystander's failed calls, such as `ip 503 {"code":…`, except where the machine gave this process no turns. */
  readonly failed: readonly string[];
  /** The bystander's calls by path: the number with status 200, and the units that they took. */
  readonly counts: readonly PathCount[];
  readonly damage: Damage;
  readonly seconds: number;
  /** Milliseconds of the installation's CPU for each attempt, above its use without the attack. */
  readonly cpuMsPerAttempt: number;
  /** Maximum above the quiet time. */
  readonly memoryMb: number;
  readonly diskMb: number;
  /** CPU in cores that neither the installation nor this test used, during the attack. */
  readonly foreignCores: number;
}

/** Threads start with the first page or picture. */
const WARM_UP_MS = 1_500;
const QUIET_MS = 4_000;
/** Milliseconds before the bystander's times count, in which an attack reaches its full strength. */
const RISE_MS = 800;
const ATTACK_MS = 5_000;
const SAMPLE_MS = 250;

const epochNow = (): number => performance.timeOrigin + performance.now();

/** Records the largest growth of memory and disk. */
function watchGrowth(read: () => Footprint): { stop(): { memoryMb: number; diskMb: number } } {
  const before = read();
  let most = before;
  const look = (): void => {
    const { cpuMs, memoryMb, diskMb } = read();
    most = { cpuMs, memoryMb: Math.max(most.memoryMb, memoryMb), diskMb: Math.max(most.diskMb, diskMb) };
  };
  const timer = setInterval(look, SAMPLE_MS);
  return {
    stop() {
      clearInterval(timer);
      look();
      return { memoryMb: most.memoryMb - before.memoryMb, diskMb: most.diskMb - before.diskMb };
    },
  };
}

function ownCpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

/** The bystander alone, then with the attack. */
export async function observeAttack(neighbourhood: Neighbourhood, attack: Attack): Promise<AttackObservation> {
  const { bystander, footprint } = neighbourhood;
  const assault = await attack.prepare(neighbourhood);
  const calls = await neighbourhood.calls('ip', ...attack.paths);
  const meter = startTurnMeter();
  bystander.watch(calls);
  await sleep(WARM_UP_MS);
  const quietFrom = epochNow();
  const cpuQuiet = footprint().cpuMs;
  await sleep(QUIET_MS);
  const quietMs = epochNow() - quietFrom;
  const quietCpuMs = footprint().cpuMs - cpuQuiet;
  const quietAnswers = await bystander.stop();

  const growth = watchGrowth(footprint);
  const stopping = new AbortController();
  // All of an attacker's hundreds of requests listen to the signal.
  setMaxListeners(0, stopping.signal);
  bystander.watch(calls);
  const startedAt = epochNow();
  const cpuStart = footprint().cpuMs;
  const [machineStart, ownStart] = [machineCpuMs(), ownCpuMs()];
  const attacking = assault(stopping.signal);
  await sleep(RISE_MS + ATTACK_MS);
  const attackMs = epochNow() - startedAt;
  const attackCpuMs = footprint().cpuMs - cpuStart;
  const foreignMs = machineCpuMs() - machineStart - attackCpuMs - (ownCpuMs() - ownStart);
  const answers = await bystander.stop();
  stopping.abort();
  const damage = await attacking;
  meter.stop();
  const quiet = timesOf(quietAnswers, quietFrom);
  const foreignCores = Math.max(0, foreignMs / attackMs);
  const risen = answers.filter(({ sentAt }) => sentAt >= startedAt + RISE_MS);
  return {
    quiet,
    attacked: timesOf(risen, startedAt),
    slowed: slowedPaths({ answers: risen, quiet, foreignCores }, meter),
    failed: failuresOf([...quietAnswers, ...answers], meter),
    counts: countsOf([...quietAnswers, ...answers]),
    damage,
    seconds: attackMs / 1_000,
    cpuMsPerAttempt: Math.max(0, attackCpuMs - (quietCpuMs * attackMs) / quietMs) / Math.max(1, damage.attempts),
    foreignCores,
    ...growth.stop(),
  };
}
