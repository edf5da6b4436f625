import { type Usage } from '../../../contract/usage';
import { addDays, daysBetween } from '../../format/time';
import { sumAnswers, withinMs } from '../usage/answers';

/** What a stretch of days came to. */
export interface Figures {
  /** Requests that were let in. */
  readonly requests: number;
  /** Of those, the ones answered with a status of 500 to 599; null where no answer is known. */
  readonly failures: number | null;
  /** Milliseconds within which 95% of the known answers were sent; undefined without any. */
  readonly p95Ms: number | undefined;
}

function figuresOf({ answers, answerTimesMs }: Pick<Usage, 'answers' | 'answerTimesMs'>, days: readonly string[]): Figures {
  const own = answers.filter(({ day }) => days.includes(day));
  const sum = sumAnswers(own.map((each) => each.answers));
  return {
    requests: own.reduce((total, { admitted }) => total + admitted, 0),
    failures: sum && sum.failed,
    p95Ms: sum ? withinMs(sum.took, answerTimesMs, 0.95) : undefined,
  };
}

/** The last seven days up to today, and the seven before them. */
export function compareWeeks(usage: Pick<Usage, 'answers' | 'answerTimesMs' | 'today'>): {
  readonly week: Figures;
  readonly before: Figures;
} {
  const daysUpTo = (to: string): string[] => daysBetween(addDays(to, -6), to);
  return { week: figuresOf(usage, daysUpTo(usage.today)), before: figuresOf(usage, daysUpTo(addDays(usage.today, -7))) };
}

/** `+12%`, `−3%`, `the same`; undefined where there was nothing to compare with. */
export function changeText(now: number, before: number): string | undefined {
  if (before === 0) return undefined;
  const percent = Math.round(((now - before) / before) * 100);
  if (percent === 0) return 'the same';
  return `${percent > 0 ? '+' : '−'}${Math.abs(percent)}%`;
}
