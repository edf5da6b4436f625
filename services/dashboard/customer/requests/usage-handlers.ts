import { ANSWER_TIME_BOUNDS_MS } from '../../../../plugins/core/catalogue/answer-times';
import { windowsAt } from '../../../../plugins/core/access/quota';
import { readDenialCounts } from '../../../selling/requests/list-denials';
import { viewKey } from '../../../selling/keys/key-view';
import { readDailyAnswers, readHourlyUsage, readKeyUsage } from '../../../selling/requests/read-key-hours';
import { readUsage } from '../../../selling/subscriptions/usage-read';
import { invalidInput } from '../../../kit/errors';
import type { usageEndpoints, UsagePeriod, UsageAnswer } from '../../contract/usage';
import type { Handlers } from '../../http/bind-endpoint';
import type { DashboardDeps } from '../../http/dashboard-deps';
import { readSubscriptionUse } from '../plans/subscription-use';
import type { SignedInCaller } from '../../http/callers';
import type { Given } from '../../contract/endpoint';
import { type Cell, csvRecord } from '../../http/csv';

const DAY_MS = 86_400_000;
const MAX_DAYS = 92;
/** Nothing was sold earlier. PostgreSQL has no year 0. */
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

/** Days and refusals of the period, or its hours; for one product if it names one. */
async function readPeriod(period: UsagePeriod, { customerId }: SignedInCaller, { db, timeZone }: DashboardDeps) {
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

/** Used and refused requests, up to a second old; by key up to five. */
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

type Usage = Given<UsageAnswer>;

interface Counts {
  readonly charged: number;
  readonly refunded: number;
  readonly used: number;
}

interface Row {
  live: Counts;
  test: Counts;
  /** Refused requests with any key, by code. */
  readonly refused: Map<string, number>;
  admitted: Pick<Usage['answers'][number], 'admitted' | 'answers'>;
}

type Days = Pick<Usage, 'days' | 'refusals' | 'answers'>;

const ANSWER_COLUMNS = ['succeeded', 'rejected', 'failed', 'abandoned'] as const;

function answerCells(answers: Usage['answers'][number]['answers']): Cell[] {
  return ANSWER_COLUMNS.map((name) => answers?.[name] ?? '');
}

const NONE: Counts = { charged: 0, refunded: 0, used: 0 };
const cellsOf = ({ charged, refunded, used }: Counts): Cell[] => [charged, refunded, used];

function rowsOf({ days, refusals, answers }: Days): Map<string, Row> {
  const rows = new Map<string, Row>();
  const rowOf = (day: string, product: string): Row => {
    const place = `${day}\0${product}`;
    const row = rows.get(place) ?? { live: NONE, test: NONE, refused: new Map<string, number>(), admitted: { admitted: 0, answers: null } };
    rows.set(place, row);
    return row;
  };
  for (const { day, product, mode, ...counts } of days) rowOf(day, product)[mode] = counts;
  for (const { day, product, code, count } of refusals) rowOf(day, product).refused.set(code, count);
  for (const { day, product, ...admitted } of answers) rowOf(day, product).admitted = admitted;
  return rows;
}

/** A line for each day and product, sorted by day, with a column for each code that occurs. Values that were not measured are empty. */
function* usageCsv(usage: Days): Generator<string> {
  const rows = rowsOf(usage);
  const codes = [...new Set(usage.refusals.map(({ code }) => code))].sort();
  const refusedColumns = ['refused', ...codes.map((code) => `refused_${code}`)];
  const testColumns = ['test_charged', 'test_refunded', 'test_used'];
  yield csvRecord(['day', 'product', 'charged', 'refunded', 'used', ...refusedColumns, ...testColumns, 'admitted', ...ANSWER_COLUMNS]);
  for (const place of [...rows.keys()].sort()) {
    const row = rows.get(place);
    const [day = '', product = ''] = place.split('\0');
    if (!row) continue;
    const counts = codes.map((code) => row.refused.get(code) ?? 0);
    const refused = counts.reduce((sum, count) => sum + count, 0);
    const { admitted, answers } = row.admitted;
    yield csvRecord([day, product, ...cellsOf(row.live), refused, ...counts, ...cellsOf(row.test), admitted, ...answerCells(answers)]);
  }
}

/**
 * A line for each hour, product and mode, sorted by time. Hours are given by their beginning, in UTC. Values that were not measured are
 * empty.
 */
function* hourlyUsageCsv({ hours }: Pick<Usage, 'hours'>): Generator<string> {
  yield csvRecord(['starts_at', 'product', 'mode', 'admitted', 'refused', 'unavailable', ...ANSWER_COLUMNS]);
  for (const { startsAt, product, mode, admitted, refused, unavailable, answers } of hours) {
    yield csvRecord([new Date(startsAt).toISOString(), product, mode, admitted, refused, unavailable, ...answerCells(answers)]);
  }
}
