import { type Database } from '../../../plugins/stores/postgres/database';
import { cutScan, type Give, lineConditions, type LineFilter, olderThan, scanLog, type ScannedRow, unitsOfLine } from './scan-log';

/** A line of a customer's log: one request with one of the customer's keys. */
export interface LoggedRequest {
  readonly requestId: string;
  readonly at: Date;
  /** `admitted`, or the code of the refusal. */
  readonly outcome: string;
  /** The product that decided; the route's first if the request did not get that far. */
  readonly product: string | null;
  readonly keyId: string | null;
  readonly keyName: string | null;
  readonly maskedKey: string | null;
  /**
   * The share of comparable requests that has a line: those with this key, for this product, in the same hour, with the same outcome. 1:
   * each has one. Null: not counted yet, for some seconds.
   */
  readonly share: number | null;
  /** True if the product failed and the units were given back. Known for three days. */
  readonly isGivenBack: boolean;
  /** Null if the gateway reports none. The path has no query. */
  readonly method: string | null;
  readonly path: string | null;
  /** Status of the response as the gateway reported it; null until it does. 499: the client left before. */
  readonly status: number | null;
  /** From the first byte of the request at the gateway to the last byte of its response. */
  readonly milliseconds: number | null;
  /** Bytes of the response's body. */
  readonly bytes: number | null;
  /** The cost, even if it was given back later; null if nothing was counted, and until the response is reported. */
  readonly units: number | null;
}

export interface RequestsQuery extends LineFilter {
  readonly customerId: string;
  /** Quota time zone: hours are counted from the beginning of its days. */
  readonly timeZone: string;
  readonly limit: number;
  readonly keyId?: string | undefined;
  readonly product?: string | undefined;
  /** Any of these. */
  readonly outcomes?: readonly string[] | undefined;
  /** The first time included, and the first time excluded. */
  readonly from?: Date | undefined;
  readonly to?: Date | undefined;
  /** `next` of the page before; an unreadable one gives the first page. */
  readonly after?: string | undefined;
}

/** As the log's index has it. */
const AT = "(at AT TIME ZONE 'UTC')";

/** Conditions use only columns of the log's index, so that only shown lines are read. */
function conditionsOf(query: RequestsQuery, give: Give): string[] {
  const { keyId, product, outcomes, from, to } = query;
  const conditions = [`customer_id = ${give(query.customerId)}`, `${AT} > (now() AT TIME ZONE 'UTC') - interval '7 days'`];
  if (keyId !== undefined) conditions.push(`credential_id = ${give(keyId)}::uuid`);
  if (product !== undefined) conditions.push(`COALESCE(product, products[1]) = ${give(product)}`);
  if (outcomes?.length === 1) conditions.push(`outcome = ${give(outcomes[0])}`);
  else if (outcomes !== undefined) conditions.push(`outcome = ANY (${give(outcomes)}::text[])`);
  if (from) conditions.push(`${AT} >= ${give(from)}::timestamptz AT TIME ZONE 'UTC'`);
  if (to) conditions.push(`${AT} < ${give(to)}::timestamptz AT TIME ZONE 'UTC'`);
  return [...conditions, olderThan(query.after, { at: AT, give })];
}

/** The hour's counts, the key's name and the refund are looked up only for the page's lines. */
function statement(query: RequestsQuery): { text: string; values: unknown[] } {
  const values: unknown[] = [query.timeZone];
  const give: Give = (value) => `$${values.push(value)}`;
  const scan = scanLog({ conditions: conditionsOf(query, give), filters: lineConditions(query, give), at: AT, limit: query.limit });
  const text = `
WITH ${scan}, shown AS (
  SELECT *, COALESCE(product, products[1]) AS asked, (at AT TIME ZONE $1)::date AS day FROM page
)
SELECT p.request_id AS "requestId", p.at, p.outcome, p.asked AS product, p.credential_id AS "keyId", k.name AS "keyName",
  p.masked_key AS "maskedKey", r.request_id IS NOT NULL AS "isGivenBack", p.method, p.path, p.status, p.milliseconds, p.bytes::float8 AS bytes, ${unitsOfLine('p')} AS units,
  CASE WHEN p.outcome = 'admitted' THEN 1 - h.admitted_unlogged::float8 / NULLIF(h.admitted, 0)
    ELSE 1 - h.refused_unlogged::float8 / NULLIF(h.refused + h.unavailable, 0) END AS share,
  p.place, seen.scanned, seen.last_scanned AS "lastScanned"
FROM seen LEFT JOIN shown p ON true LEFT JOIN credential k ON k.id = p.credential_id
LEFT JOIN quota_refund r ON r.request_id = p.request_id
LEFT JOIN key_hour h ON h.credential_id = p.credential_id AND h.day = p.day AND h.product_id = p.asked
  AND h.hour = floor(extract(epoch FROM p.at - (p.day::timestamp AT TIME ZONE $1)) / 3600)::smallint
ORDER BY p.at DESC, p.request_id DESC`;
  return { text, values };
}

/**
 * Requests of the last 7 days with a customer's keys, newest first, up to half a second old. `next` is undefined at the end; with a {@link
 * LineFilter} a page may be short although `next` leads on.
 */
export async function listRequests(
  db: Database,
  query: RequestsQuery,
): Promise<{ requests: readonly LoggedRequest[]; next: string | undefined }> {
  const { text, values } = statement(query);
  const { rows } = await db.query<Omit<LoggedRequest, 'requestId'> & ScannedRow>(text, values);
  const { lines, next } = cutScan(rows, query.limit);
  return { requests: lines, next };
}
