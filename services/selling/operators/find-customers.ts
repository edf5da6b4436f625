import { type Database, isUuid } from '../../../plugins/stores/postgres/database';
import { type Suspension } from '../customers/suspension-view';

/** `leaving`: requested deletion, or ended the last subscription within 30 days. `idle`: has no subscription. */
export const CUSTOMER_STATES = ['active', 'idle', 'leaving', 'suspended'] as const;
export type CustomerState = (typeof CUSTOMER_STATES)[number];

export interface ListedCustomer {
  readonly id: string;
  readonly email: string;
  /** The name that its organisation gives itself. */
  readonly name: string | null;
  readonly createdAt: Date;
  readonly state: CustomerState;
  readonly suspended: Suspension | null;
  /** Subscriptions that are not cancelled. */
  readonly plans: readonly { readonly product: string; readonly plan: string | null; readonly state: 'active' | 'paused' }[];
  /** Monthly prices of all active subscriptions. */
  readonly rates: readonly { readonly currency: string; readonly amount: string }[];
  /** Requests that were admitted in the last 30 days, and how many more than in the 30 days before. */
  readonly used: number;
  readonly growth: number;
  /** `YYYY-MM-DD` in the quota time zone, of the last admitted request; null if none is known. */
  readonly lastSeenOn: string | null;
}

interface Order {
  /** Includes the table's alias; otherwise it would be the result's column. */
  readonly column: string;
  /** The column's value in a cursor, and the expression that a cursor's value is compared with. */
  readonly place: string;
  readonly from: (given: string) => string;
  readonly isPlace: (value: string) => boolean;
}

const isCount = (value: string): boolean => /^-?\d{1,18}$/.test(value);
const countOf = (column: string, type: string): Order => ({
  column,
  place: `${column}::text`,
  from: (given) => `${given}::${type}`,
  isPlace: type === 'bigint' ? isCount : (value) => /^\d{1,18}(\.\d{1,4})?$/.test(value),
});

/** Orders of the list. Each has an index. */
const ORDERS = {
  email: { column: 'lower(l.email) COLLATE "C"', place: 'lower(l.email)', from: (given) => given, isPlace: () => true },
  created: {
    column: 'l.created_at',
    place: '(extract(epoch FROM l.created_at) * 1000000)::bigint::text',
    from: (given) => `timestamptz 'epoch' + ${given}::bigint * interval '1 microsecond'`,
    isPlace: (value) => /^\d{1,16}$/.test(value),
  },
  used: countOf('l.used', 'bigint'),
  growth: countOf('l.growth', 'bigint'),
  rate: countOf('l.rate', 'numeric'),
  seen: {
    column: 'l.last_seen_on',
    place: 'l.last_seen_on::text',
    from: (given) => `${given}::date`,
    isPlace: (value) =>
      value === '-infinity' || (/^\d{4}(-\d\d){2}$/.test(value) && new Date(`${value}T00:00Z`).toJSON()?.startsWith(value) === true),
  },
} as const satisfies Readonly<Record<string, Order>>;
export type CustomerOrder = keyof typeof ORDERS;

export interface CustomersPageQuery {
  readonly limit: number;
  /** Prefix of an email address in any case, id of a customer or key, or a key's last four characters. The order is then `email`. */
  readonly search?: string | undefined;
  /** One state, or the customers of one product. Default: everybody. */
  readonly list?: `state:${CustomerState}` | `product:${string}` | undefined;
  readonly order?: CustomerOrder | undefined;
  readonly isDescending?: boolean | undefined;
  /** `next` of the page before, of the same list and order. */
  readonly after?: string | undefined;
}

export interface CustomersPage {
  readonly customers: readonly ListedCustomer[];
  readonly next: string | undefined;
}

const COLUMNS = `customer_id AS id, email, name, created_at AS "createdAt", state, suspended, plans, rates, used::float8 AS used,
  growth::float8 AS growth, to_char(NULLIF(last_seen_on, '-infinity'), 'YYYY-MM-DD') AS "lastSeenOn"`;

