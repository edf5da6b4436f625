import { type Pool } from 'pg';
import { type KeyMode } from '../../../plugins/core/ports';
import { isUuid } from '../../../plugins/stores/postgres/database';
import { KEY_SUMMARY_COLUMNS, type KeySummary } from './key-view';

export interface KeyFilter {
  readonly customerId: string;
  /** Part of the name, whatever its case, or of the shown key. */
  readonly search?: string | undefined;
  /** `expired`: expired but not revoked; `active` and `inactive` leave expired keys out. */
  readonly state?: 'active' | 'inactive' | 'expired' | 'revoked' | undefined;
  readonly mode?: KeyMode | undefined;
  /** Authorised for this product. */
  readonly product?: string | undefined;
  readonly tag?: string | undefined;
  /** A key to leave out, by its SHA-256 as 64 hex digits, because its customer does not manage it. */
  readonly exceptHash?: string | undefined;
}

export interface KeysPageQuery extends KeyFilter {
  /** Maximum keys on the page. */
  readonly limit: number;
  /** Default: `created`. */
  readonly sort?: KeySort | undefined;
  /** `next` of the page before, in the same order. One that cannot be read gives the first page. */
  readonly after?: string | undefined;
  /** Counts the keys on all pages, which reads every key that matches. Default false. */
  readonly count?: boolean | undefined;
}

export interface KeysPage {
  readonly keys: readonly KeySummary[];
  /** Undefined on the last page. */
  readonly next: string | undefined;
  /** Keys that match on all pages; undefined if the count was not asked for and there are more than shown. */
  readonly total: number | undefined;
}

/** Orders of lists of keys. `created`: newest first; `name`: keys without a name last; `expires`: the soonest first. */
type KeySort = 'created' | 'name' | 'expires';

interface Order {
  /** The column of credential `k`, as the index has it. */
  readonly column: string;
  readonly type: 'timestamptz' | 'text';
  readonly direction: 'ASC' | 'DESC';
  /** True for the text of a value that PostgreSQL reads as one. */
  isPlace(text: string): boolean;
}

const MOMENT = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d{1,6})?[+-]\d\d(:\d\d)?$/;
const isMoment = (text: string): boolean => MOMENT.test(text) && !Number.isNaN(Date.parse(text));

/** The expressions are those of the indexes of migration 0004. */
const KEY_ORDERS: Readonly<Record<KeySort, Order>> = {
  created: { column: 'k.created_at', type: 'timestamptz', direction: 'DESC', isPlace: isMoment },
  name: {
    column: `(CASE WHEN k.name IS NULL THEN '1' ELSE '0' || lower(k.name) END) COLLATE "C"`,
    type: 'text',
    direction: 'ASC',
    isPlace: (text) => /^(1|0[^\0]+)$/.test(text),
  },
  expires: {
    column: `COALESCE(k.expires_at, 'infinity')`,
    type: 'timestamptz',
    direction: 'ASC',
    isPlace: (text) => text === 'infinity' || isMoment(text),
  },
};

/** Where a page begins: after the key with this id and this sort value. */
interface KeyCursor {
  readonly id: string;
  /** A time as PostgreSQL writes it, with the microseconds that a Date lacks; or a name. */
  readonly place: string;
}

/** The text for `next`. */
function writeKeyCursor(sort: KeySort, { id, place }: KeyCursor): string {
  return Buffer.from(`${sort}|${id}|${place}`).toString('base64url');
}

/** Undefined for a cursor that is unreadable or of another order: then the first page. */
function readKeyCursor(sort: KeySort, cursor: string | undefined): KeyCursor | undefined {
  if (cursor === undefined) return undefined;
  const [of, id = '', ...rest] = Buffer.from(cursor, 'base64url').toString().split('|');
  const place = rest.join('|');
  return of === sort && isUuid(id) && KEY_ORDERS[sort].isPlace(place) ? { id, place } : undefined;
}

const STATES = {
  active: "k.state = 'active' AND (k.expires_at IS NULL OR k.expires_at > now())",
  inactive: "k.state = 'inactive' AND (k.expires_at IS NULL OR k.expires_at > now())",
  // The index's own expression, so that a page in the order of expiry can use it.
  expired: "k.state <> 'revoked' AND COALESCE(k.expires_at, 'infinity') <= now()",
  revoked: "k.state = 'revoked'",
} as const;

/** Builds a statement: compared values are never part of its text. */
class Statement {
  readonly values: unknown[] = [];
  readonly conditions: string[] = [];

  /** The placeholder of a value. */
  take(value: unknown): string {
    this.values.push(value);
    return `$${this.values.length}`;
  }
}

