import { isUndecided, sayExcused, type TurnMeter } from '../../test/support/system/turn-meter';
import { type BystanderAnswer } from './bystander';

/** Times of one path of the bystander, in milliseconds. */
export interface PathTimes {
  readonly path: string;
  readonly p99Ms: number;
}

/** Responses to the bystander on one path, and the units that they took. */
export interface PathCount {
  readonly path: string;
  readonly served: number;
  readonly charged: number;
}

/** The value that at most one in a hundred exceeds: the second slowest of 200, the slowest of fewer than 100. */
function p99Of(times: readonly number[]): number {
  const sorted = [...times].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * 0.99) - 1)] ?? 0;
}

export function timesOf(answers: readonly BystanderAnswer[], sentFrom: number): PathTimes[] {
  const names = [...new Set(answers.map(({ name }) => name))];
  return names.map((path) => {
    const times = answers.filter(({ name, sentAt }) => name === path && sentAt >= sentFrom).map(({ tookMs }) => tookMs);
    return { path, p99Ms: p99Of(times) };
  });
}

/** Twice the quiet value, or 50 ms more if that is higher. */
function mostOf(quietMs: number): number {
  return Math.max(2 * quietMs, quietMs + 50);
}

/** With this much other work on the machine, it may be the cause of a slow response. */
const FOREIGN_CORES = 0.5;

interface Judged {
  readonly answers: readonly BystanderAnswer[];
  readonly quiet: readonly PathTimes[];
  readonly foreignCores: number;
}

/** A path counts as slowed when more than one in a hundred of its responses took longer than allowed. */
export function slowedPaths({ answers, quiet, foreignCores }: Judged, meter: TurnMeter): string[] {
  let excused = 0;
  const slowed = quiet.flatMap(({ path, p99Ms }) => {
    const mostMs = mostOf(p99Ms);
    const times = answers
      .filter(({ name }) => name === path)
      .map((answer) => {
        const isSlow = answer.tookMs > mostMs;
        const isExcused = isSlow && foreignCores >= FOREIGN_CORES && meter.wasShortOfTurns(onOurClock(answer));
        if (isExcused) excused++;
        return isExcused ? 0 : answer.tookMs;
      });
    const worst = p99Of(times);
    return worst > mostMs ? [`${path}: ${worst.toFixed(0)} ms, quiet ${p99Ms.toFixed(0)} ms`] : [];
  });
  if (excused > 0) process.stderr.write(`the machine gave this process no turns: ${excused} slow responses do not count\n`);
  return slowed;
}

function onOurClock({ sentAt, tookMs }: BystanderAnswer): { sentAt: number; tookMs: number } {
  return { sentAt: sentAt - performance.timeOrigin, tookMs };
}

export function failuresOf(answers: readonly BystanderAnswer[], meter: TurnMeter): string[] {
  const failed = answers.filter(({ status }) => status !== 200);
  const held = failed.filter((answer) => !(isUndecided(answer) && meter.wasShortOfTurns(onOurClock(answer))));
  sayExcused(failed.length - held.length);
  return held.map(({ name, status, text }) => `${name} ${status} ${text.slice(0, 160)}`);
}

/** Every charged response reports a different number of requests left, because nobody else uses the bystander's subscriptions. */
export function countsOf(answers: readonly BystanderAnswer[]): PathCount[] {
  const names = [...new Set(answers.map(({ name }) => name))];
  return names.map((path) => {
    const own = answers.filter(({ name, left }) => name === path && left !== null);
    const left = own.map((answer) => answer.left ?? 0);
    const charged = left.length === 0 ? 0 : Math.max(...left) - Math.min(...left) + 1;
    return { path, charged, served: own.filter(({ status }) => status === 200).length };
  });
}
