import { isUuid } from '../../../plugins/stores/postgres/database';

/** Orders of lists of keys. `created`: newest first; `name`: keys without a name last; `expires`: the soonest first. */
export const KEY_SORTS = ['created', 'name', 'expires'] as const;
export type KeySort = (typeof KEY_SORTS)[number];

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
export const KEY_ORDERS: Readonly<Record<KeySort, Order>> = {
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
export interface KeyCursor {
  readonly id: string;
  /** A time as PostgreSQL writes it, with the microseconds that a Date lacks; or a name. */
  readonly place: string;
}

/** The text for `next`. */
export function writeKeyCursor(sort: KeySort, { id, place }: KeyCursor): string {
  return Buffer.from(`${sort}|${id}|${place}`).toString('base64url');
}

/** Undefined for a cursor that is unreadable or of another order: then the first page. */
export function readKeyCursor(sort: KeySort, cursor: string | undefined): KeyCursor | undefined {
  if (cursor === undefined) return undefined;
  const [of, id = '', ...rest] = Buffer.from(cursor, 'base64url').toString().split('|');
  const place = rest.join('|');
  return of === sort && isUuid(id) && KEY_ORDERS[sort].isPlace(place) ? { id, place } : undefined;
}
