-- Up Migration
-- Whoever is in no organisation deletes the account alone: there is no customer to stop, and 14 days later the person is erased.

CREATE TABLE person_deletion (
  user_id uuid PRIMARY KEY REFERENCES auth_user ON DELETE CASCADE,
  asked_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX person_deletion_asked_idx ON person_deletion (asked_at);

-- Erases the person once the 14 days are over; another time it does nothing. Organisations keep what was done in them, without who did it:
-- under the present address and those before it.
-- outcome: erased; returned (a session, a membership or an operator's role is there); waiting (not asked for, not due, or done already).
CREATE FUNCTION erase_person(p_user uuid) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  addresses text[];
  each text;
  name text := 'deleted-' || p_user || '@deleted.invalid';
BEGIN
  PERFORM FROM person_deletion WHERE user_id = p_user AND asked_at <= now() - interval '14 days' FOR UPDATE;
  IF NOT FOUND THEN RETURN 'waiting'; END IF;
  IF EXISTS (SELECT FROM auth_session WHERE user_id = p_user AND expires_at > now())
    OR EXISTS (SELECT FROM member WHERE user_id = p_user)
    OR EXISTS (SELECT FROM operator WHERE user_id = p_user) THEN RETURN 'returned'; END IF;
  WITH RECURSIVE known (address) AS (
    SELECT email FROM auth_user WHERE id = p_user
    UNION
    SELECT details ->> 'before' FROM audit_log JOIN known ON details ->> 'after' = known.address WHERE action = 'account.email_change'
  ) SELECT array_agg(address) INTO addresses FROM known;

  FOREACH each IN ARRAY addresses LOOP
    DELETE FROM outbox_mail WHERE lower(recipient) = lower(each);
    DELETE FROM auth_verification WHERE position(lower(each) IN lower(identifier || value)) > 0;
    DELETE FROM invitation WHERE email = lower(each);
    PERFORM erase_from_audit_log(NULL, each, name);
  END LOOP;
  DELETE FROM auth_verification WHERE position(p_user::text IN value) > 0;
  DELETE FROM auth_user WHERE id = p_user;
  RETURN 'erased';
END $$;
REVOKE ALL ON FUNCTION erase_person(uuid) FROM PUBLIC;
