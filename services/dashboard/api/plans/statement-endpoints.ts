import { Readable } from 'node:stream';
import { listStatementMonths, type MonthlyStatement, readStatement } from '../../../../plugins/stores/postgres/statements/read-statement';
import { ServiceError } from '../../../kit/errors';
import { streamReply } from '../../../kit/service/reply';
import { statementAnswer, statementMonths, statementQuery } from '../../contract/statements';
import { type Caller, type DashboardDeps, defineEndpoint, type Endpoint } from '../http/define-endpoint';
import { csvRecord } from '../requests/usage-csv';

const list = defineEndpoint({
  method: 'GET',
  path: '/statements',
  needs: 'read',
  answer: statementMonths,
  handler: async ({ caller: { customerId } }, { db, clock, timeZone }) => ({
    months: await listStatementMonths(db, { customerId, timeZone, now: clock.now() / 1_000 }),
  }),
});

function read(
  month: string,
  { customerId, address: email }: Caller,
  { db, clock, timeZone }: DashboardDeps,
): Promise<MonthlyStatement | null> {
  return readStatement(db, { customer: { id: customerId, email }, month, timeZone, now: clock.now() / 1_000 });
}

const show = defineEndpoint({
  method: 'GET',
  path: '/statement',
  needs: 'read',
  query: statementQuery,
  answer: statementAnswer,
  handler: async ({ query: { month }, caller }, deps) => {
    const found = await read(month, caller, deps);
    return { statement: found && { ...found, lines: found.lines.map((line) => ({ ...line })), totals: [...found.totals] } };
  },
});

const COLUMNS = [
  'month',
  'product',
  'plan',
  'subscription',
  'days',
  'charged',
  'refunded',
  'used',
  'included',
  'test',
  'price',
  'amount',
  'currency',
];

/** A line for each line of the statement. */
function* records({ month, lines }: MonthlyStatement): Generator<string> {
  yield csvRecord(COLUMNS);
  for (const { product, plan, subscriptionId, days, charged, refunded, used, monthly, test, price, amount, currency } of lines) {
    yield csvRecord([
      month,
      product,
      plan ?? '',
      subscriptionId,
      days,
      charged,
      refunded,
      used,
      monthly,
      test,
      currency === null ? '' : price,
      currency === null ? '' : amount,
      currency ?? '',
    ]);
  }
}

const download = defineEndpoint({
  method: 'GET',
  path: '/statement.csv',
  needs: 'read',
  query: statementQuery,
  handler: async ({ query: { month }, caller }, deps) => {
    const found = await read(month, caller, deps);
    if (!found) throw new ServiceError('not_found', { code: 'statement_unknown', detail: `There is no statement for ${month}.` });
    const headers = { 'Content-Disposition': `attachment; filename="tollgate-statement-${month}.csv"` };
    return streamReply(Readable.from(records(found)), 'text/csv; charset=utf-8; header=present', { headers });
  },
});

/** What was used in a month, and what it costs. */
export const statementEndpoints: readonly Endpoint[] = [list, show, download];
