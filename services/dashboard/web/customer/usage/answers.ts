/** Responses to requests, in the API's form. */
interface Answers {
  readonly succeeded: number;
  readonly rejected: number;
  readonly failed: number;
  readonly abandoned: number;
  readonly took: readonly number[];
}

/** One bar: the outcome of the admitted requests. */
export interface AnswerBar {
  readonly slot: string;
  readonly admitted: number;
  /** Null if no gateway reported any of them. */
  readonly answers: Answers | null;
}

function addAnswers(one: Answers, other: Answers): Answers {
  return {
    succeeded: one.succeeded + other.succeeded,
    rejected: one.rejected + other.rejected,
    failed: one.failed + other.failed,
    abandoned: one.abandoned + other.abandoned,
    took: one.took.map((count, place) => count + (other.took[place] ?? 0)),
  };
}

/** All of them together; null if none was measured. */
export function sumAnswers(all: readonly (Answers | null)[]): Answers | null {
  return all.reduce((sum, each) => (sum && each ? addAnswers(sum, each) : (sum ?? each)), null);
}

/** Admitted requests without a known response: the gateway did not report it, or they are still running. */
export function notKnown({ admitted, answers }: Omit<AnswerBar, 'slot'>): number {
  if (!answers) return admitted;
  const { succeeded, rejected, failed, abandoned } = answers;
  // Both figures are written every few seconds, separately.
  return Math.max(0, admitted - succeeded - rejected - failed - abandoned);
}

/**
 * Milliseconds within which a share of the responses was sent, as a bound of the counts: `Infinity` beyond the last, undefined without
 * responses.
 * @param took counts by bound; the last is for longer durations
 * @param share above 0, up to 1
 */
export function withinMs(took: readonly number[], boundsMs: readonly number[], share: number): number | undefined {
  const total = took.reduce((sum, count) => sum + count, 0);
  if (total === 0) return undefined;
  let sum = 0;
  const place = took.findIndex((count) => (sum += count) >= total * share);
  return boundsMs[place] ?? Infinity;
}

/** `250 ms`, `2.5 s`; `over 30 s` beyond the last bound. */
export function formatWithin(ms: number | undefined, boundsMs: readonly number[]): string {
  if (ms === undefined) return '–';
  if (ms === Infinity) return `over ${formatWithin(boundsMs.at(-1), boundsMs)}`;
  return ms < 1_000 ? `${ms} ms` : `${ms / 1_000} s`;
}

/** Figures of a period. */
interface Figures {
  /** Admitted requests. */
  readonly requests: number;
  /** Admitted requests with a status of 500 to 599; null when no response is known. */
  readonly failures: number | null;
  /** Milliseconds within which 95% of the known responses were sent; undefined without any. */
  readonly p95Ms: number | undefined;
}

interface DayOfAnswers {
  readonly day: string;
  readonly admitted: number;
  readonly answers: Answers | null;
}

/** @param days each `YYYY-MM-DD` */
export function figuresOf(all: readonly DayOfAnswers[], days: readonly string[], boundsMs: readonly number[]): Figures {
  const own = all.filter(({ day }) => days.includes(day));
  const sum = sumAnswers(own.map(({ answers }) => answers));
  return {
    requests: own.reduce((total, { admitted }) => total + admitted, 0),
    failures: sum && sum.failed,
    p95Ms: sum ? withinMs(sum.took, boundsMs, 0.95) : undefined,
  };
}

/** `+12%`, `−3%`, `the same`; undefined when there is nothing to compare. */
export function changeText(now: number, before: number): string | undefined {
  if (before === 0) return undefined;
  const percent = Math.round(((now - before) / before) * 100);
  if (percent === 0) return 'the same';
  return `${percent > 0 ? '+' : '−'}${Math.abs(percent)}%`;
}
