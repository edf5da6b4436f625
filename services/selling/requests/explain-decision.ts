import { type KnownDecision } from './explain';
import { type Decision } from '../../../plugins/core/ports';
import { type QuotaLimits } from '../../../plugins/core/catalogue/catalogue';
import { type Database } from '../../../plugins/stores/postgres/database';
import { readStandingText } from '../../../plugins/stores/postgres/decisions/standing-text';

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
  /** What the plan includes now, and where it refuses by the month. */
  readonly included: (QuotaLimits & { readonly refusedAt: number }) | null;
}

const SELECT = `
SELECT request_id AS "requestId", (extract(epoch FROM at) * 1000)::float8 AS "atMs", products, outcome, key_place AS "keyPlace",
  masked_key AS "maskedKey", credential_id AS "credentialId", customer_id AS "customerId", subscription_id AS "subscriptionId", product,
  caller_address AS "callerAddress", origin_host AS "originHost", matched_rule AS "matchedRule", suspended,
  standing,
  (SELECT overage_of(l.overage, s.daily_override, s.monthly_override) || jsonb_build_object('refusedAt', COALESCE(s.monthly_override, l.monthly))
    FROM subscription s JOIN plan l ON l.product_id = s.product_id AND l.name = s.plan_name
    WHERE s.id = decision.subscription_id AND l.overage IS NOT NULL) AS included
FROM decision WHERE request_id = $1 AND ($2::uuid IS NULL OR customer_id = $2) ORDER BY at DESC LIMIT 1`;

/**
 * What the access layer decided on a request of the last 7 days.
 * @param options.customerId finds only this customer's requests
 * @returns undefined when the request is not known
 */
export async function explainDecision(
  db: Database,
  { requestId, customerId }: { requestId: string; customerId?: string },
): Promise<KnownDecision | undefined> {
  const { rows } = await db.query<Row>(SELECT, [requestId, customerId ?? null]);
  const row = rows[0];
  if (!row) return undefined;
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
    quota,
    // The plan may be another one since.
    ...(included?.refusedAt === quota?.monthly && included && { included: { daily: included.daily, monthly: included.monthly } }),
  };
}