/** Conditions on an index's columns are written out: `$2 IS NULL OR …` would hide them from the planner. */
function matching(filter: KeyFilter): Statement {
  const { customerId, search, state, mode, product, tag, exceptHash } = filter;
  const statement = new Statement();
  const { conditions } = statement;
  conditions.push(`k.customer_id = ${statement.take(customerId)}`);
  if (search) {
    const text = statement.take(search);
    conditions.push(`(strpos(lower(k.name), lower(${text})) > 0 OR strpos(k.prefix || '…' || k.last_four, ${text}) > 0)`);
  }
  if (state) conditions.push(STATES[state]);
  if (mode) conditions.push(`k.mode = ${statement.take(mode)}`);
  if (product) {
    conditions.push(`EXISTS (SELECT FROM credential_product p WHERE p.credential_id = k.id AND p.product_id = ${statement.take(product)})`);
  }
  if (tag) conditions.push(`EXISTS (SELECT FROM credential_tag t WHERE t.credential_id = k.id AND t.tag = ${statement.take(tag)})`);
  if (exceptHash) conditions.push(`k.hash <> decode(${statement.take(exceptHash)}, 'hex')`);
  return statement;
}

interface Source {
  readonly from: string;
  /** The columns of the order, in the table by which the keys are found. */
  readonly column: string;
  readonly id: string;
}

/** Keys of one tag or product, newest first, are read through that table's index; all others through the index of the order. */
function sourceOf({ customerId, tag, product }: KeyFilter, sort: KeySort, statement: Statement): Source {
  const { column } = KEY_ORDERS[sort];
  if (sort !== 'created' || (tag ?? product) === undefined) return { from: 'credential k', column, id: 'k.id' };
  const [table, name, value] = tag === undefined ? ['credential_product', 'product_id', product] : ['credential_tag', 'tag', tag];
  statement.conditions.push(`f.customer_id = ${statement.take(customerId)}`, `f.${name} = ${statement.take(value)}`);
  return { from: `${table} f JOIN credential k ON k.id = f.credential_id`, column: 'f.created_at', id: 'f.credential_id' };
}

/** The page is cut from the index before products and tags are read for its rows. */
function pageStatement(query: KeysPageQuery, sort: KeySort, begin: KeyCursor | undefined): { text: string; values: unknown[] } {
  const statement = matching(query);
  const { direction, type } = KEY_ORDERS[sort];
  const { from, column, id } = sourceOf(query, sort, statement);
  if (begin) {
    const place = `(${statement.take(begin.place)}::${type}, ${statement.take(begin.id)}::uuid)`;
    statement.conditions.push(`(${column}, ${id}) ${direction === 'ASC' ? '>' : '<'} ${place}`);
  }
  const limit = statement.take(query.limit + 1);
  const text = `
WITH page AS (
  SELECT k.*, (${column})::text AS place, row_number() OVER (ORDER BY ${column} ${direction}, ${id} ${direction}) AS rank
  FROM ${from} WHERE ${statement.conditions.join(' AND ')}
  ORDER BY ${column} ${direction}, ${id} ${direction} LIMIT ${limit}
)
SELECT ${KEY_SUMMARY_COLUMNS}, k.place FROM page k JOIN customer c ON c.id = k.customer_id ORDER BY k.rank`;
  return { text, values: statement.values };
}

async function countKeys(db: Pool, filter: KeyFilter): Promise<number> {
  const { conditions, values } = matching(filter);
  const text = `SELECT count(*)::integer AS total FROM credential k WHERE ${conditions.join(' AND ')}`;
  const { rows } = await db.query<{ total: number }>(text, values);
  return rows[0]?.total ?? 0;
}

/**
 * One page of a customer's keys. However many there are, a page in one of the orders, or of one product, tag, mode or state, newest
 * first, reads the rows it shows; several filters at once read what the first of them leaves.
 */
export async function listKeysPage(db: Pool, query: KeysPageQuery): Promise<KeysPage> {
  const { limit, sort = 'created' } = query;
  const begin = readKeyCursor(sort, query.after);
  const { text, values } = pageStatement(query, sort, begin);
  const [page, counted] = await Promise.all([
    db.query<KeySummary & { place: string }>(text, values),
    query.count ? countKeys(db, query) : undefined,
  ]);
  const rows = page.rows.slice(0, limit);
  const last = page.rows.length > limit ? rows.at(-1) : undefined;
  return {
    keys: rows.map(({ place: _place, ...key }) => key),
    next: last && writeKeyCursor(sort, last),
    total: counted ?? (begin || last ? undefined : rows.length),
  };
}
