import { ANSWER_TIME_BOUNDS_MS } from '../../../../plugins/core/catalogue/answer-times';
import { windowsAt } from '../../../../plugins/core/access/quota';
import { readDenialCounts } from '../../../selling/requests/list-denials';
import { viewKey } from '../../../selling/keys/key-view';
import { readDailyAnswers, readHourlyUsage, readKeyUsage } from '../../../selling/requests/read-key-hours';
import { readUsage } from '../../../selling/subscriptions/usage-read';
import { invalidInput } from '../../../kit/errors';
import { type usageEndpoints, type UsagePeriod } from '../../contract/usage';
import { type Handlers } from '../../http/bind-endpoint';
import { type DashboardDeps } from '../../http/dashboard-deps';
import { hourlyUsageCsv, usageCsv } from './usage-csv';
import { readSubscriptionUse } from '../plans/subscription-use';
import { type Caller } from '../../http/callers';

const DAY_MS = 86_400_000;
const MAX_DAYS = 92;
/** Nothing was sold before; PostgreSQL knows no year 0. */
const FIRST_DAY = '2000-01-01';

const MAX_DAYS_BY_HOUR = 7;

/** @throws ServiceError 400 */
function checkPeriod({ from, to, by }: Pick<UsagePeriod, 'from' | 'to' | 'by'>): void {
  const most = by === 'hour' ? MAX_DAYS_BY_HOUR : MAX_DAYS;
  const days = (Date.parse(to) - Date.parse(from)) / DAY_MS + 1;
  if (from < FIRST_DAY) throw invalidInput([{ field: 'from', message: `must not be before ${FIRST_DAY}` }]);
  if (days < 1) throw invalidInput([{ field: 'to', message: 'must not be before from' }]);
  if (days > most) throw invalidInput([{ field: 'to', message: `must be within ${most} days of from` }]);
}

/** Days and refusals of the period, or its hours; of one product when it names one. */
async function readPeriod(period: UsagePeriod, { customerId }: Caller, { db, timeZone }: DashboardDeps) {
  checkPeriod(period);
  if (period.by === 'hour') {
    const product = period.product?.replaceAll('\0', '');
    const hours = await readHourlyUsage(db, { customerId, fromDay: period.from, toDay: period.to, timeZone, product });
    return { days: [], refusals: [], answers: [], hours };
  }
  const query = { customerId, fromDay: period.from, toDay: period.to };
  const [days, refusals, answers] = await Promise.all([readUsage(db, query), readDenialCounts(db, query), readDailyAnswers(db, query)]);
  const isWanted = ({ product }: { product: string | null }): boolean => period.product === undefined || product === period.product;
  return {
    days: days.filter(isWanted).map((each) => ({ ...each, product: each.product ?? '' })),
    refusals: refusals.filter(isWanted),
    answers: answers.filter(isWanted),
    hours: [],
  };
}

/** What was used and refused, up to a second old; by key up to five. */
export const usageHandlers: Handlers<typeof usageEndpoints> = {
  'GET /usage': async ({ query, caller }, deps) => {
    const { db, clock, timeZone } = deps;
    const period = await readPeriod(query, caller, deps);
    const nowMs = clock.now();
    const subscriptions = await readSubscriptionUse(db, { customerId: caller.customerId, timeZone, nowMs });
    return { timeZone, today: windowsAt(nowMs / 1000, timeZone).day, ...period, answerTimesMs: ANSWER_TIME_BOUNDS_MS, subscriptions };
  },

  'GET /usage.csv': async ({ query, caller }, deps) => {
    const period = await readPeriod(query, caller, deps);
    const isByHour = query.by === 'hour';
    const filename = `usage-${query.from}-${query.to}${isByHour ? '-by-hour' : ''}.csv`;
    return { filename, content: isByHour ? hourlyUsageCsv(period) : usageCsv(period) };
  },

  'GET /keys/:id/usage': async ({ params, query: { from, to, by }, caller: { customerId } }, { db, clock, timeZone }) => {
    checkPeriod({ from, to, by });
    const { id: keyId } = await viewKey(db, { id: params.id, customerId });
    const use = await readKeyUsage(db, { keyId, fromDay: from, toDay: to, timeZone, by });
    return { timeZone, today: windowsAt(clock.now() / 1000, timeZone).day, answerTimesMs: ANSWER_TIME_BOUNDS_MS, use };
  },
};
