import { z } from 'zod';
import { ANSWER_TIME_BOUNDS_MS } from '../../../../plugins/core/selling/answer-times';
import { windowsAt } from '../../../../plugins/core/access/quota';
import { readDenialCounts } from '../../../../plugins/stores/postgres/decisions/list-denials';
import { viewKey } from '../../../../plugins/stores/postgres/keys/key-view';
import { readDailyAnswers, readHourlyUsage, readKeyUsage } from '../../../../plugins/stores/postgres/decisions/read-key-hours';
import { readUsage } from '../../../../plugins/stores/postgres/quota/usage-read';
import { invalidInput } from '../../../kit/errors';
import { streamReply } from '../../../kit/service/reply';
import { id } from '../../contract/fields';
import { keyUsage, keyUsageQuery, type Usage, usage, usageQuery } from '../../contract/usage';
import { type Caller, type DashboardDeps, defineEndpoint, type Endpoint } from '../http/define-endpoint';
import { hourlyUsageCsv, usageCsv } from './usage-csv';
import { readSubscriptionUse } from '../plans/subscription-use';

const DAY_MS = 86_400_000;
const MOST_DAYS = 92;
/** Nothing was sold before; PostgreSQL knows no year 0. */
const FIRST_DAY = '2000-01-01';

const MOST_DAYS_BY_HOUR = 7;

const ANSWER_TIMES = [...ANSWER_TIME_BOUNDS_MS];

type Period = z.output<typeof usageQuery>;

/** @throws ServiceError 400 */
function checkPeriod({ from, to, by }: Pick<Period, 'from' | 'to' | 'by'>): void {
  const most = by === 'hour' ? MOST_DAYS_BY_HOUR : MOST_DAYS;
  const days = (Date.parse(to) - Date.parse(from)) / DAY_MS + 1;
  if (from < FIRST_DAY) throw invalidInput([{ field: 'from', message: `must not be before ${FIRST_DAY}` }]);
  if (days < 1) throw invalidInput([{ field: 'to', message: 'must not be before from' }]);
  if (days > most) throw invalidInput([{ field: 'to', message: `must be within ${most} days of from` }]);
}

/** Days and refusals of the period, or its hours; of one product when it names one. */
async function readPeriod(
  period: Period,
  { customerId }: Caller,
  { db, timeZone }: DashboardDeps,
): Promise<Pick<Usage, 'days' | 'refusals' | 'answers' | 'hours'>> {
  checkPeriod(period);
  if (period.by === 'hour') {
    const product = period.product?.replaceAll('\0', '');
    const hours = await readHourlyUsage(db, { customerId, fromDay: period.from, toDay: period.to, timeZone, product });
    return { days: [], refusals: [], answers: [], hours: hours.map((each) => ({ ...each, startsAt: each.startsAt.toISOString() })) };
  }
  const query = { customerId, fromDay: period.from, toDay: period.to };
  const [days, refusals, answers] = await Promise.all([readUsage(db, query), readDenialCounts(db, query), readDailyAnswers(db, query)]);
  const isWanted = ({ product }: { product: string | null }): boolean => period.product === undefined || product === period.product;
  return {
    days: days
      .filter(isWanted)
      .map(({ day, product, mode, charged, refunded, used }) => ({ day, product: product ?? '', mode, charged, refunded, used })),
    refusals: refusals.filter(isWanted),
    answers: answers.filter(isWanted),
    hours: [],
  };
}

const show = defineEndpoint({
  method: 'GET',
  path: '/usage',
  needs: 'read',
  query: usageQuery,
  answer: usage,
  handler: async ({ query, caller }, deps) => {
    const { db, clock, timeZone } = deps;
    const period = await readPeriod(query, caller, deps);
    const nowMs = clock.now();
    const subscriptions = await readSubscriptionUse(db, { customerId: caller.customerId, timeZone, nowMs });
    return { timeZone, today: windowsAt(nowMs / 1000, timeZone).day, ...period, answerTimesMs: ANSWER_TIMES, subscriptions };
  },
});

const download = defineEndpoint({
  method: 'GET',
  path: '/usage.csv',
  needs: 'read',
  query: usageQuery,
  handler: async ({ query, caller }, deps) => {
    const period = await readPeriod(query, caller, deps);
    const name = `tollgate-usage-${query.from}-${query.to}${query.by === 'hour' ? '-by-hour' : ''}.csv`;
    const headers = { 'Content-Disposition': `attachment; filename="${name}"` };
    return streamReply(query.by === 'hour' ? hourlyUsageCsv(period) : usageCsv(period), 'text/csv; charset=utf-8; header=present', {
      headers,
    });
  },
});

const ofKey = defineEndpoint({
  method: 'GET',
  path: '/keys/:id/usage',
  needs: 'read',
  params: z.object({ id }),
  query: keyUsageQuery,
  answer: keyUsage,
  handler: async ({ params, query: { from, to, by }, caller: { customerId } }, { db, clock, timeZone }) => {
    checkPeriod({ from, to, by });
    const { id: keyId } = await viewKey(db, { id: params.id, customerId });
    const use = await readKeyUsage(db, { keyId, fromDay: from, toDay: to, timeZone, by });
    const today = windowsAt(clock.now() / 1000, timeZone).day;
    return {
      timeZone,
      today,
      answerTimesMs: ANSWER_TIMES,
      use: use.map((each) => ({ ...each, startsAt: each.startsAt?.toISOString() ?? null })),
    };
  },
});

/** What was used and refused, up to a second old; by key up to five. */
export const usageEndpoints: readonly Endpoint[] = [show, download, ofKey];
