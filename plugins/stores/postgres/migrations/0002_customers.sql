-- Customers, the people who sign in for them, and what the dashboard keeps of both.

CREATE TABLE customer (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  email text NOT NULL CHECK (email ~ '^[^@\s]+@[^@\s]+$' AND length(email) <= 254),
  -- The name that an organisation gives itself. Null: it goes by its email address.
  display_name text CHECK (char_length(display_name) BETWEEN 1 AND 100),
  created_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE customer IS 'An organisation that owns keys and subscriptions. An organisation without a member was made by the command '
  'line.';
CREATE UNIQUE INDEX customer_email_key ON customer (lower(email));
-- For addresses by their beginning, in byte order: one index both finds and orders them.
CREATE INDEX customer_email_order_idx ON customer (lower(email) COLLATE "C");

CREATE FUNCTION tell_customer_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('tollgate_changes', json_build_object('customer', OLD.id)::text);
  RETURN NULL;
END $$;
COMMENT ON FUNCTION tell_customer_change IS 'Notifies every node that a customer changed.';
CREATE TRIGGER customer_tells AFTER UPDATE OR DELETE ON customer FOR EACH ROW EXECUTE FUNCTION tell_customer_change();
CREATE TRIGGER customer_truncate_tells AFTER TRUNCATE ON customer EXECUTE FUNCTION tell_truncate();

CREATE TABLE customer_limit (
  customer_id uuid PRIMARY KEY REFERENCES customer ON DELETE CASCADE,
  -- Maximum keys that are not revoked.
  keys integer CHECK (keys > 0),
  -- Maximum whitelist rules of all keys that are not revoked.
  rules integer CHECK (rules > 0),
  -- Maximum changes that the customer may request in a minute.
  writes_per_minute integer CHECK (writes_per_minute > 0)
);
COMMENT ON TABLE customer_limit IS 'Limits that an operator grants one customer beyond the defaults of customer-limits.ts. Null is the '
  'default.';

CREATE TABLE customer_note (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  number bigint GENERATED ALWAYS AS IDENTITY,
  customer_id uuid NOT NULL REFERENCES customer ON DELETE CASCADE,
  at timestamptz NOT NULL DEFAULT now(),
  -- Email address of the operator.
  author text NOT NULL,
  text text NOT NULL CHECK (length(text) BETWEEN 1 AND 2000)
);
COMMENT ON TABLE customer_note IS 'Operators'' notes about a customer, for operators only. Rows are only added.';
CREATE INDEX customer_note_customer_idx ON customer_note (customer_id, number);

CREATE TABLE submission (
  customer_id uuid NOT NULL REFERENCES customer ON DELETE CASCADE,
  id uuid NOT NULL,
  -- Id of the result. Null until the transaction that creates it is about to commit.
  result_id uuid,
  at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (customer_id, id)
);
COMMENT ON TABLE submission IS 'Submitted forms: a repeated form makes nothing new. Kept 2 days.';

-- Accounts, as better-auth 1.7 stores them; test/stores/postgres/migrate.stores.test.ts compares ----------------------------------------

CREATE TABLE auth_user (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  name text NOT NULL,
  email text NOT NULL UNIQUE,
  email_verified boolean NOT NULL,
  image text,
  two_factor_enabled boolean DEFAULT false,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL
);
COMMENT ON TABLE auth_user IS 'A person with an account of the dashboard.';

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
COMMENT ON TABLE auth_session IS 'A browser session of a person who is signed in.';
CREATE INDEX auth_session_user_idx ON auth_session (user_id);
CREATE INDEX auth_session_expiry_idx ON auth_session (expires_at);

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
COMMENT ON TABLE auth_account IS 'A way in which a person signs in: a password, as an argon2id hash, or a provider.';
CREATE INDEX auth_account_user_idx ON auth_account (user_id);
-- A provider's id of a person opens one account. Two tabs that open one at the same time must not create two.
CREATE UNIQUE INDEX auth_account_provider_idx ON auth_account (provider_id, account_id) WHERE provider_id <> 'credential';

CREATE TABLE auth_verification (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  identifier text NOT NULL,
  value text NOT NULL,
  expires_at timestamptz NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL
);
COMMENT ON TABLE auth_verification IS 'Verifications that wait for a link or a code.';
CREATE INDEX auth_verification_identifier_idx ON auth_verification (identifier);

CREATE TABLE auth_rate_limit (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  key text NOT NULL UNIQUE,
  count integer NOT NULL,
  -- Unix milliseconds. The driver returns a bigint as text, and better-auth would append a window to it instead of adding it. A double is a
  -- number, and exact for these values.
  last_request double precision NOT NULL
);
COMMENT ON TABLE auth_rate_limit IS 'Attempts to sign in, by address and path and by account.';
CREATE INDEX auth_rate_limit_last_request_idx ON auth_rate_limit (last_request);

CREATE TABLE auth_two_factor (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  -- Both are encrypted with the dashboard's secret, so a copy of the database creates no code.
  secret text NOT NULL,
  backup_codes text NOT NULL,
  -- One for each person: with two, a thief could keep the second.
  user_id uuid NOT NULL UNIQUE REFERENCES auth_user ON DELETE CASCADE,
  -- False until the first code from it was entered.
  verified boolean DEFAULT true,
  failed_verification_count integer DEFAULT 0,
  locked_until timestamptz,
  -- The time step of the last code: each code opens an account once (RFC 6238, section 5.2).
  last_step bigint
);
COMMENT ON TABLE auth_two_factor IS 'The second factor of an account: an authenticator app and its recovery codes.';

CREATE TABLE auth_passkey (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  -- The name that the person gave it.
  name text,
  -- Opens nothing by itself: the private key stays on the person's device.
  public_key text NOT NULL,
  user_id uuid NOT NULL REFERENCES auth_user ON DELETE CASCADE,
  -- A passkey opens one account.
  credential_id text NOT NULL UNIQUE,
  -- Uses as the device counts them, up to 2^32. A double, like auth_rate_limit.last_request.
  counter double precision NOT NULL,
  device_type text NOT NULL,
  backed_up boolean NOT NULL,
  transports text,
  aaguid text,
  created_at timestamptz,
  -- This column is ours, not better-auth's.
  last_used_at timestamptz
);
COMMENT ON TABLE auth_passkey IS 'A passkey of an account.';
CREATE INDEX auth_passkey_user_idx ON auth_passkey (user_id);

CREATE TABLE email_change (
  -- One for each person: a new request replaces the earlier one.
  user_id uuid PRIMARY KEY REFERENCES auth_user ON DELETE CASCADE,
  new_email text NOT NULL CHECK (new_email = lower(new_email) AND new_email ~ '^[^@\s]+@[^@\s]+$' AND length(new_email) <= 254),
  -- SHA-256 of the tokens in the two links, so a copy of the database confirms nothing.
  old_token bytea NOT NULL UNIQUE CHECK (octet_length(old_token) = 32),
  new_token bytea NOT NULL UNIQUE CHECK (octet_length(new_token) = 32),
  allowed_at timestamptz,
  proved_at timestamptz,
  -- The session that asked. It survives the change.
  session_id uuid NOT NULL,
  expires_at timestamptz NOT NULL DEFAULT now() + interval '1 hour'
);
COMMENT ON TABLE email_change IS 'A pending change of an email address: the old address allows it, the new one proves who reads it.';

CREATE TABLE outbox_mail (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  at timestamptz NOT NULL DEFAULT now(),
  recipient text NOT NULL,
  subject text NOT NULL,
  body text NOT NULL
);
COMMENT ON TABLE outbox_mail IS 'Mail of an installation that sends none, for the outbox page. Kept 7 days.';
CREATE INDEX outbox_mail_at_idx ON outbox_mail (at);

-- Roles ------------------------------------------------------------------------------------------------------------------------------

CREATE TABLE operator (
  user_id uuid PRIMARY KEY REFERENCES auth_user ON DELETE CASCADE,
  created_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE operator IS 'Accounts that run the installation. Only the command line makes them, and none of them is a customer.';

CREATE TABLE member (
  customer_id uuid NOT NULL REFERENCES customer ON DELETE CASCADE,
  -- The only owner of an organisation with other members cannot be deleted: keep_an_owner refuses.
  user_id uuid NOT NULL REFERENCES auth_user ON DELETE CASCADE,
  role text NOT NULL CHECK (role IN ('owner', 'admin', 'developer', 'billing', 'reader')),
  since timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (customer_id, user_id)
);
COMMENT ON TABLE member IS 'The people who act for a customer, and their roles.';
CREATE INDEX member_user_idx ON member (user_id, since);

CREATE FUNCTION keep_an_owner() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1 FROM customer WHERE id = OLD.customer_id FOR NO KEY UPDATE;
  IF EXISTS (SELECT FROM member WHERE customer_id = OLD.customer_id)
    AND NOT EXISTS (SELECT FROM member WHERE customer_id = OLD.customer_id AND role = 'owner') THEN
    RAISE EXCEPTION 'an organisation has an owner' USING ERRCODE = 'check_violation', CONSTRAINT = 'member_has_owner';
  END IF;
  RETURN NULL;
END $$;
COMMENT ON FUNCTION keep_an_owner IS 'Ensures that an organisation with members has an owner. It locks the customer first: when two owners '
  'leave at once, the second waits and then sees that the first has left.';
CREATE TRIGGER member_keeps_owner AFTER UPDATE OR DELETE ON member
  FOR EACH ROW WHEN (OLD.role = 'owner') EXECUTE FUNCTION keep_an_owner();

CREATE FUNCTION begin_with_owner() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM member WHERE customer_id = NEW.customer_id AND role = 'owner') THEN
    RAISE EXCEPTION 'an organisation has an owner' USING ERRCODE = 'check_violation', CONSTRAINT = 'member_has_owner';
  END IF;
  RETURN NULL;
END $$;
COMMENT ON FUNCTION begin_with_owner IS 'Makes the first member of an organisation its owner.';
CREATE TRIGGER member_begins_with_owner AFTER INSERT ON member
  FOR EACH ROW WHEN (NEW.role <> 'owner') EXECUTE FUNCTION begin_with_owner();

CREATE TABLE invitation (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  customer_id uuid NOT NULL REFERENCES customer ON DELETE CASCADE,
  email text NOT NULL CHECK (email = lower(email)),
  role text NOT NULL CHECK (role IN ('admin', 'developer', 'billing', 'reader')),
  -- SHA-256 of the token in the mail. Nothing else of the token is stored.
  token_hash bytea NOT NULL UNIQUE CHECK (octet_length(token_hash) = 32),
  invited_by uuid REFERENCES auth_user ON DELETE SET NULL,
  sent_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  UNIQUE (customer_id, email)
);
COMMENT ON TABLE invitation IS 'Open invitations, one for each address. Accepted and revoked invitations are in the audit log only.';
CREATE INDEX invitation_inviter_idx ON invitation (invited_by);

CREATE FUNCTION forget_invitations() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM invitation i WHERE i.email = OLD.email OR i.customer_id IN (
    SELECT m.customer_id FROM member m
    WHERE m.user_id = OLD.id AND NOT EXISTS (SELECT FROM member o WHERE o.customer_id = m.customer_id AND o.user_id <> OLD.id)
  );
  RETURN OLD;
END $$;
COMMENT ON FUNCTION forget_invitations IS 'When an account is deleted, deletes the invitations to its address, and those of an '
  'organisation that has no other member.';
CREATE TRIGGER auth_user_forgets_invitations BEFORE DELETE ON auth_user FOR EACH ROW EXECUTE FUNCTION forget_invitations();

CREATE TABLE admin_token (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  customer_id uuid NOT NULL REFERENCES customer ON DELETE CASCADE,
  -- SHA-256 of the token. Nothing else of the secret is stored.
  hash bytea NOT NULL UNIQUE CHECK (octet_length(hash) = 32),
  last_four text NOT NULL CHECK (length(last_four) = 4),
  name text NOT NULL CHECK (length(name) BETWEEN 1 AND 100),
  scopes text[] NOT NULL CHECK (cardinality(scopes) > 0),
  -- Null once the account is gone.
  made_by uuid REFERENCES auth_user ON DELETE SET NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  -- No token lasts for ever: 400 days are a year and the time to replace it.
  expires_at timestamptz NOT NULL CHECK (expires_at > created_at AND expires_at <= created_at + interval '400 days'),
  -- Accurate to a minute.
  last_used_at timestamptz,
  revoked_at timestamptz
);
COMMENT ON TABLE admin_token IS 'Tokens of the management API. A row stays when its token is revoked or has expired, because pages and the '
  'audit log name it.';
CREATE INDEX admin_token_customer_idx ON admin_token (customer_id, created_at DESC, id);
CREATE INDEX admin_token_maker_idx ON admin_token (made_by);

CREATE TABLE seller_token (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  hash bytea NOT NULL UNIQUE CHECK (octet_length(hash) = 32),
  last_four text NOT NULL CHECK (length(last_four) = 4),
  name text NOT NULL CHECK (length(name) BETWEEN 1 AND 100),
  scopes text[] NOT NULL CHECK (cardinality(scopes) > 0),
  -- The address stays when the operator is removed: it names who made the token, which no longer works.
  made_by uuid REFERENCES operator ON DELETE SET NULL,
  maker text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL CHECK (expires_at > created_at AND expires_at <= created_at + interval '400 days'),
  last_used_at timestamptz,
  revoked_at timestamptz
);
COMMENT ON TABLE seller_token IS 'Tokens of the seller''s API. A token works while the operator who made it is one. A row stays when its '
  'token has ended.';
CREATE INDEX seller_token_maker_idx ON seller_token (made_by);

CREATE TABLE seller_submission (
  id uuid PRIMARY KEY,
  result_id uuid,
  at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE seller_submission IS 'Requests that operators and their programs sent once, and their results. Kept two days.';
CREATE INDEX seller_submission_at_idx ON seller_submission (at);

CREATE FUNCTION customer_mail_address(p_customer uuid) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT COALESCE(
    (
      SELECT u.email FROM member m JOIN auth_user u ON u.id = m.user_id JOIN customer c ON c.id = m.customer_id
      WHERE m.customer_id = p_customer AND (m.role = 'owner' OR u.email = lower(c.email))
      ORDER BY (u.email = lower(c.email)) DESC, m.since, u.id LIMIT 1
    ),
    (
      SELECT u.email FROM customer c JOIN auth_user u ON u.email = lower(c.email) AND u.email_verified
      WHERE c.id = p_customer AND NOT EXISTS (SELECT FROM member WHERE customer_id = p_customer)
    )
  )
$$;
COMMENT ON FUNCTION customer_mail_address IS 'Address for mail to a customer: its own, while a member has it or a verified account that '
  'has joined nothing yet; otherwise its oldest owner''s. Null if nobody is known to read it.';
