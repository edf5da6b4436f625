import { type AlertView } from '../../../selling/webhooks/alert-view';
import { countedBy, formatCount } from '../../brand/wording';

const MONTHS = ['January', 'February', 'March', 'April', 'May', 'June', 'July', 'August', 'September', 'October', 'November', 'December'];

/** `8,000 of 10,000 requests` */
function share({ used, limit, countsUnits }: AlertView): string {
  return `${formatCount(used ?? 0)} of ${formatCount(limit ?? 0)} ${countedBy(countsUnits)}`;
}

/** `21 November 2026, 16:40 IST`: the same for every reader, with the time zone as pages show it. */
export function mailedMoment(at: Date, timeZone: string): string {
  const date = { day: 'numeric', month: 'long', year: 'numeric' } as const;
  const time = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const;
  const text = new Intl.DateTimeFormat('en-GB', { timeZone, ...date, ...time }).format(at).replace(' at ', ', ');
  // en-IN knows IST, which en-GB calls GMT+5:30.
  const parts = new Intl.DateTimeFormat('en-IN', { timeZone, timeZoneName: 'short' }).formatToParts(at);
  return `${text} ${parts.find(({ type }) => type === 'timeZoneName')?.value ?? timeZone}`;
}

function window(alert: AlertView): { name: 'daily' | 'monthly'; period: string; end: string } {
  const [year = '', month = '', day = ''] = alert.period.split('-');
  const monthAndYear = `${MONTHS[Number(month) - 1] ?? month} ${year}`;
  if (alert.kind === 'quota_daily') return { name: 'daily', period: `on ${Number(day)} ${monthAndYear}`, end: 'the day ends' };
  return { name: 'monthly', period: `in ${monthAndYear}`, end: 'the month ends' };
}

/** Use as a share of what the price includes. */
function includedText(
  alert: AlertView,
  { title, name, period }: { readonly title: string; readonly name: 'daily' | 'monthly'; readonly period: string },
): string {
  const included = `what its price includes ${name === 'daily' ? 'a day' : 'a month'}`;
  const { percent } = alert;
  const figures = `${share(alert)} ${period}`;
  if (percent === 100) return `${title} used ${included}: ${figures}. Use above that is charged.`;
  return `${title} used ${percent ?? 0}% of ${included}: ${figures}.`;
}

/**
 * One or two sentences for a customer.
 * @param timeZone quota time zone, IANA name
 */
export function alertText(alert: AlertView, timeZone: string): string {
  if (alert.kind === 'key_expiry') {
    const named = alert.keyName === null ? '' : ` (${alert.keyName})`;
    return `Key ${alert.maskedKey ?? ''}${named} expires on ${mailedMoment(alert.expiresAt ?? alert.at, timeZone)}.`;
  }
  const title = alert.productTitle ?? alert.product ?? 'A product';
  const { name, period, end } = window(alert);
  if (alert.isIncluded) return includedText(alert, { title, name, period });
  const figures = `${share(alert)} ${period}`;
  if (alert.percent === 100) return `${title} reached its ${name} limit: ${figures}. Further requests are refused until ${end}.`;
  return `${title} reached ${alert.percent ?? 0}% of its ${name} limit: ${figures}.`;
}
