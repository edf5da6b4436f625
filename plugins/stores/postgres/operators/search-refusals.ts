import { type Database, isUuid } from '../database';
import { type DenialView } from '../decisions/list-denials';

export interface RefusalsQuery {
  readonly limit: number;
  readonly product?: string | undefined;
  /** For example `key_unknown`. */
  readonly code?: string | undefined;
  /** Id of a customer. */
  readonly customerId?: string | undefined;
  readonly after?: string | undefined;
}

export interface RefusalOfAll extends DenialView {
  readonly customer: { readonly id: string; readonly email: string } | null;
}

/** So many are looked through for one page: what is rare takes more pages, and never more time. */
const MOST_SCANNED = 2_000;

function statement({ customerId, limit }: RefusalsQuery, isFiltered: boolean): string {
  const own = customerId === undefined ? '' : 'AND customer_id = $7::uuid';
  return `
WITH recent AS (
  SELECT * FROM decision WHERE outcome <> 'admitted' ${own}
    AND (at, request_id) < (timestamptz 'epoch' + $1::bigint * interval '1 microsecond', $2)
  ORDER BY at DESC, request_id DESC LIMIT ${isFiltered ? MOST_SCANNED : limit + 1}
), page AS (
  SELECT * FROM recent
  WHERE ($3::text IS NULL OR COALESCE(product, products[1]) = $3) AND ($4::text IS NULL OR outcome = $4)
  ORDER BY at DESC, request_id DESC LIMIT $5
), seen AS (
  SELECT count(*)::integer AS count, (array_agg((extract(epoch FROM at) * 1000000)::bigint::text || '|' || request_id ORDER BY at, request_id))[1] AS last FROM recent WHERE $6::boolean
)
SELECT p.request_id AS "requestId", p.at, p.outcome AS code, COALESCE(p.product, p.products[1]) AS product, p.credential_id AS "keyId",
  p.masked_key AS "maskedKey", p.caller_address AS "callerAddress", p.origin_host AS "originHost",
  CASE WHEN c.id IS NOT NULL THEN json_build_object('id', c.id, 'email', c.email) END AS customer,
  (extract(epoch FROM p.at) * 1000000)::bigint::text || '|' || p.request_id AS place, seen.count AS scanned, seen.last AS "lastScanned"
FROM seen LEFT JOIN page p ON true LEFT JOIN customer c ON c.id = p.customer_id
ORDER BY p.at DESC, p.request_id DESC`;
}

/** Far beyond every decision, and within the range of a timestamp. */
const FIRST = '9999999999999999';

function readCursor(cursor: string | undefined): [string, string] {
  const text = cursor === undefined ? '' : Buffer.from(cursor, 'base64url').toString();
  const [, micros = FIRST, requestId = ''] = /^(\d{1,16})\|([^\0]{1,100})$/.exec(text) ?? [];
  return [micros, requestId];
}

type Row = (RefusalOfAll | { readonly requestId: null }) & {
  readonly place: string;
  readonly scanned: number;
  readonly lastScanned: string | null;
};

/** Requests of the last 7 days that were refused, whosever; newest first. A page may be short, and `next` still lead on. */
export async function searchRefusals(
  db: Database,
  query: RefusalsQuery,
): Promise<{ refusals: readonly RefusalOfAll[]; next: string | undefined }> {
  const { limit, product, code, customerId } = query;
  if (customerId !== undefined && !isUuid(customerId)) return { refusals: [], next: undefined };
  const isFiltered = product !== undefined || code !== undefined;
  const values = [...readCursor(query.after), product ?? null, code ?? null, limit + 1, isFiltered];
  const { rows } = await db.query<Row>(statement(query, isFiltered), customerId === undefined ? values : [...values, customerId]);
  const found = rows.filter((row): row is RefusalOfAll & Row => row.requestId !== null);
  const shown = found.slice(0, limit);
  const end = found.length > limit ? shown.at(-1)?.place : rows[0]?.scanned === MOST_SCANNED ? rows[0].lastScanned : undefined;
  const refusals = shown.map(({ place: _place, scanned: _scanned, lastScanned: _last, ...refusal }) => refusal);
  return { refusals, next: typeof end === 'string' ? Buffer.from(end).toString('base64url') : undefined };
}
