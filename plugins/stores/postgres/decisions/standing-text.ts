import { type Decision } from '../../../core/ports';

type Quota = NonNullable<Decision['quota']>;

const FORM = /^(\d{4}-\d\d-\d\d) (\d+) (\d+) (\d+) (\d+)(?: (daily|monthly|rate))?( capped)?(?: (\d+)\/(1|60) (\d+))?$/;

/**
 * The state of a subscription in the log's form: `day usedDaily usedMonthly daily monthly`, then the exceeded limit, `capped` and
 * the rate (`limit/windowSeconds burst`) if they apply. It takes a third of the bytes of JSON, in each of millions of lines.
 */
export function standingText(quota: Quota): string {
  const { day, usedDaily, usedMonthly, daily, monthly, exceeded, isCapped, rate } = quota;
  const capped = isCapped === true ? ' capped' : '';
  const pace = rate ? ` ${rate.limit}/${rate.windowSeconds} ${rate.burst}` : '';
  return `${day} ${usedDaily} ${usedMonthly} ${daily} ${monthly}${exceeded ? ` ${exceeded}` : ''}${capped}${pace}`;
}

/** @returns undefined for a text of another form */
export function readStandingText(text: string): Quota | undefined {
  const [, day = '', usedDaily, usedMonthly, daily, monthly, exceeded, capped, limit, window, burst] = FORM.exec(text) ?? [];
  if (day === '') return undefined;
  return {
    day,
    usedDaily: Number(usedDaily),
    usedMonthly: Number(usedMonthly),
    daily: Number(daily),
    monthly: Number(monthly),
    exceeded: exceeded === 'daily' || exceeded === 'monthly' || exceeded === 'rate' ? exceeded : undefined,
    ...(capped !== undefined && { isCapped: true }),
    ...(burst !== undefined && { rate: { limit: Number(limit), windowSeconds: window === '1' ? 1 : 60, burst: Number(burst) } }),
  };
}
