import { type Pool } from 'pg';

/** Names of all tables. */
export async function tableNames(pool: Pool): Promise<string[]> {
  const { rows } = await pool.query<{ name: string }>(
    "SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition ORDER BY 1",
  );
  return rows.map(({ name }) => name);
}

/** By table, its rows that hold one of these texts anywhere. */
export async function rowsAbout(pool: Pool, texts: readonly string[]): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const table of await tableNames(pool)) {
    const { rows } = await pool.query<{ count: number }>(
      `SELECT count(*)::integer AS count FROM ${table} t
       WHERE EXISTS (SELECT FROM unnest($1::text[]) AS each WHERE position(lower(each) IN lower(to_jsonb(t)::text)) > 0)`,
      [texts],
    );
    if (rows[0]?.count) counts[table] = rows[0].count;
  }
  return counts;
}

/** The ids of everything that a customer and its person have. */
export async function idsOfCustomer(pool: Pool, email: string): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>(
    `WITH own AS (SELECT id FROM customer WHERE email = $1)
     SELECT id FROM own UNION ALL SELECT id FROM auth_user WHERE email = $1
     UNION ALL SELECT id FROM credential WHERE customer_id IN (SELECT id FROM own)
     UNION ALL SELECT id FROM subscription WHERE customer_id IN (SELECT id FROM own)
     UNION ALL SELECT id FROM webhook WHERE customer_id IN (SELECT id FROM own)
     UNION ALL SELECT id FROM invoice WHERE customer_id IN (SELECT id FROM own)
     UNION ALL SELECT id FROM paid_subscription WHERE customer_id IN (SELECT id FROM own)
     UNION ALL SELECT id FROM alert WHERE customer_id IN (SELECT id FROM own)`,
    [email],
  );
  return rows.map(({ id }) => id);
}

