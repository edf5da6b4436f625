import { type Database } from '../../../plugins/stores/postgres/database';
import { readLogPlace, writeLogPlace } from './scan-log';

/** A refused request of the last 7 days. */
export interface DenialView {
  readonly requestId: string;
  readonly at: Date;
  readonly code: string;
  /** The refused product; the route's first if the request did not get that far. */
  readonly product: string | null;
  readonly keyId: string | null;
  readonly maskedKey: string | null;
  readonly callerAddress: string | null;
  readonly originHost: string | null;
}

export interface DenialsQuery {
  readonly customerId: string;
  readonly limit: number;
  /** Only this key's. */
  readonly keyId?: string | undefined;
  /** `next` of the page before; an unreadable one gives the first page. */
  readonly after?: string | undefined;
}

const PAGE = `
SELECT request_id AS "requestId", at, (extract(epoch FROM at) * 1000000)::bigint::text AS micros, outcome AS code,
  COALESCE(product, products[1]) AS product, credential_id AS "keyId", masked_key AS "maskedKey", caller_address AS "callerAddress",
  origin_host AS "originHost"
FROM decision
WHERE customer_id = $1 AND outcome <> 'admitted' AND outcome NOT LIKE 'would_refuse:%' AND at > now() - interval '7 days' AND ($2::uuid IS NULL OR credential_id = $2)
  AND (at, request_id) < (timestamptz 'epoch' + $3::bigint * interval '1 microsecond', $4)
ORDER BY at DESC, request_id DESC LIMIT $5`;

/** Requests with a customer's keys that were refused, newest first. `next` is undefined at the end. */
export async function listDenials(
  db: Database,
  query: DenialsQuery,
): Promise<{ refusals: readonly DenialView[]; next: string | undefined }> {
  const { customerId, limit, keyId } = query;
  const { micros, requestId } = readLogPlace(query.after);
  const values = [customerId, keyId ?? null, micros, requestId, limit + 1];
  const { rows } = await db.query<DenialView & { micros: string }>(PAGE, values);
  const shown = rows.slice(0, limit);
  const last = rows.length > limit ? shown.at(-1) : undefined;
  return { refusals: shown, next: last && writeLogPlace(last) };
}

/** Refused requests of one customer's keys. */
export interface DenialCount {
  /** `YYYY-MM-DD` in the quota time zone. */
  readonly day: string;
  readonly product: string;
  readonly code: string;
  readonly count: number;
}

const QUERY = `
SELECT to_char(d.day, 'YYYY-MM-DD') AS day, d.product_id AS product, d.code, sum(d.count)::float8 AS count
FROM denial_count d JOIN credential k ON k.id = d.credential_id
WHERE k.customer_id = $1 AND d.day BETWEEN $2::date AND $3::date
GROUP BY d.day, d.product_id, d.code ORDER BY d.day, d.product_id, d.code`;

/** Refusals by day, product and code, up to half a second old. Both days belong to the period. */
export async function readDenialCounts(
  db: Database,
  { customerId, fromDay, toDay }: { customerId: string; fromDay: string; toDay: string },
): Promise<DenialCount[]> {
  const { rows } = await db.query<DenialCount>(QUERY, [customerId, fromDay, toDay]);
  return rows;
}
