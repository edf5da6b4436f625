import { type Pool } from 'pg';
import { type PersonalPart } from './personal-parts';

/** One list of an export. */
export interface ExportSection {
  readonly name: string;
  readonly part: PersonalPart;
  /** Rows of `me`, each with a unique `place` by which they are read page by page. Never a secret, nor its hash. */
  readonly rows: string;
}

/** Maximum rows of one section. The file says if further rows were cut off. */
export const MAX_ROWS = 50_000;

/** A time as text, in its order. */
const timed = (column: string): string => `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US')`;

/** Everything that is known of a person, in the order of the file. An operator's notes about a customer do not belong to the customer. */
export const EXPORT_SECTIONS: readonly ExportSection[] = [
  {
    name: 'account',
    part: 'account',
    rows: `SELECT u.id::text AS place, me.customer_id,
      (SELECT display_name FROM customer c WHERE c.id = me.customer_id) AS organisation_name,
      u.email, u.email_verified, u.two_factor_enabled AS second_factor, u.created_at,
      ARRAY(SELECT provider_id FROM auth_account a WHERE a.user_id = u.id ORDER BY 1) AS ways_to_sign_in
      FROM auth_user u, me WHERE u.id = me.user_id`,
  },
  {
    name: 'sessions',
    part: 'account',
    rows: `SELECT s.id::text AS place, created_at, updated_at, expires_at, ip_address, user_agent FROM auth_session s, me WHERE s.user_id = me.user_id`,
  },
  {
    name: 'passkeys',
    part: 'account',
    rows: `SELECT p.id::text AS place, name, created_at, last_used_at, device_type, backed_up, transports FROM auth_passkey p, me
      WHERE p.user_id = me.user_id`,
  },
  {
    name: 'memberships',
    part: 'account',
    rows: `SELECT c.id::text AS place, c.id AS organisation_id, COALESCE(c.display_name, c.email) AS organisation, m.role, m.since
      FROM member m JOIN customer c ON c.id = m.customer_id, me WHERE m.user_id = me.user_id`,
  },
  {
    name: 'email_change',
    part: 'account',
    rows: `SELECT '' AS place, new_email, allowed_at, proved_at, expires_at FROM email_change e, me WHERE e.user_id = me.user_id`,
  },
  {
    name: 'keys',
    part: 'keys',
    rows: `SELECT k.id::text AS place, k.id, name, mode, state, prefix, last_four, created_at, expires_at, last_used_at, rotated_from,
      ARRAY(SELECT product_id FROM credential_product p WHERE p.credential_id = k.id ORDER BY 1) AS products,
      ARRAY(SELECT rule FROM whitelist_rule r WHERE r.credential_id = k.id ORDER BY 1) AS rules,
      ARRAY(SELECT tag FROM credential_tag t WHERE t.credential_id = k.id ORDER BY 1) AS tags
      FROM credential k, me WHERE k.customer_id = me.customer_id`,
  },
  {
    name: 'subscriptions',
    part: 'subscriptions',
    rows: `SELECT s.id::text AS place, s.id, product_id, plan_name, state, daily_override, monthly_override, rate_override, price_override,
      price_override_currency, daily_cap, created_at, updated_at,
      (SELECT percents FROM alert_threshold t WHERE t.subscription_id = s.id) AS alert_thresholds
      FROM subscription s, me WHERE s.customer_id = me.customer_id`,
  },
  {
    name: 'plan_requests',
    part: 'subscriptions',
    rows: `SELECT lpad(number::text, 20, '0') AS place, product_id, plan_name, daily, monthly, price, currency, state, reason, asked_at, answered_at
      FROM plan_request r, me WHERE r.customer_id = me.customer_id`,
  },
  {
    name: 'consents',
    part: 'subscriptions',
    rows: `SELECT product_id || encode(version, 'hex') AS place, product_id, encode(version, 'hex') AS version, text, given_by,
      (SELECT email FROM auth_user u WHERE u.id = c.user_id) AS given_by_address, given_at FROM consent c, me WHERE c.customer_id = me.customer_id`,
  },
  {
    name: 'alert_settings',
    part: 'alerts',
    rows: `SELECT '' AS place, quota_daily, quota_monthly, key_expiry FROM alert_preference p, me WHERE p.customer_id = me.customer_id`,
  },
  {
    name: 'alerts',
    part: 'alerts',
    rows: `SELECT lpad(number::text, 20, '0') AS place, at, kind, subscription_id, credential_id AS key_id, period, percent, used, quota_limit, read_at
      FROM alert a, me WHERE a.customer_id = me.customer_id`,
  },
  {
    name: 'webhooks',
    part: 'webhooks',
    rows: `SELECT w.id::text AS place, w.id, url, state, created_at FROM webhook w, me WHERE w.customer_id = me.customer_id`,
  },
  {
    name: 'webhook_deliveries',
    part: 'webhooks',
    rows: `SELECT lpad(d.number::text, 20, '0') AS place, d.webhook_id, event, event_at, d.state, attempts, last_status, d.created_at, ended_at
      FROM webhook_delivery d JOIN webhook w ON w.id = d.webhook_id, me WHERE w.customer_id = me.customer_id`,
  },
  {
    name: 'tokens',
    part: 'tokens',
    rows: `SELECT t.id::text AS place, t.id, name, last_four, scopes, created_at, expires_at, last_used_at, revoked_at
      FROM admin_token t, me WHERE t.customer_id = me.customer_id`,
  },
  {
    name: 'requests',
    part: 'requests',
    rows: `SELECT ${timed('at')} || request_id AS place, request_id, at, outcome, product, masked_key, key_id, caller_address, origin_host
      FROM (
        SELECT request_id, at, outcome, product, masked_key, credential_id AS key_id, caller_address, origin_host
        FROM decision d, me WHERE d.customer_id = me.customer_id ORDER BY at DESC LIMIT ${MAX_ROWS + 1}
      ) AS newest`,
  },
  {
    name: 'requests_by_hour',
    part: 'requests',
    rows: `SELECT k.id || h.day::text || lpad(h.hour::text, 2, '0') || h.product_id AS place, k.id AS key_id, day, hour, product_id, admitted, refused, unavailable,
        succeeded, rejected, failed, abandoned, took
      FROM key_hour h JOIN credential k ON k.id = h.credential_id, me WHERE k.customer_id = me.customer_id`,
  },
  {
    name: 'answers_by_day',
    part: 'requests',
    rows: `SELECT d.day::text || d.product_id AS place, day, product_id, admitted, succeeded, rejected, failed, abandoned, took
      FROM customer_day d, me WHERE d.customer_id = me.customer_id`,
  },
  {
    name: 'refusals_by_day',
    part: 'requests',
    rows: `SELECT k.id || c.day::text || c.product_id || c.code AS place, k.id AS key_id, product_id, day, code, count
      FROM denial_count c JOIN credential k ON k.id = c.credential_id, me WHERE k.customer_id = me.customer_id`,
  },
  {
    name: 'limits',
    part: 'provider',
    rows: `SELECT '' AS place, keys, rules, writes_per_minute FROM customer_limit l, me WHERE l.customer_id = me.customer_id`,
  },
  {
    name: 'suspensions',
    part: 'provider',
    rows: `SELECT s.id::text AS place, s.reason, s.since, s.credential_id AS key_id, s.subscription_id FROM suspension s
      LEFT JOIN credential k ON k.id = s.credential_id LEFT JOIN subscription p ON p.id = s.subscription_id, me
      WHERE me.customer_id IN (s.customer_id, k.customer_id, p.customer_id)`,
  },
  {
    name: 'billing_details',
    part: 'billing',
    rows: `SELECT '' AS place, name, address, country, state, tax_id, email, updated_at FROM billing_details d, me WHERE d.customer_id = me.customer_id`,
  },
  {
    name: 'invoices',
    part: 'invoices',
    rows: `SELECT lpad(i.place::text, 20, '0') AS place, number, kind, month, currency, total, issued_at, due_on, reason, content, p.paid_on, p.reference
      FROM invoice i LEFT JOIN invoice_payment p ON p.invoice_id = i.id, me WHERE i.customer_id = me.customer_id`,
  },
  {
    name: 'statements',
    part: 'statements',
    rows: `SELECT month::text AS place, month, closed_at, content FROM statement s, me WHERE s.customer_id = me.customer_id`,
  },
  {
    name: 'plans_by_time',
    part: 'statements',
    rows: `SELECT lpad(t.id::text, 20, '0') AS place, subscription_id, product_id, plan_name, price, currency, daily, monthly, state, since, until
      FROM subscription_term t, me WHERE t.customer_id = me.customer_id`,
  },
  {
    name: 'usage_by_day',
    part: 'statements',
    rows: `SELECT s.id || u.day::text AS place, s.id AS subscription_id, s.product_id, u.day, u.spent_redis + u.spent_postgres - u.refunded_unused AS charged,
        u.refunded - u.refunded_unused AS refunded
      FROM usage u JOIN subscription s ON s.id = u.subscription_id, me WHERE s.customer_id = me.customer_id`,
  },
  {
    name: 'audit',
    part: 'audit',
    rows: `SELECT lpad(id::text, 20, '0') AS place, at, action, subject_kind, subject_id, details,
      CASE WHEN actor ~ '^(dashboard|token):' THEN actor ELSE 'operator' END AS actor,
      CASE WHEN actor ~ '^(dashboard|token):' THEN from_address END AS from_address
      FROM (SELECT a.* FROM audit_log a, me WHERE a.customer_id = me.customer_id ORDER BY id DESC LIMIT ${MAX_ROWS + 1}) AS newest`,
  },
];

