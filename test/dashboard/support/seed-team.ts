import { type Pool } from 'pg';

/** $1 customer, $2 account of its owner, $3 what makes addresses of this account different from those of others. */
const SEED = {
  people: `
INSERT INTO auth_user (name, email, email_verified, created_at, updated_at)
SELECT '', email, true, now(), now() FROM (VALUES ('dev-' || $3 || '@example.com'), ('finance.department.department.department.' || $3 || '@example.com')) AS given (email)
WHERE $1::uuid IS NOT NULL AND $2::uuid IS NOT NULL`,
  members: `
INSERT INTO member (customer_id, user_id, role, since)
SELECT $1, id, CASE WHEN email LIKE 'dev-%' THEN 'developer' ELSE 'billing' END, now() - interval '40 days' FROM auth_user
WHERE email LIKE '%' || $3 || '@example.com' AND id <> $2`,
  invitations: `
INSERT INTO invitation (customer_id, email, role, token_hash, invited_by, sent_at, expires_at)
SELECT $1, email, role, sha256(random()::text::bytea), CASE WHEN email LIKE 'new%' THEN $2::uuid END, sent, sent + interval '7 days'
FROM (VALUES ('newcomer@example.com', 'admin', now() - interval '1 day'), ('forgot@example.com', 'reader', now() - interval '9 days'))
  AS given (email, role, sent)
WHERE $3::text IS NOT NULL`,
  tokens: `
INSERT INTO admin_token (customer_id, hash, last_four, name, scopes, created_at, expires_at, last_used_at, revoked_at, made_by)
SELECT $1, sha256(random()::text::bytea), last_four, name, scopes::text[], now() - age, now() + lasts, now() - used,
  CASE WHEN name = 'Old laptop' THEN now() END, $2::uuid
FROM (VALUES
  ('k3Xe', 'Deploy script', '{keys:read,keys:write,rules:write}', interval '1 day', interval '70 days', interval '2 minutes'),
  ('0Zpq', trim(repeat('Billing export ', 6)), '{usage:read}', interval '2 days', interval '90 days', interval '1 day'),
  ('zz01', 'Old laptop', '{keys:read}', interval '60 days', interval '30 days', NULL),
  ('zz02', 'Trial', '{keys:read}', interval '9 days', interval '-2 days', NULL)
) AS given (last_four, name, scopes, age, lasts, used)
WHERE $3::text IS NOT NULL`,
  passkeys: `
INSERT INTO auth_passkey (name, public_key, user_id, credential_id, counter, device_type, backed_up, created_at, last_used_at)
SELECT name, 'public', $2::uuid, name || $3, 0, 'singleDevice', false, now() - interval '20 days', now() - used
FROM (VALUES ('Laptop', interval '2 hours'), ('Security key in the safe', NULL)) AS given (name, used) WHERE $1::uuid IS NOT NULL`,
  provider: `
INSERT INTO auth_account (account_id, provider_id, user_id, created_at, updated_at)
SELECT $3, 'google', $2, now(), now() WHERE $1::uuid IS NOT NULL`,
  session: `
INSERT INTO auth_session (expires_at, token, created_at, updated_at, ip_address, user_agent, user_id)
SELECT now() + interval '1 day', 'another-' || $3, now() - interval '1 day', now() - interval '1 day', '2001:db8::7',
  'Mozilla/5.0 (Linux; Android 15) Chrome/140.0 Mobile Safari/537.36', $2 WHERE $1::uuid IS NOT NULL`,
};

/** A team with open invitations, tokens of programs, and every way to sign in. @param mark stands in every address, once in all accounts */
export async function seedTeam(pool: Pool, own: { customerId: string; userId: string; mark: string }): Promise<void> {
  for (const statement of Object.values(SEED)) await pool.query(statement, [own.customerId, own.userId, own.mark]);
}

const INVITE = `
INSERT INTO invitation (customer_id, email, role, token_hash, invited_by, expires_at)
SELECT $1, $2, 'developer', sha256($3::text::bytea), (SELECT user_id FROM member WHERE customer_id = $1 AND role = 'owner' LIMIT 1),
  now() + interval '6 days'`;

/** @param customerId who invites. @param token opens the page of the invitation */
export async function seedInvitation(pool: Pool, customerId: string, { email, token }: { email: string; token: string }): Promise<void> {
  await pool.query(INVITE, [customerId, email, token]);
}

/** Makes somebody a member of another organisation as well. */
export async function seedMember(pool: Pool, customerId: string, { userId, role }: { userId: string; role: string }): Promise<void> {
  await pool.query('INSERT INTO member (customer_id, user_id, role) VALUES ($1, $2, $3)', [customerId, userId, role]);
}
