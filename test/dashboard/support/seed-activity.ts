import { randomUUID } from 'node:crypto';
import { type Pool } from 'pg';
import { inTransaction } from '../../../plugins/stores/postgres/database';
import { writeDecisions } from '../../../plugins/stores/postgres/decisions/write-decisions';
import { someDecision } from '../../support/some-decision';

const MINUTE_MS = 60_000;

const OUTCOMES = [
  ['caller_not_whitelisted', 'api-ip'],
  ['admitted', 'api-gst'],
  ['quota_daily_exceeded', 'api-gst'],
  ['admitted', 'api-ip'],
  ['key_expired', 'api-ip'],
  ['admitted', 'api-ip'],
  ['product_not_authorised', 'api-background-remover'],
] as const;

/** What the gateway told of the answers: of most, and of one product none. */
const TELL = `
UPDATE decision SET method = CASE WHEN place % 4 = 0 THEN 'POST' ELSE 'GET' END,
  path = CASE WHEN place % 5 = 0 THEN '/v1/' || repeat('a-long-segment/', 8) || 'end' ELSE '/v1/lookup/' || place END,
  status = CASE WHEN outcome <> 'admitted' THEN 401 WHEN decision.request_id = ANY ($2) THEN 502 ELSE 200 END,
  milliseconds = place * place * 9
FROM unnest($1::text[]) WITH ORDINALITY AS each (request_id, place)
WHERE decision.request_id = each.request_id AND NOT (outcome = 'admitted' AND product = 'api-gst')`;

/** What a busy hour leaves: requests let in, of which some were given back, and refused. @returns the id of the newest, a refused one */
export async function seedRequests(pool: Pool, customerId: string, keyIds: readonly string[]): Promise<string> {
  const { rows } = await pool.query<{ id: string; product: string }>(
    'SELECT id, product_id AS product FROM subscription WHERE customer_id = $1',
    [customerId],
  );
  const decisions = Array.from({ length: 28 }, (_, index) => {
    const [outcome, product] = OUTCOMES[index % OUTCOMES.length] ?? OUTCOMES[0];
    return someDecision({
      requestId: randomUUID().replaceAll('-', ''),
      atMs: Date.now() - (index * index + 1) * MINUTE_MS,
      outcome,
      product,
      products: [product],
      keyPlace: 'x-api-key',
      maskedKey: 'tg_live…1a2B',
      credentialId: keyIds[outcome === 'admitted' ? index % 3 : 0],
      customerId,
      subscriptionId: rows.find((each) => each.product === product)?.id,
      callerAddress: index % 2 ? '2001:db8:4006:812::200e' : '198.51.100.23',
      originHost: index % 3 ? undefined : 'staging.example.org',
    });
  });
  await writeDecisions(pool, decisions);
  const admitted = decisions.filter(({ outcome }) => outcome === 'admitted');
  const givenBack = admitted.filter((_, index) => index % 4 === 3).map(({ requestId }) => requestId);
  await pool.query('INSERT INTO quota_refund (request_id, day) SELECT unnest($1::text[]), now()', [givenBack]);
  await pool.query(TELL, [decisions.map(({ requestId }) => requestId), givenBack]);
  return decisions[0]?.requestId ?? '';
}

