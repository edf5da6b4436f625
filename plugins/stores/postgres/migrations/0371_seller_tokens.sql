-- Tokens of the seller's API.

CREATE TABLE seller_token (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  hash bytea NOT NULL UNIQUE CHECK (octet_length(hash) = 32),
  last_four text NOT NULL CHECK (length(last_four) = 4),
  name text NOT NULL CHECK (length(name) BETWEEN 1 AND 100),
  scopes text[] NOT NULL CHECK (cardinality(scopes) > 0),
  -- The address stays when the operator goes: it names who made the token, which no longer works.
  made_by uuid REFERENCES operator ON DELETE SET NULL,
  maker text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL CHECK (expires_at > created_at AND expires_at <= created_at + interval '400 days'),
  last_used_at timestamptz,
  revoked_at timestamptz
);
COMMENT ON TABLE seller_token IS 'Tokens of the seller''s API. One works while the operator who made it is one. A row stays when its token has ended.';
CREATE INDEX seller_token_maker_idx ON seller_token (made_by);

CREATE TABLE seller_submission (
  id uuid PRIMARY KEY,
  result_id uuid,
  at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE seller_submission IS 'What operators and their programs asked for once, and what it made. Kept two days.';
CREATE INDEX seller_submission_at_idx ON seller_submission (at);
