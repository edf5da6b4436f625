-- Up Migration
-- Organisations: a customer has members, each with a role. A customer without any is one that the command line made and nobody has signed in to.

CREATE TABLE member (
  customer_id uuid NOT NULL REFERENCES customer ON DELETE CASCADE,
  -- An account that is the only owner of other people's organisation cannot be deleted: the trigger below refuses.
  user_id uuid NOT NULL REFERENCES auth_user ON DELETE CASCADE,
  role text NOT NULL CHECK (role IN ('owner', 'admin', 'developer', 'billing', 'reader')),
  since timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (customer_id, user_id)
);
CREATE INDEX member_user_idx ON member (user_id, since);

-- Whoever has members has an owner among them. The customer is locked first: of two owners who leave at once the second waits, and then
-- sees that the first has left.
CREATE FUNCTION keep_an_owner() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1 FROM customer WHERE id = OLD.customer_id FOR NO KEY UPDATE;
  IF EXISTS (SELECT FROM member WHERE customer_id = OLD.customer_id)
    AND NOT EXISTS (SELECT FROM member WHERE customer_id = OLD.customer_id AND role = 'owner') THEN
    RAISE EXCEPTION 'an organisation has an owner' USING ERRCODE = 'check_violation', CONSTRAINT = 'member_has_owner';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER member_keeps_owner AFTER UPDATE OR DELETE ON member
  FOR EACH ROW WHEN (OLD.role = 'owner') EXECUTE FUNCTION keep_an_owner();

-- The first one is the owner.
CREATE FUNCTION begin_with_owner() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM member WHERE customer_id = NEW.customer_id AND role = 'owner') THEN
    RAISE EXCEPTION 'an organisation has an owner' USING ERRCODE = 'check_violation', CONSTRAINT = 'member_has_owner';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER member_begins_with_owner AFTER INSERT ON member
  FOR EACH ROW WHEN (NEW.role <> 'owner') EXECUTE FUNCTION begin_with_owner();

-- Whose address a customer had until now was the customer.
INSERT INTO member (customer_id, user_id, role)
SELECT c.id, u.id, 'owner' FROM customer c JOIN auth_user u ON u.email = lower(c.email) AND u.email_verified
WHERE NOT EXISTS (SELECT FROM operator o WHERE o.user_id = u.id);

-- One open at a time for an address: accepted and revoked ones are gone, and the audit log has them.
CREATE TABLE invitation (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  customer_id uuid NOT NULL REFERENCES customer ON DELETE CASCADE,
  email text NOT NULL CHECK (email = lower(email)),
  role text NOT NULL CHECK (role IN ('admin', 'developer', 'billing', 'reader')),
  -- SHA-256 of the token in the mail: all that is kept of it.
  token_hash bytea NOT NULL UNIQUE CHECK (octet_length(token_hash) = 32),
  invited_by uuid REFERENCES auth_user ON DELETE SET NULL,
  sent_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  UNIQUE (customer_id, email)
);
CREATE INDEX invitation_inviter_idx ON invitation (invited_by);

-- With an account go the invitations of its address, and those of an organisation that nobody else is in.
CREATE FUNCTION forget_invitations() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM invitation i WHERE i.email = OLD.email OR i.customer_id IN (
    SELECT m.customer_id FROM member m
    WHERE m.user_id = OLD.id AND NOT EXISTS (SELECT FROM member o WHERE o.customer_id = m.customer_id AND o.user_id <> OLD.id)
  );
  RETURN OLD;
END $$;
CREATE TRIGGER auth_user_forgets_invitations BEFORE DELETE ON auth_user FOR EACH ROW EXECUTE FUNCTION forget_invitations();

-- Who made a token; null for older ones, and once the account is gone.
ALTER TABLE admin_token ADD COLUMN made_by uuid REFERENCES auth_user ON DELETE SET NULL;
CREATE INDEX admin_token_maker_idx ON admin_token (made_by);

-- To whom mail for a customer goes: its own address while that is a member's, or a verified account's that has joined nothing yet; else its
-- oldest owner. Null where nobody is known to read it.
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
