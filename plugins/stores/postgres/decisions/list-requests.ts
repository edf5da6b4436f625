import { type Database } from '../database';
import { readLogPlace, writeLogPlace } from './log-place';

/** A line of a customer's log: one request with one of the customer's keys. */
export interface LoggedRequest {
  readonly requestId: string;
  readonly at: Date;
  /** `admitted`, or the code of the refusal. */
  readonly outcome: string;
  /** The product that decided; the route's first when the request did not come so far. */
  readonly product: string | null;
  readonly keyId: string | null;
  readonly keyName: string | null;
  readonly maskedKey: string | null;
  /**
   * Of the requests with this key for this product in the same hour that were admitted (refused, for a refusal), the share that has a line: 1 where
   * each has. Null while they are not counted yet, for some seconds.
   */
  readonly share: number | null;
  /** The product failed, and the request was given back. Known for three days. */
  readonly isGivenBack: boolean;
}

export interface RequestsQuery {
  readonly customerId: string;
  /** Quota time zone: hours are counted from the beginning of its days. */
  readonly timeZone: string;
  readonly limit: number;
  readonly keyId?: string | undefined;
  readonly product?: string | undefined;
  /** Any of these. */
  readonly outcomes?: readonly string[] | undefined;
  /** The first moment that is wanted, and the first that is not. */
  readonly from?: Date | undefined;
  readonly to?: Date | undefined;
  /** `next` of the page before. What cannot be read gives the first page. */
  readonly after?: string | undefined;
}

/** As the log's index has it. */
const AT = "(at AT TIME ZONE 'UTC')";

/** Conditions name only columns of the log's index, so that no line is read that is not shown. */
function conditionsOf(query: RequestsQuery, values: unknown[]): string {
  const given = (value: unknown): string => `$${values.push(value)}`;
  const { keyId, product, outcomes, from, to } = query;
  const conditions = [`customer_id = ${given(query.customerId)}`, `${AT} > (now() AT TIME ZONE 'UTC') - interval '7 days'`];
  if (keyId !== undefined) conditions.push(`credential_id = ${given(keyId)}::uuid`);
  if (product !== undefined) conditions.push(`COALESCE(product, products[1]) = ${given(product)}`);
  if (outcomes?.length === 1) conditions.push(`outcome = ${given(outcomes[0])}`);
  else if (outcomes !== undefined) conditions.push(`outcome = ANY (${given(outcomes)}::text[])`);
  if (from) conditions.push(`${AT} >= ${given(from)}::timestamptz AT TIME ZONE 'UTC'`);
  if (to) conditions.push(`${AT} < ${given(to)}::timestamptz AT TIME ZONE 'UTC'`);
  const { micros, requestId } = readLogPlace(query.after);
  conditions.push(`(${AT}, request_id) < (timestamp 'epoch' + ${given(micros)}::bigint * interval '1 microsecond', ${given(requestId)})`);
  return conditions.join(' AND ');
}

/** Counts of the hour, the key's name and the refund are looked up for the lines of the page alone. */
function statement(query: RequestsQuery): { text: string; values: unknown[] } {
  const values: unknown[] = [query.limit + 1, query.timeZone];
  const text = `
WITH page AS MATERIALIZED (
  SELECT request_id, at, outcome, COALESCE(product, products[1]) AS product, credential_id, masked_key,
    (at AT TIME ZONE $2)::date AS day
  FROM decision WHERE ${conditionsOf(query, values)}
  ORDER BY ${AT} DESC, request_id DESC LIMIT $1
)
SELECT p.request_id AS "requestId", p.at, (extract(epoch FROM p.at) * 1000000)::bigint::text AS micros, p.outcome, p.product,
  p.credential_id AS "keyId", k.name AS "keyName", p.masked_key AS "maskedKey", r.request_id IS NOT NULL AS "isGivenBack",
  CASE WHEN p.outcome = 'admitted' THEN 1 - h.admitted_unlogged::float8 / NULLIF(h.admitted, 0)
    ELSE 1 - h.refused_unlogged::float8 / NULLIF(h.refused + h.unavailable, 0) END AS share
FROM page p LEFT JOIN credential k ON k.id = p.credential_id
LEFT JOIN quota_refund r ON r.request_id = p.request_id
LEFT JOIN key_hour h ON h.credential_id = p.credential_id AND h.day = p.day AND h.product_id = p.product
  AND h.hour = floor(extract(epoch FROM p.at - (p.day::timestamp AT TIME ZONE $2)) / 3600)::smallint
ORDER BY p.at DESC, p.request_id DESC`;
  return { text, values };
}

/** Requests of the last 7 days with a customer's keys, newest first, up to half a second old. `next` is undefined at the end. */
export async function listRequests(
  db: Database,
  query: RequestsQuery,
): Promise<{ requests: readonly LoggedRequest[]; next: string | undefined }> {
  const { text, values } = statement(query);
  const { rows } = await db.query<LoggedRequest & { micros: string }>(text, values);
  const shown = rows.slice(0, query.limit);
  const last = rows.length > query.limit ? shown.at(-1) : undefined;
  return { requests: shown, next: last && writeLogPlace(last) };
}
