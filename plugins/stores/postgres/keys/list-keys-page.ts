import { type Pool } from 'pg';
import { isUuid } from '../database';
import { KEY_SUMMARY_COLUMNS, type KeySummary } from './key-view';

export interface KeysPageQuery {
  readonly customerId: string;
  /** Most keys on the page. */
  readonly limit: number;
  /** `next` of the page before. One that cannot be read gives the first page. */
  readonly after?: string | undefined;
  /** Part of the name, whatever its case, or of the shown key. */
  readonly search?: string | undefined;
  /** `expired`: neither revoked nor usable any more; `active` and `inactive` leave expired keys out. */
  readonly state?: 'active' | 'inactive' | 'expired' | 'revoked' | undefined;
  /** A key that is left out, by its SHA-256 as 64 hex digits: one that its customer does not manage. */
  readonly exceptHash?: string | undefined;
}

export interface KeysPage {
  readonly keys: readonly KeySummary[];
  /** Undefined on the last page. */
  readonly next: string | undefined;
  /** Keys that match on all pages. */
  readonly total: number;
}

const MATCHES = `
k.customer_id = $1
  AND ($2::text IS NULL OR strpos(lower(k.name), lower($2)) > 0 OR strpos(k.prefix || '…' || k.last_four, $2) > 0)
  AND ($3::text IS NULL OR $3 =
    CASE WHEN k.state = 'revoked' THEN 'revoked' WHEN k.expires_at <= now() THEN 'expired' ELSE k.state END)
  AND ($4::text IS NULL OR k.hash <> decode($4, 'hex'))`;

/** The page is cut from the index before products are read for what is left. Times go as text: a Date has no microseconds. */
const PAGE = `
WITH page AS (
  SELECT * FROM credential k
  WHERE ${MATCHES} AND ($5::timestamptz IS NULL OR (k.created_at, k.id) < ($5, $6::uuid))
  ORDER BY k.created_at DESC, k.id DESC LIMIT $7
)
SELECT ${KEY_SUMMARY_COLUMNS}, k.created_at::text AS place
FROM page k JOIN customer c ON c.id = k.customer_id
ORDER BY k.created_at DESC, k.id DESC`;

const COUNT = `SELECT count(*)::integer AS total FROM credential k WHERE ${MATCHES}`;

const PLACE = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d{1,6})?[+-]\d\d(:\d\d)?$/;

function readCursor(cursor: string | undefined): { place: string | null; id: string | null } {
  const [place = '', id = ''] = cursor === undefined ? [] : Buffer.from(cursor, 'base64url').toString().split('|');
  return PLACE.test(place) && !Number.isNaN(Date.parse(place)) && isUuid(id) ? { place, id } : { place: null, id: null };
}

/** One page of a customer's keys, newest first. However many keys there are, a page costs the rows it shows, and one count. */
export async function listKeysPage(db: Pool, query: KeysPageQuery): Promise<KeysPage> {
  const { customerId, limit, search, state, exceptHash } = query;
  const { place, id } = readCursor(query.after);
  const matching = [customerId, search || null, state ?? null, exceptHash ?? null];
  const [page, count] = await Promise.all([
    db.query<KeySummary & { place: string }>(PAGE, [...matching, place, id, limit + 1]),
    db.query<{ total: number }>(COUNT, matching),
  ]);
  const rows = page.rows.slice(0, limit);
  const last = page.rows.length > limit ? rows.at(-1) : undefined;
  return {
    keys: rows.map(({ place: _place, ...key }) => key),
    next: last && Buffer.from(`${last.place}|${last.id}`).toString('base64url'),
    total: count.rows[0]?.total ?? 0,
  };
}