const AT_ONCE = 500;

const pageOf = ({ rows }: ExportSection): string => `
WITH me AS (SELECT $1::uuid AS customer_id, $2::uuid AS user_id)
SELECT place, (to_jsonb(found) - 'place')::text AS item FROM (${rows}) AS found
WHERE $3::text IS NULL OR place COLLATE "C" > $3 ORDER BY place COLLATE "C" LIMIT ${AT_ONCE}`;

export interface ExportOptions {
  readonly userId: string;
  /** Absent: the person owns no organisation, and an organisation's lists are empty. */
  readonly customerId: string | undefined;
  readonly at: Date;
  /** Rows of one section; {@link MAX_ROWS} unless given. */
  readonly most?: number;
}

/** A JSON document with a list for each section, in pieces: at most 500 rows are in memory at a time. */
export async function* exportPerson(db: Pool, { userId, customerId, at, most = MAX_ROWS }: ExportOptions): AsyncGenerator<string> {
  const cut: string[] = [];
  yield `{"exported_at":${JSON.stringify(at.toISOString())}`;
  for (const section of EXPORT_SECTIONS) {
    yield `,\n${JSON.stringify(section.name)}:[`;
    let count = 0;
    for (let after: string | null = null, isLast = false; !isLast;) {
      const page: readonly { place: string; item: string }[] = (
        await db.query<{ place: string; item: string }>(pageOf(section), [customerId, userId, after])
      ).rows;
      const taken = page.slice(0, most - count);
      if (taken.length > 0) yield `${count > 0 ? ',' : ''}\n${taken.map(({ item }) => item).join(',\n')}`;
      count += taken.length;
      if (taken.length < page.length) cut.push(section.name);
      isLast = page.length < AT_ONCE || taken.length < page.length;
      after = page.at(-1)?.place ?? null;
    }
    yield ']';
  }
  yield `,\n"cut_off":${JSON.stringify(cut)}}\n`;
}
