import { setTimeout as sleep } from 'node:timers/promises';
import { type Answer, type Answers, type Caller, LOOPS, type ProbeTarget, readUsed, startProbe, type Probe } from './fault-probe';
import { type Scrapes } from './firing-alerts';
import { eventually } from '../eventually';
import { expectMeasured } from '../measured';
import { sayExcused, startTurnMeter } from '../system/turn-meter';

export interface FaultPlan {
  inflict(): Promise<unknown> | void;
  /** How long the part stays broken, at least. */
  readonly lastsMs: number;
  /** So many answers of one status to the valid key are waited for before that is over. */
  readonly lastsFor?: { readonly status: number; readonly answers: number };
  /** Makes the part whole again; what depends on it is left alone. */
  lift(): Promise<unknown> | void;
  /** By when a valid key must be served again after that, in a run that measures. */
  readonly recoversWithinMs: number;
  /** True once everything works as before, where requests are served without it too. Default: when requests are served. */
  isWhole?(): Promise<boolean>;
}

/** What one fault did. Milliseconds are monotonic. */
export interface Observation {
  readonly answers: Answers;
  /**
   * Requests of the valid key that were served within so many milliseconds before the fault, the first reading of the count included, and until
   * it was inflicted: what a store that loses its last moments may lose.
   */
  givenBefore(ms: number): number;
  /** From the part's return to the last request that was not served; 0: none after it. */
  readonly recoveredInMs: number;
  /** Whether a request was refused for want of turns alone: see {@link TurnMeter}. */
  readonly isExcused: (answer: Answer) => boolean;
  /** What the plugin server's metrics said before the fault, and at its end. */
  readonly scrapes: Scrapes;
  /** Requests of the valid key answered 200, and units that count for them afterwards. */
  readonly given: number;
  readonly counted: number;
}

/** In this many answers in a row, over all loops, nothing may be amiss for the system to count as whole. */
const STEADY_ANSWERS = 40;
const CALLERS = ['stranger', 'revoked', 'valid'] as const;
/** An observation with no more answers to each caller than this says nothing. */
const MIN_ANSWERS = 30;
/** Counts of several stores are merged within a second or two; a busy machine may take longer to find what is missing. */
const MERGE_LIMIT_MS = 3_000;
const MISSING_LIMIT_MS = 6_000;

/** Longer than Kong waits for its plugin server. */
const ANSWERS_MS = 90_000;

/** As long as is waited for `/metrics`. A stopped process never answers. */
const SCRAPE_MS = 1_000;

/** A killed process is gone this soon, or when the fault is inflicted; until then it may still answer. */
const KILL_MS = 100;

/** As long as a slow machine takes to give so many answers; by when they have to be good ones is looked at afterwards. */
async function untilSteady(probe: Probe, since: number): Promise<void> {
  const isSteady = (): boolean => {
    const recent = probe
      .soFar()
      .of('valid')
      .filter(({ sentAt }) => sentAt >= since)
      .slice(-STEADY_ANSWERS);
    return recent.length === STEADY_ANSWERS && recent.every(({ status }) => status === 200);
  };
  await eventually(isSteady).catch(() => {
    const seen = probe.soFar().of('valid').slice(-10);
    throw new Error(`no recovery; last answers: ${seen.map(({ status }) => status).join(' ')}`);
  });
}

/** Until everybody has asked often enough to tell whether anything gets through. */
async function untilTelling(probe: Probe): Promise<void> {
  const isTelling = (): boolean => CALLERS.every((caller) => probe.soFar().of(caller).length > MIN_ANSWERS);
  await eventually(isTelling);
}

/** Units counted since `before`, once reading them again and again changes them by the readings alone. */
async function settledCount(target: ProbeTarget, before: number, given: number): Promise<number> {
  const startedAt = performance.now();
  for (let readings = 1; ; readings++) {
    const counted = (await readUsed(target)) - before - readings;
    const limitMs = counted < given ? MISSING_LIMIT_MS : MERGE_LIMIT_MS;
    if (counted === given || performance.now() - startedAt > limitMs) return counted;
    await sleep(100);
  }
}

