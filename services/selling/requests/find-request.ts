import { type Decision } from '../../../plugins/core/ports';
import { type QuotaLimits } from '../../../plugins/core/catalogue/catalogue';
import { OVERAGE_IN_FORCE } from '../../../plugins/stores/postgres/access-record/limits-in-force';
import { type Database } from '../../../plugins/stores/postgres/database';
import { readStandingText } from '../../../plugins/stores/postgres/decisions/standing-text';
import { asStrangersSee, type KnownRequest } from './known-request';
import { unitsOfLine } from './scan-log';

interface Row {
  readonly requestId: string;
  readonly atMs: number;
  readonly products: string[];
  readonly outcome: Decision['outcome'];
  readonly keyPlace: string | null;
  readonly maskedKey: string | null;
  readonly credentialId: string | null;
  readonly customerId: string | null;
  readonly subscriptionId: string | null;
  readonly product: string | null;
  readonly callerAddress: string | null;
  readonly originHost: string | null;
  readonly matchedRule: string | null;
  readonly suspended: string | null;
  readonly standing: string | null;
  readonly method: string | null;
  readonly path: string | null;
  readonly status: number | null;
  readonly milliseconds: number;
  readonly bytes: number;
  readonly units: number | null;
  readonly isFromApi: boolean | null;
  readonly isGivenBack: boolean;
  readonly title: string | null;
  readonly isPricedByAnswer: boolean | null;
  readonly outage: { readonly since: string; readonly until: string | null } | null;
  /** What the plan includes now, and its monthly refusing limit. */
  readonly included: (QuotaLimits & { readonly refusedAt: number }) | null;
}

const ISO = 'YYYY-MM-DD"T"HH24:MI:SS"Z"';

/** An outage is detected from the responses of a minute, so it began up to a minute earlier. */
const OUTAGE = `
SELECT json_build_object('since', to_char(o.began_at AT TIME ZONE 'UTC', '${ISO}'), 'until', to_char(o.ended_at AT TIME ZONE 'UTC', '${ISO}'))
FROM product_outage o WHERE o.product_id = p.id AND o.began_at - interval '1 minute' <= d.at AND (o.ended_at IS NULL OR o.ended_at >= d.at)
ORDER BY o.began_at DESC LIMIT 1`;

/** The reader's own first: an id may occur twice if a gateway takes it from the caller. */
const SELECT = `
SELECT d.request_id AS "requestId", (extract(epoch FROM d.at) * 1000)::float8 AS "atMs", d.products, d.outcome, d.key_place AS "keyPlace",
  d.masked_key AS "maskedKey", d.credential_id AS "credentialId", d.customer_id AS "customerId", d.subscription_id AS "subscriptionId",
  d.product, d.caller_address AS "callerAddress", d.origin_host AS "originHost", d.matched_rule AS "matchedRule", d.suspended, d.standing,
  d.method, d.path, d.status, d.milliseconds, d.bytes::float8 AS bytes, ${unitsOfLine('d')} AS units, d.is_from_api AS "isFromApi",
  EXISTS (SELECT FROM quota_refund r WHERE r.request_id = d.request_id) AS "isGivenBack",
  p.title, p.definition ? 'units' AS "isPricedByAnswer", (${OUTAGE}) AS outage,
  (SELECT ${OVERAGE_IN_FORCE} || jsonb_build_object('refusedAt', COALESCE(s.monthly_override, l.monthly))
    FROM subscription s JOIN plan l ON l.product_id = s.product_id AND l.name = s.plan_name
    WHERE s.id = d.subscription_id AND l.overage IS NOT NULL) AS included
FROM decision d LEFT JOIN product p ON p.id = COALESCE(d.product, d.products[1])
WHERE d.request_id = $1
  AND ($3::boolean OR d.customer_id = $2::uuid OR d.customer_id IS NULL OR d.outcome IN ('key_inactive', 'would_refuse:key_inactive'))
ORDER BY d.customer_id = $2::uuid DESC NULLS LAST, d.at DESC LIMIT 1`;

interface RequestQuery {
  readonly requestId: string;
  /** Only this customer's requests. Default: everybody's. */
  readonly customerId?: string;
  /** The reader is not a customer, but somebody who has the id. */
  readonly isStranger?: boolean;
}

/**
 * Everything known of a request of the last 7 days. Customers and strangers also find requests whose key does not exist or does not work,
 * limited to what strangers may see.
 * @returns undefined if the request is not known
 */
export async function findRequest(
  db: Database,
  { requestId, customerId, isStranger = false }: RequestQuery,
): Promise<KnownRequest | undefined> {
  const seesAll = customerId === undefined && !isStranger;
  const { rows } = await db.query<Row>(SELECT, [requestId, customerId ?? null, seesAll]);
  const row = rows[0];
  if (!row) return undefined;
  const request = { ...decisionOf(row), ...responseOf(row) };
  return seesAll || (customerId !== undefined && row.customerId === customerId) ? request : asStrangersSee(request);
}

function decisionOf(row: Row): KnownRequest {
  const quota = row.standing === null ? undefined : readStandingText(row.standing);
  const { included } = row;
  return {
    requestId: row.requestId,
    atMs: Math.round(row.atMs),
    products: row.product !== null && row.products.length === 0 ? [row.product] : row.products,
    outcome: row.outcome,
    keyPlace: row.keyPlace ?? undefined,
    maskedKey: row.maskedKey ?? undefined,
    credentialId: row.credentialId ?? undefined,
    customerId: row.customerId ?? undefined,
    subscriptionId: row.subscriptionId ?? undefined,
    product: row.product ?? undefined,
    callerAddress: row.callerAddress ?? undefined,
    originHost: row.originHost ?? undefined,
    matchedRule: row.matchedRule ?? undefined,
    ...(row.suspended === null ? {} : { suspended: row.suspended }),
    ...(row.method !== null && { method: row.method }),
    ...(row.path !== null && { rawPath: row.path }),
    quota,
    // The plan may have changed since.
    ...(included?.refusedAt === quota?.monthly && included && { included: { daily: included.daily, monthly: included.monthly } }),
  };
}

function responseOf({ status, milliseconds, bytes, units, isFromApi, title, outage, ...row }: Row): Partial<KnownRequest> {
  return {
    ...(status !== null && { answer: { status, milliseconds, bytes, units: units ?? undefined, isFromApi: isFromApi ?? undefined } }),
    ...(row.isGivenBack && { isGivenBack: true }),
    ...(row.isPricedByAnswer === true && { isPricedByAnswer: true }),
    ...(title !== null && { productTitle: title }),
    ...(outage && { outage: { since: outage.since, until: outage.until ?? undefined } }),
  };
}
