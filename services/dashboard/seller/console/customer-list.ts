import { type Pool } from 'pg';
import { windowsAt } from '../../../../plugins/core/access/quota';
import { type CustomersPageQuery, findCustomers, type ListedCustomer } from '../../../selling/operators/find-customers';
import { type CustomersFilter } from '../../contract/operator-customers';
import { type DashboardDeps } from '../../http/dashboard-deps';
import { csvRecord } from '../../http/csv';
import { toRates } from './home-handlers';

/** `YYYY-MM-DD` in the quota time zone. */
export const todayOf = ({ clock, timeZone }: DashboardDeps): string => windowsAt(clock.now() / 1000, timeZone).day;

type ListQuery = Omit<CustomersPageQuery, 'limit' | 'after'>;

/** The request as a query for the store. */
export function listOf({ search, state, product, sort, direction }: CustomersFilter): ListQuery {
  const list = state !== undefined ? (`state:${state}` as const) : product === undefined ? undefined : (`product:${product}` as const);
  return { search: search?.replaceAll('\0', ''), list, order: sort, isDescending: direction === 'down' };
}

const BATCH = 500;
/** The most lines that a spreadsheet opens. */
const MAX_LINES = 100_000;

const COLUMNS = [
  'email',
  'name',
  'id',
  'customer_since',
  'state',
  'suspended_reason',
  'plans',
  'requests_30_days',
  'growth',
  'run_rate',
  'last_seen',
];

function recordOf({ email, name, id, createdAt, state, suspended, plans, used, growth, rates, lastSeenOn }: ListedCustomer): string {
  const planNames = plans.map(({ product, plan }) => (plan === null ? product : `${product} ${plan}`)).join(', ');
  const prices = toRates(rates).map(({ currency, price }) => `${currency} ${price}`);
  const about = [email, name ?? '', id, new Date(createdAt).toISOString(), state, suspended?.reason ?? ''];
  return csvRecord([...about, planNames, used, growth, prices.join(', '), lastSeenOn ?? '']);
}

/** The requested customers in their order, read a few at a time. */
export async function* customerRecords(db: Pool, query: ListQuery): AsyncGenerator<string> {
  yield csvRecord(COLUMNS);
  let after: string | undefined;
  for (let count = 0; count < MAX_LINES; count += BATCH) {
    const { customers, next } = await findCustomers(db, { ...query, limit: BATCH, after });
    for (const customer of customers) yield recordOf(customer);
    if (next === undefined) return;
    after = next;
  }
}