/** Inflicts one fault under steady requests of strangers, of a revoked key and of a valid one, lifts it and waits for the recovery. */
export async function observeFault(target: ProbeTarget, plan: FaultPlan): Promise<Observation> {
  const before = await readUsed(target);
  const probe = startProbe(target);
  const meter = startTurnMeter();
  let answers: Answers;
  let [inflictedAt, brokenAt, liftedAt] = [0, 0, 0];
  const scrape = (): Promise<string | undefined> => Promise.race([target.metrics().catch(() => undefined), sleep(SCRAPE_MS, undefined)]);
  const atMs = { before: 0, during: 0 };
  const scrapes: { -readonly [When in keyof Scrapes]: Scrapes[When] } = { before: undefined, during: undefined, atMs };
  try {
    await eventually(() => probe.soFar().of('valid').length > 20);
    scrapes.before = await scrape();
    atMs.before = Date.now();
    inflictedAt = performance.now();
    await plan.inflict();
    brokenAt = performance.now();
    await sleep(plan.lastsMs);
    const { status, answers: needed } = plan.lastsFor ?? { status: 200, answers: 0 };
    await eventually(() => (probe.soFar().statuses('valid').get(status) ?? 0) >= needed, ANSWERS_MS);
    scrapes.during = await scrape();
    atMs.during = Date.now();
    await plan.lift();
    liftedAt = performance.now();
    await untilSteady(probe, liftedAt);
    await eventually(() => plan.isWhole?.() ?? true);
    await untilTelling(probe);
  } finally {
    answers = await probe.stop();
    meter.stop();
  }
  const isExcused = (answer: Answer): boolean => answer.isUndecided && meter.wasShortOfTurns(answer);
  // The figure is what was seen; only whether it is the fault's doing is judged with excuses.
  const recoveredInMs = answers.disturbedFor(liftedAt);
  expectMeasured(answers.disturbedFor(liftedAt, isExcused), plan.recoversWithinMs);
  const given = answers.statuses('valid').get(200) ?? 0;
  const counted = await settledCount(target, before, given);
  const isLast = (sentAt: number, ms: number): boolean => sentAt > inflictedAt - ms && sentAt <= Math.max(inflictedAt + KILL_MS, brokenAt);
  const givenBefore = (ms: number): number =>
    1 + answers.of('valid').filter(({ sentAt, status }) => status === 200 && isLast(sentAt, ms)).length;
  return { answers, givenBefore, isExcused, recoveredInMs, scrapes, given, counted };
}

export interface Documented {
  /** What the holder of a valid key may see besides 200. */
  readonly statuses: readonly number[];
  /** Units that were given and may be missing from the count. Default none. */
  readonly mostLost?: number;
  /** Units that may count twice, because their first count was on its way when a connection broke. Default none. */
  readonly mostTwice?: number;
}

/** As many units are under way at a time, at most: the probe's loops with the valid key. */
export const UNDER_WAY = LOOPS.filter((caller) => caller === 'valid').length;

/**
 * Fails unless strangers and the revoked key got refusals only, and none of a service, the valid key nothing but what is documented, and every unit given is
 * counted. A unit whose request was not served may be counted too: it was taken before the fault cut the answer off. An access layer that
 * gets no turns refuses what it cannot decide in time: that is not the fault's doing.
 */
export function expectDocumented(observation: Observation, { statuses, mostLost = 0, mostTwice = 0 }: Documented): void {
  const { answers, given, counted } = observation;
  const refusals = [401, ...statuses.filter((status) => status >= 400)];
  expect(amiss(observation, { callers: ['stranger', 'revoked'], allowed: refusals })).toEqual({});
  expect(answers.of('stranger', 'revoked').filter(({ hasReachedService }) => hasReachedService)).toEqual([]);
  expect(amiss(observation, { callers: ['valid'], allowed: [200, ...statuses] })).toEqual({});
  for (const caller of CALLERS) expect(answers.of(caller).length).toBeGreaterThan(MIN_ANSWERS);
  expect(given).toBeGreaterThan(MIN_ANSWERS);
  expect(given - counted).toBeLessThanOrEqual(mostLost);
  expect(counted - given).toBeLessThanOrEqual(answers.of('valid').length - given + mostTwice);
}

function amiss(
  { answers, isExcused }: Observation,
  { callers, allowed }: { callers: readonly Caller[]; allowed: readonly number[] },
): Record<string, number> {
  const counts: Record<string, number> = {};
  const nameOf = ({ status, code }: Answer): string => `${status} ${code}`;
  const suspects = answers.of(...callers).filter(({ status }) => !allowed.includes(status));
  const unexcused = suspects.filter((answer) => !isExcused(answer));
  for (const name of unexcused.map(nameOf)) counts[name] = (counts[name] ?? 0) + 1;
  sayExcused(suspects.length - unexcused.length);
  return counts;
}
