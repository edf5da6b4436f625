import attacks from './attacks.json';
import { describeStatuses } from '../../test/support/faults/fault-report';
import { recordRow } from '../../test/support/table-row';
import { type AttackObservation } from './observe-attack';

const ms = (value: number): string => (value < 10 ? value.toFixed(1) : value.toFixed(0));

function describeTimes({ quiet, attacked }: AttackObservation): string {
  const before = new Map(quiet.map(({ path, p99Ms }) => [path, p99Ms]));
  return attacked.map(({ path, p99Ms }) => `${path} ${ms(before.get(path) ?? 0)} → ${ms(p99Ms)} ms`).join('; ');
}

function describeCost({ damage, cpuMsPerAttempt }: AttackObservation, freePerSecond: number | null): string {
  if (damage.charged > 0) return `${damage.charged} of ${damage.attempts} counted`;
  if (freePerSecond === null) return '';
  return `${ms(cpuMsPerAttempt)} ms; ${freePerSecond}/s`;
}

export function recordAttack(name: string, seen: AttackObservation): void {
  const freePerSecond = attacks.find((each) => each.name === name)?.freePerSecond ?? null;
  const { damage, memoryMb, diskMb, foreignCores } = seen;
  recordRow('bench/neighbours/attacks.json', name, {
    name,
    bystander: describeTimes(seen),
    attacker: damage.attempts === 0 ? 'nothing yet' : describeStatuses(damage.statuses),
    cost: describeCost(seen, freePerSecond),
    growth: `${Math.max(0, memoryMb).toFixed(0)} MB, ${Math.max(0, diskMb).toFixed(0)} MB`,
    foreignCores,
  });
}