/**
 * The last character in the order of bytes: every text that begins with a prefix lies between the prefix and the prefix with this
 * character.
 */
const LAST_CHARACTER = '\u{10ffff}';

interface Place {
  readonly value: string;
  readonly id: string;
}

/** An unreadable cursor is the beginning. */
function placeOf(after: string | undefined): Place | undefined {
  if (after === undefined) return undefined;
  const [value, id] = Buffer.from(after, 'base64url').toString().replaceAll('\0', '').split('\n');
  return value !== undefined && id !== undefined && isUuid(id) ? { value, id } : undefined;
}

/** Includes only the requested conditions, so that each order is read from its index. */
function statementOf(query: CustomersPageQuery): { text: string; values: unknown[] } {
  const { list = 'all', search = '', limit } = query;
  const { column, place, from, isPlace }: Order = ORDERS[search === '' ? (query.order ?? 'email') : 'email'];
  const isDescending = search === '' && query.isDescending === true;
  const values: unknown[] = [list, limit + 1];
  const give = (value: unknown): string => `$${values.push(value)}`;
  const conditions = ['list = $1'];
  if (search !== '') {
    const begin = search.toLowerCase();
    conditions.push(`${column} >= ${give(begin)} AND ${column} < ${give(begin + LAST_CHARACTER)}`);
  }
  const before = placeOf(query.after);
  if (before && isPlace(before.value)) {
    // Inside a SELECT the planner does not know the value. Otherwise it would expect few rows, read them all and sort them.
    conditions.push(
      `(${column}, customer_id) ${isDescending ? '<' : '>'} ((SELECT ${from(give(before.value))}), ${give(before.id)}::uuid)`,
    );
  }
  const direction = isDescending ? 'DESC' : 'ASC';
  const text = `
SELECT ${COLUMNS}, ${place} AS place FROM customer_listing l WHERE ${conditions.join(' AND ')}
ORDER BY ${column} ${direction}, customer_id ${direction} LIMIT $2`;
  return { text, values };
}

const BY_ID = `
SELECT ${COLUMNS} FROM customer_listing
WHERE list = 'all' AND customer_id = COALESCE((SELECT customer_id FROM credential WHERE id = $1::uuid), $1::uuid)`;

/** Keys with the same four characters are few: of random ones one in 14 million. */
const BY_LAST_FOUR = `
SELECT ${COLUMNS} FROM customer_listing
WHERE list = 'all' AND customer_id IN (SELECT customer_id FROM credential WHERE last_four = $1 AND last_four <> '' ORDER BY id LIMIT $2)
ORDER BY lower(email) COLLATE "C"`;

async function byKey(db: Database, search: string, limit: number): Promise<ListedCustomer[]> {
  if (isUuid(search)) return (await db.query<ListedCustomer>(BY_ID, [search])).rows;
  if (search.length !== 4) return [];
  return (await db.query<ListedCustomer>(BY_LAST_FOUR, [search, limit])).rows;
}

/** Customers as last listed; those with a searched key come first. However many there are, a page reads only what it shows. */
export async function findCustomers(db: Database, query: CustomersPageQuery): Promise<CustomersPage> {
  const { limit, search = '', after } = query;
  const { text, values } = statementOf(query);
  const { rows } = await db.query<ListedCustomer & { place: string }>(text, values);
  const shown = rows.slice(0, limit);
  const last = rows.length > limit ? shown.at(-1) : undefined;
  const exact = after === undefined && search !== '' ? await byKey(db, search, limit) : [];
  const others = shown.filter(({ id }) => !exact.some((each) => each.id === id)).map(({ place: _place, ...each }) => each);
  return { customers: [...exact, ...others], next: last && Buffer.from(`${last.place}\n${last.id}`).toString('base64url') };
}