const SEED = {
  alerts: `
INSERT INTO alert (customer_id, kind, subscription_id, credential_id, period, percent, used, quota_limit, at, read_at)
SELECT $1, kind, s.id, k.id, coalesce(date_trunc('day', k.expires_at), date_trunc('day', now())), percent, used, quota_limit, now() - hours * interval '1 hour',
  CASE WHEN is_read THEN now() END
FROM (VALUES
  ('quota_monthly', 'api-ip', NULL, 50, 1500000, 3000000, 96, true),
  ('key_expiry', NULL, '9zZ0', NULL, NULL, NULL, 24, false),
  ('quota_daily', 'api-gst', NULL, 80, 80000, 100000, 3, false),
  ('quota_daily', 'api-pincode', NULL, 100, 1000, 1000, 1, false)
) AS given (kind, product, last_four, percent, used, quota_limit, hours, is_read)
LEFT JOIN subscription s ON s.customer_id = $1 AND s.product_id = product
LEFT JOIN credential k ON k.customer_id = $1 AND k.last_four = given.last_four`,
  thresholds:
    "INSERT INTO alert_threshold (subscription_id, percents) SELECT id, '{75,90,100}' FROM subscription WHERE customer_id = $1 AND product_id = 'api-ip'",
  webhooks: `
INSERT INTO webhook (customer_id, url, secret, state, created_at)
SELECT $1, url, 'whsec_' || repeat('a', 44), state, now() - age
FROM (VALUES ('https://hooks.example.com/tollgate', 'active', interval '20 days'),
  ('https://alerts.example.net/' || repeat('a-long-path/', 9) || 'in', 'paused', interval '19 days')) AS given (url, state, age)`,
  deliveries: `
INSERT INTO webhook_delivery (webhook_id, alert_id, event_id, event, event_at, state, attempts, last_status, last_error, ended_at)
SELECT w.id, CASE WHEN event <> 'test' THEN (SELECT id FROM alert WHERE customer_id = $1 LIMIT 1) END, gen_random_uuid(), event, now(),
  given.state, attempts, last_status, last_error, now() + ended_in
FROM webhook w, (VALUES
  ('key.expiry', 'failed', 8, NULL, 'the connection was refused', interval '-2 hours'),
  ('quota.daily', 'waiting', 2, 503, NULL, NULL),
  ('test', 'delivered', 1, 200, NULL, interval '-1 hour')
) AS given (event, state, attempts, last_status, last_error, ended_in)
WHERE w.customer_id = $1 AND w.state = 'active'`,
  nextAttempt: "UPDATE outbox SET due_at = now() + interval '4 minutes' WHERE kind = 'webhook' AND $1::uuid IS NOT NULL",
  failure: `
INSERT INTO webhook_delivery (webhook_id, event_id, event, event_at, state, attempts, last_error, ended_at)
SELECT id, gen_random_uuid(), 'test', now(), 'failed', 8, 'the connection was refused', now() FROM webhook
WHERE customer_id = $1 AND state = 'paused'`,
  planRequests: `
INSERT INTO plan_request (customer_id, product_id, plan_name, daily, monthly, price, currency, state, reason, asked_at, answered_at)
VALUES ($1, 'api-seo', 'Star', 10000, 300000, 999, 'INR', 'open', '', now() - interval '5 hours', NULL),
  ($1, 'api-aadhaar', 'Star', 4000, 120000, 999, 'INR', 'declined', 'Please send us your company’s registration first.',
    now() - interval '2 days', now() - interval '1 day')`,
  audit: `
INSERT INTO audit_log (at, actor, action, subject_kind, subject_id, details, from_address, customer_id)
SELECT now() - hours * interval '1 hour', (SELECT 'dashboard:' || email FROM customer WHERE id = $1), action, kind,
  CASE kind WHEN 'customer' THEN $1::uuid WHEN 'credential' THEN k.id ELSE s.id END, details::jsonb, from_address, $1
FROM (VALUES
  ('key.create', 'credential', '{"mode": "live", "products": ["api-ip", "api-pincode"], "expires_at": null}', 48, NULL),
  ('subscription.change', 'subscription', '{"before": {"plan": null}, "after": {"plan": "Star"}}', 24, '198.51.100.23'),
  ('key.revoke', 'credential', '{}', 5, '2001:db8:4006:812::200e'),
  ('account.sign_in', 'customer', '{}', 2, '198.51.100.23'),
  ('key.rules', 'credential', '{"added": ["203.0.113.0/24", "*.example.com"], "removed": []}', 1, '198.51.100.23')
) AS given (action, kind, details, hours, from_address)
JOIN credential k ON k.customer_id = $1 AND k.last_four = '1a2B'
JOIN subscription s ON s.customer_id = $1 AND s.product_id = 'api-ip'`,
};

/**
 * Alerts, webhooks with deliveries, plans that were asked for, and lines of the audit log; keys and subscriptions are there already.
 * @returns the id of the webhook that is in use
 */
export async function seedActivity(pool: Pool, customerId: string): Promise<string> {
  await inTransaction(pool, async (client) => {
    for (const statement of Object.values(SEED)) await client.query(statement, [customerId]);
  });
  const { rows } = await pool.query<{ id: string }>("SELECT id FROM webhook WHERE customer_id = $1 AND state = 'active'", [customerId]);
  return rows[0]?.id ?? '';
}