/** What a customer may have beyond what the API makes: a row in every other table with something of a person. */
export async function fillEveryTable(pool: Pool, email: string): Promise<void> {
  const { rows } = await pool.query<{ customer: string; person: string; key: string; subscription: string }>(
    `SELECT c.id AS customer, u.id AS person, k.id AS key, s.id AS subscription FROM customer c JOIN auth_user u ON u.email = c.email
     JOIN credential k ON k.customer_id = c.id JOIN subscription s ON s.customer_id = c.id WHERE c.email = $1 LIMIT 1`,
    [email],
  );
  const { customer, person, key, subscription } = rows[0] ?? {};
  const statements: readonly (readonly [string, readonly unknown[]])[] = [
    ['INSERT INTO submission (customer_id, id) VALUES ($1, gen_random_uuid())', [customer]],
    ["INSERT INTO credential_tag (credential_id, tag) VALUES ($1, 'billing')", [key]],
    ["INSERT INTO whitelist_rule (credential_id, kind, rule) VALUES ($1, 'ip', '203.0.113.77')", [key]],
    ["INSERT INTO auth_two_factor (secret, backup_codes, user_id) VALUES ('sealed', 'sealed', $1)", [person]],
    [
      `INSERT INTO auth_passkey (name, public_key, user_id, credential_id, counter, device_type, backed_up)
       VALUES ('Laptop', 'public', $1::text::uuid, 'credential-' || $1::text, 0, 'singleDevice', false)`,
      [person],
    ],
    [
      `INSERT INTO auth_verification (identifier, value, expires_at, created_at, updated_at)
       VALUES ('hashed', $1, now() + interval '1 hour', now(), now())`,
      [person],
    ],
    [
      `INSERT INTO invitation (customer_id, email, role, token_hash, invited_by, expires_at)
       VALUES ($1::uuid, 'invited@example.com', 'reader', sha256(convert_to($1::uuid::text, 'UTF8')), $2, now() + interval '7 days')`,
      [customer, person],
    ],
    [
      `INSERT INTO email_change (user_id, new_email, old_token, new_token, session_id)
       VALUES ($1::text::uuid, $1::text || '@example.com', sha256(($1::text || 'old')::bytea), sha256(($1::text || 'new')::bytea), gen_random_uuid())`,
      [person],
    ],
    ['INSERT INTO person_deletion (user_id) VALUES ($1)', [person]],
    ["INSERT INTO outbox_mail (recipient, subject, body) VALUES ($1, 'Reset', 'link')", [email]],
    ['INSERT INTO status_subscription (email, confirmed_at) VALUES (lower($1), now())', [email]],
    ['INSERT INTO change_confirmation (credential_id, node_id, changed_at) VALUES ($1, gen_random_uuid(), now())', [key]],
    ["INSERT INTO subscription_limit_term (subscription_id, reason, set_by) VALUES ($1, 'asked', 'op@example.com')", [subscription]],
    [
      `INSERT INTO alert (customer_id, kind, subscription_id, period, percent, used, quota_limit)
       VALUES ($1, 'quota_daily', $2, '2026-11-20', 100, 10, 10)`,
      [customer, subscription],
    ],
    [
      `INSERT INTO consent (customer_id, product_id, version, text, given_by, user_id)
       VALUES ($1, 'api-ip', sha256('agreed'), 'agreed', 'dashboard', $2)`,
      [customer, person],
    ],
    ['INSERT INTO alert_preference (customer_id) VALUES ($1)', [customer]],
    ["INSERT INTO alert_threshold (subscription_id, percents) VALUES ($1, '{90}')", [subscription]],
    ["INSERT INTO outbox (kind, subject) VALUES ('alerts', $1)", [customer]],
    ["INSERT INTO denial_count (credential_id, product_id, day, code, count) VALUES ($1, 'api-ip', now(), 'key_expired', 3)", [key]],
    ["INSERT INTO key_hour (credential_id, day, hour, product_id, admitted) VALUES ($1, now(), 3, 'api-ip', 4)", [key]],
    ["INSERT INTO customer_day (customer_id, day, product_id, admitted) VALUES ($1, now(), 'api-ip', 4)", [customer]],
    ["INSERT INTO customer_note (customer_id, author, text) VALUES ($1, 'op@example.com', 'asked by phone')", [customer]],
    [
      `INSERT INTO customer_listing (list, customer_id, email, created_at, state, plans, rates, rate, used, growth, last_seen_on, counted_on)
       VALUES ('all', $1, $2, now(), 'active', '[]', '[]', 0, 4, 4, now(), now()) ON CONFLICT DO NOTHING`,
      [customer, email],
    ],
    ['INSERT INTO customer_limit (customer_id, keys) VALUES ($1, 300)', [customer]],
    ["INSERT INTO suspension (credential_id, reason) VALUES ($1, 'looked into')", [key]],
    ['INSERT INTO usage (subscription_id, day, spent_redis) VALUES ($1, now(), 5)', [subscription]],
    ["INSERT INTO statement (customer_id, month, content) VALUES ($1, '2026-10-01', '{}')", [customer]],
    ["INSERT INTO statement_billed (customer_id, month) VALUES ($1, '2026-10-01')", [customer]],
    [
      `INSERT INTO overage_charge (customer_id, month, product_id, currency, units, amount) VALUES ($1, '2026-10-01', 'api-ip', 'INR', 617, 1234)`,
      [customer],
    ],
    [
      "INSERT INTO billing_details (customer_id, name, address, country, email) VALUES ($1, 'Asha', '{Street}', 'IN', 'accounts@example.com')",
      [customer],
    ],
    [
      `INSERT INTO invoice_payment (invoice_id, paid_on, noted_by) SELECT id, '2026-04-10', 'operator:op@example.com' FROM invoice WHERE customer_id = $1`,
      [customer],
    ],
    ["INSERT INTO payment_account (customer_id, provider, account) VALUES ($1, 'stripe', 'cus_1')", [customer]],
    [
      `INSERT INTO payment_fact (provider, id, paid_subscription, at, fact) SELECT 'stripe', 'evt_' || reference, reference, now(), '{}' FROM paid_subscription WHERE customer_id = $1`,
      [customer],
    ],
    [
      `INSERT INTO payment_charge (provider, invoice, paid_subscription_id, currency, amount, charged_at) SELECT 'stripe', 'in_' || reference, id, 'INR', 49900, now() FROM paid_subscription WHERE customer_id = $1`,
      [customer],
    ],
    [
      "INSERT INTO outbox (kind, subject, detail) SELECT 'payment', id, 'paid evt' FROM paid_subscription WHERE customer_id = $1",
      [customer],
    ],
    ["INSERT INTO trial (product_id, mailbox, customer_id) SELECT 'api-ip', 'hash of ' || id, id FROM customer WHERE id = $1", [customer]],
    [
      `INSERT INTO plan_preview (paid_subscription_id, plan_name, price, terms, held, change)
       SELECT id, 'Sun', 99900, '{}', '{}', '{}' FROM paid_subscription WHERE customer_id = $1`,
      [customer],
    ],
    ["INSERT INTO outbox (kind, subject, detail) SELECT 'invoice', id, 'paid' FROM invoice WHERE customer_id = $1", [customer]],
  ];
  for (const [statement, values] of statements) await pool.query(statement, [...values]);
}
