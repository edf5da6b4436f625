import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import attacks from '../../neighbours/attacks.json';
import { describeStatuses } from '../faults/fault-report';
import { type AttackObservation } from './observe-attack';

const FOLDER = resolve(__dirname, '../../../.test/neighbours');

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

/** @throws Error for an attack that attacks.json does not name */
export function recordAttack(name: string, seen: AttackObservation): void {
  const known = attacks.find((each) => each.name === name);
  if (!known) throw new Error(`test/neighbours/attacks.json does not name "${name}"`);
  const { damage, seconds, memoryMb, diskMb, foreignCores } = seen;
  const row = {
    name,
    bystander: describeTimes(seen),
    attacker: damage.attempts === 0 ? 'nothing yet' : `${describeStatuses(damage.statuses)} in ${seconds.toFixed(0)} s`,
    cost: describeCost(seen, known.freePerSecond),
    growth: `${Math.max(0, memoryMb).toFixed(0)} MB, ${Math.max(0, diskMb).toFixed(0)} MB`,
    foreignCores,
  };
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(join(FOLDER, `${name.replaceAll(/[^a-z0-9]+/gi, '-')}.json`), `${JSON.stringify(row, null, 2)}\n`);
}
