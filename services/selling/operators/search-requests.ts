import { type Database, isUuid } from '../../../plugins/stores/postgres/database';
import { cutScan, type Give, lineConditions, type LineFilter, olderThan, scanLog, type ScannedRow } from '../requests/scan-log';

/** A request of any customer. */
export interface RequestOfAll {
  readonly requestId: string;
  readonly at: Date;
  /** `admitted`, or the code of the refusal. */
  readonly outcome: string;
  /** The product that decided; the route's first if the request did not get that far. */
  readonly product: string | null;
  readonly keyId: string | null;
  readonly maskedKey: string | null;
  readonly callerAddress: string | null;
  readonly originHost: string | null;
  /** Method as in `LoggedRequest`. */
  readonly method: string | null;
  readonly path: string | null;
  readonly status: number | null;
  readonly milliseconds: number | null;
  /** Bytes of the response's body. */
  readonly bytes: number | null;
  /** The cost, even if it was given back later; null if nothing was counted, and until the response is reported. */
  readonly units: number | null;
  /** Null without a known key. */
  readonly customer: { readonly id: string; readonly email: string } | null;
}

export interface SearchQuery extends LineFilter {
  readonly limit: number;
  readonly product?: string | undefined;
  /** Any of these. */
  readonly outcomes?: readonly string[] | undefined;
  /** The last four characters of the key. */
  readonly lastFour?: string | undefined;
  readonly callerAddress?: string | undefined;
  readonly originHost?: string | undefined;
  /** Id of a customer. */
  readonly customerId?: string | undefined;
  readonly after?: string | undefined;
}

/** Refusals have indexes of their own, and so does the log of a customer, in the time that its index has. */
function statement(query: SearchQuery): { text: string; values: unknown[] } {
  const values: unknown[] = [];
  const give: Give = (value) => `$${values.push(value)}`;
  const { customerId, product, outcomes, lastFour, callerAddress, originHost, limit } = query;
  const isRefused = outcomes !== undefined && !outcomes.includes('admitted');
  const at = customerId !== undefined && !isRefused ? "(at AT TIME ZONE 'UTC')" : 'at';
  const conditions = [olderThan(query.after, { at, give })];
  if (isRefused) conditions.push("outcome <> 'admitted'");
  if (customerId !== undefined) conditions.push(`customer_id = ${give(customerId)}::uuid`);
  const filters = lineConditions(query, give);
  if (product !== undefined) filters.push(`COALESCE(product, products[1]) = ${give(product)}`);
  if (lastFour !== undefined) filters.push(`right(masked_key, 4) = ${give(lastFour)}`);
  if (callerAddress !== undefined) filters.push(`caller_address = ${give(callerAddress)}`);
  if (originHost !== undefined) filters.push(`origin_host = ${give(originHost)}`);
  if (outcomes) filters.push(`outcome = ANY (${give(outcomes)}::text[])`);
  const text = `
WITH ${scanLog({ conditions, filters, at, limit })}
SELECT p.request_id AS "requestId", p.at, p.outcome, COALESCE(p.product, p.products[1]) AS product, p.credential_id AS "keyId",
  p.masked_key AS "maskedKey", p.caller_address AS "callerAddress", p.origin_host AS "originHost", p.method, p.path, p.status, p.milliseconds, p.bytes::float8 AS bytes, p.units,
  CASE WHEN c.id IS NOT NULL THEN json_build_object('id', c.id, 'email', c.email) END AS customer,
  p.place, seen.scanned, seen.last_scanned AS "lastScanned"
FROM seen LEFT JOIN page p ON true LEFT JOIN customer c ON c.id = p.customer_id
ORDER BY p.at DESC, p.request_id DESC`;
  return { text, values };
}

/** Requests of the last 7 days of any customer, admitted and refused, newest first. A page may be short although `next` leads on. */
export async function searchRequests(
  db: Database,
  query: SearchQuery,
): Promise<{ requests: readonly RequestOfAll[]; next: string | undefined }> {
  if (query.customerId !== undefined && !isUuid(query.customerId)) return { requests: [], next: undefined };
  const { text, values } = statement(query);
  const { rows } = await db.query<Omit<RequestOfAll, 'requestId'> & ScannedRow>(text, values);
  const { lines, next } = cutScan(rows, query.limit);
  return { requests: lines.map(({ place: _place, scanned: _scanned, lastScanned: _last, ...request }) => request), next };
}
