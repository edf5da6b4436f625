import { type Pool, type QueryConfig } from 'pg';
import {
  type AccessRecord,
  type AccessRecords,
  type CredentialState,
  type KeyMode,
  StoreUnavailable,
  type SubscriptionAccess,
  type SubscriptionState,
} from '../../../core/ports';
import { type DayAndMonth, type ProofForm, type Rate } from '../../../core/catalogue/catalogue';
import { type UnitsByAnswer } from '../../../core/catalogue/units';
import { compileWhitelist } from '../../../core/access/whitelist';
import { DAILY_BEFORE_CAP, MONTHLY_IN_FORCE, OVERAGE_IN_FORCE, RATE_IN_FORCE } from './limits-in-force';

/**
 * One statement, so that key, rules, subscriptions and limits are from the same time. Rules are JSON, because the driver parses an array
 * character by character.
 */
const SELECT = `
SELECT c.id, c.customer_id AS "customerId", (SELECT display_name FROM customer WHERE id = c.customer_id) AS "customerName", c.mode, c.state,
  (SELECT reason FROM suspension WHERE credential_id = c.id) AS suspended, (extract(epoch FROM c.expires_at) * 1000)::float8 AS "expiresAtMs",
  ARRAY(SELECT product_id FROM credential_product WHERE credential_id = c.id ORDER BY product_id) AS products,
  (SELECT COALESCE(json_agg(rule ORDER BY rule), '[]') FROM whitelist_rule WHERE credential_id = c.id) AS rules,
  COALESCE((
    SELECT json_agg(json_build_object(
      'id', s.id, 'product', s.product_id, 'plan', s.plan_name, 'state', s.state,
      'suspended', COALESCE(
        (SELECT reason FROM suspension WHERE customer_id = s.customer_id), (SELECT reason FROM suspension WHERE subscription_id = s.id)
      ),
      'daily', ${DAILY_BEFORE_CAP}, 'monthly', ${MONTHLY_IN_FORCE}, 'rate', ${RATE_IN_FORCE},
      'included', CASE WHEN c.mode = 'live' THEN ${OVERAGE_IN_FORCE} END,
      'dailyCap', s.daily_cap,
      'isUpgradable', EXISTS (SELECT FROM plan o WHERE o.product_id = s.product_id AND o.active AND o.daily > ${DAILY_BEFORE_CAP}
        AND o.monthly > ${MONTHLY_IN_FORCE}),
      'sandboxUrl', CASE WHEN c.mode = 'test' THEN p.definition ->> 'sandboxUrl' END,
      'takesTestKeys', COALESCE(p.definition ->> 'sandboxUrl' IS NOT NULL OR p.definition ->> 'testKeys' IN ('service', 'live'), false),
      'isFree5xx', COALESCE(p.definition -> 'uncharged' @> '["5xx"]', false), 'proof', p.definition ->> 'proof',
      'units', p.definition -> 'units'
    ) ORDER BY s.product_id)
    FROM credential_product g
    JOIN subscription s ON s.product_id = g.product_id AND s.customer_id = c.customer_id
    JOIN product p ON p.id = s.product_id
    LEFT JOIN plan l ON l.product_id = s.product_id AND l.name = s.plan_name
    WHERE g.credential_id = c.id
  ), '[]') AS subscriptions
FROM credential c WHERE c.hash = $1`;

