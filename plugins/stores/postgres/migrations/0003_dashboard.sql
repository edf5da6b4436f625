-- Up Migration
-- Accounts and sessions of the dashboard, its mail, its double submits; from where a change was made.

-- The tables that better-auth 1.7 wants, under names of our own; test/dashboard/auth-schema.stores.test.ts compares them with what it expects.
CREATE TABLE auth_user (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  name text NOT NULL,
  email text NOT NULL UNIQUE,
  email_verified boolean NOT NULL,
  image text,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL
);

CREATE TABLE auth_session (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  expires_at timestamptz NOT NULL,
  token text NOT NULL UNIQUE,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  ip_address text,
  user_agent text,
  user_id uuid NOT NULL REFERENCES auth_user ON DELETE CASCADE
);
CREATE INDEX auth_session_user_idx ON auth_session (user_id);
CREATE INDEX auth_session_expiry_idx ON auth_session (expires_at);

-- One row a way to sign in; only passwords are offered, as argon2id hashes.
CREATE TABLE auth_account (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  account_id text NOT NULL,
  provider_id text NOT NULL,
  user_id uuid NOT NULL REFERENCES auth_user ON DELETE CASCADE,
  access_token text,
  refresh_token text,
  id_token text,
  access_token_expires_at timestamptz,
  refresh_token_expires_at timestamptz,
  scope text,
  password text CHECK (password LIKE '$argon2id$%'),
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL
);
CREATE INDEX auth_account_user_idx ON auth_account (user_id);

CREATE TABLE auth_verification (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  identifier text NOT NULL,
  value text NOT NULL,
  expires_at timestamptz NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL
);
CREATE INDEX auth_verification_identifier_idx ON auth_verification (identifier);

-- Attempts by address and path, and by account. `last_request` is Unix milliseconds; the driver gives a bigint as text, to which
-- better-auth then appends a window instead of adding it, while a double is a number to both and exact for these.
CREATE TABLE auth_rate_limit (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  key text NOT NULL UNIQUE,
  count integer NOT NULL,
  last_request double precision NOT NULL
);
CREATE INDEX auth_rate_limit_last_request_idx ON auth_rate_limit (last_request);

-- Mail of an installation that sends none: read on the outbox page. Kept 7 days.
CREATE TABLE outbox_mail (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  at timestamptz NOT NULL DEFAULT now(),
  recipient text NOT NULL,
  subject text NOT NULL,
  body text NOT NULL
);
CREATE INDEX outbox_mail_at_idx ON outbox_mail (at);

-- Forms that were sent: the same one again makes nothing new. Kept 2 days.
CREATE TABLE submission (
  customer_id uuid NOT NULL REFERENCES customer ON DELETE CASCADE,
  id uuid NOT NULL,
  -- What it made; null until the transaction that makes it is about to commit.
  result_id uuid,
  at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (customer_id, id)
);

-- Null for changes that did not come over a network.
ALTER TABLE audit_log ADD COLUMN from_address text;

-- Pages of a customer's keys, newest first.
CREATE INDEX credential_customer_created_idx ON credential (customer_id, created_at DESC, id DESC);
