import { listCharges } from '../../../selling/billing/payment-charges';
import { listStatementMonths, type MonthlyStatement, readStatement } from '../../../selling/statements/read-statement';
import { fromMinor } from '../../../../plugins/core/catalogue/money';
import { type statementEndpoints } from '../../contract/statements';
import { type Handlers } from '../../http/bind-endpoint';
import { type DashboardDeps } from '../../http/dashboard-deps';
import { Refusal } from '../../http/refusal';
import { csvRecord } from '../../http/csv';
import { type SignedInCaller } from '../../http/callers';

/** A statement as customers read it, with what a payment provider charged in the month. */
async function read(month: string, { customerId, address: email }: SignedInCaller, { db, clock, timeZone }: DashboardDeps) {
  const found = await readStatement(db, { customer: { id: customerId, email }, month, timeZone, now: clock.now() / 1_000 });
  if (!found) return null;
  const { rows } = await listCharges(db, { customerId, month, timeZone, state: 'paid', limit: MAX_CHARGES });
  const paid = rows.map(({ product, chargedAt, amount, refunded, currency }) => ({
    product,
    chargedAt,
    amount: fromMinor(amount, currency),
    refunded: fromMinor(refunded, currency),
    currency,
  }));
  return { ...found, paid };
}

/** A month has a charge for each product, and a few for changes of plan. */
const MAX_CHARGES = 1_000;

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
  'surcharge',
  'amount',
  'currency',
  'requests',
  'above_limits',
  'overage',
];

/** A line for each line of the statement. */
function* records({ month, lines }: MonthlyStatement): Generator<string> {
  yield csvRecord(COLUMNS);
  for (const line of lines) {
    const { product, plan, subscriptionId, days, charged, refunded, used, monthly, test, price, currency } = line;
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
      currency === null ? '' : line.surcharge,
      currency === null ? '' : line.amount,
      currency ?? '',
      line.requests ?? '',
      line.overage?.units ?? '',
      line.overage?.amount ?? '',
    ]);
  }
}

/** What was used in a month, and what it costs. */
export const statementHandlers: Handlers<typeof statementEndpoints> = {
  'GET /statements': async ({ caller: { customerId } }, { db, clock, timeZone }) => ({
    months: await listStatementMonths(db, { customerId, timeZone, now: clock.now() / 1_000 }),
  }),

  'GET /statement': async ({ query: { month }, caller }, deps) => ({ statement: await read(month, caller, deps) }),

  'GET /statement.csv': async ({ query: { month }, caller }, deps) => {
    const found = await read(month, caller, deps);
    if (!found) throw new Refusal('statement_unknown', { detail: `There is no statement for ${month}.` });
    return { filename: `statement-${month}.csv`, content: records(found) };
  },
};