interface Row {
  readonly id: string;
  readonly customerId: string;
  readonly customerName: string | null;
  readonly mode: KeyMode;
  readonly state: CredentialState;
  readonly suspended: string | null;
  readonly expiresAtMs: number | null;
  readonly products: string[];
  readonly rules: string[];
  readonly subscriptions: {
    id: string;
    product: string;
    plan: string | null;
    state: SubscriptionState;
    /** A suspended customer suspends each of its subscriptions. */
    suspended: string | null;
    /** Null when the catalogue removed the product's limits: then no request can be admitted. */
    daily: number | null;
    monthly: number | null;
    rate: Rate | null;
    /** Requests that the price includes for live keys. Use of test keys is never charged. */
    included: DayAndMonth | null;
    /** The customer's own cap. */
    dailyCap: number | null;
    isUpgradable: boolean;
    /** Address for test keys; null when the product has none. */
    sandboxUrl: string | null;
    takesTestKeys: boolean;
    isFree5xx: boolean;
    proof: ProofForm | null;
    units: UnitsByAnswer | null;
  }[];
}

function sandboxOf(url: string | null): Pick<SubscriptionAccess, 'sandbox'> {
  if (url === null) return {};
  const { hostname, port } = new URL(url);
  return { sandbox: { host: hostname, port: Number(port || 80) } };
}

function recordOf(row: Row): AccessRecord {
  return {
    credentialId: row.id,
    customerId: row.customerId,
    customerName: row.customerName ?? undefined,
    mode: row.mode,
    state: row.state,
    suspended: row.suspended ?? undefined,
    expiresAtMs: row.expiresAtMs,
    products: row.products,
    whitelist: compileWhitelist(row.rules),
    subscriptions: row.subscriptions.flatMap(
      ({
        id,
        product,
        plan,
        state,
        suspended,
        daily,
        monthly,
        rate,
        included,
        dailyCap,
        isUpgradable,
        sandboxUrl,
        takesTestKeys,
        isFree5xx,
        proof,
        units,
      }) => {
        if (daily === null || monthly === null) return [];
        const isCapped = dailyCap !== null && dailyCap < daily;
        const sold = includedBelow({ daily, monthly }, included);
        const limits = { daily: isCapped ? dailyCap : daily, monthly, ...(rate && { rate }), ...(sold && { included: sold }) };
        const facts = { ...(proof && { proof }), ...(units && { unitsByAnswer: units }) };
        const rest = {
          ...(isCapped && { isCapped }),
          ...(isUpgradable && { isUpgradable }),
          ...sandboxOf(sandboxUrl),
          takesTestKeys,
          isFree5xx,
          ...facts,
        };
        return [{ id, product, plan, state, suspended: suspended ?? undefined, limits, ...rest }];
      },
    ),
  };
}

/** The included requests, if requests beyond them can still be admitted. Undefined if the refusing limits are no higher. */
function includedBelow(refusing: DayAndMonth, included: DayAndMonth | null): DayAndMonth | undefined {
  if (!included || (included.daily >= refusing.daily && included.monthly >= refusing.monthly)) return undefined;
  return { daily: included.daily, monthly: included.monthly };
}

/** True when the connection broke during the query, so that another may work. A query that merely took too long is not repeated. */
function isBrokenConnection(error: unknown): boolean {
  const { code, message = '' } = error as { code?: string; message?: string };
  return code === 'ECONNRESET' || code === 'EPIPE' || code === '57P01' || /^Connection terminated(?! due to)/.test(message);
}

async function query(pool: Pool, config: QueryConfig): Promise<Row | undefined> {
  try {
    return (await pool.query<Row>(config)).rows[0];
  } catch (error) {
    if (!isBrokenConnection(error)) throw error;
    return (await pool.query<Row>(config)).rows[0];
  }
}

/**
 * Reads keys by hash from PostgreSQL each time.
 * @param pool with a statement time-out, because a stopped server would hold a request for ever
 */
export function createPostgresAccessRecords(pool: Pool): AccessRecords {
  return {
    async findAccessRecord(hash, answered) {
      let row: Row | undefined;
      try {
        row = await query(pool, { name: 'find-access-record', text: SELECT, values: [Buffer.from(hash, 'hex')] });
      } catch (cause) {
        throw new StoreUnavailable('PostgreSQL did not respond', { cause });
      }
      answered?.();
      return row && recordOf(row);
    },
  };
}
