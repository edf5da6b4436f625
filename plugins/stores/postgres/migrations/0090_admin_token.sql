-- Up Migration
-- Tokens of the management API. A token's line stays when it is revoked or has expired: the audit log and the page name it.

CREATE TABLE admin_token (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  customer_id uuid NOT NULL REFERENCES customer ON DELETE CASCADE,
  -- SHA-256 of the token: all that is kept of the secret.
  hash bytea NOT NULL UNIQUE CHECK (octet_length(hash) = 32),
  last_four text NOT NULL CHECK (length(last_four) = 4),
  name text NOT NULL CHECK (length(name) BETWEEN 1 AND 100),
  scopes text[] NOT NULL CHECK (cardinality(scopes) > 0),
  created_at timestamptz NOT NULL DEFAULT now(),
  -- No token lives for ever: 400 days are a year and time to replace it.
  expires_at timestamptz NOT NULL CHECK (expires_at > created_at AND expires_at <= created_at + interval '400 days'),
  -- To within a minute.
  last_used_at timestamptz,
  revoked_at timestamptz
);
CREATE INDEX admin_token_customer_idx ON admin_token (customer_id, created_at DESC, id);
