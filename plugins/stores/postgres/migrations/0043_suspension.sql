-- Up Migration
-- Suspended by the provider: beside a customer's own states, so that no act of the customer lifts it, and the one does not become the other.

CREATE TABLE suspension (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  -- Whom or what it stops: one of them.
  customer_id uuid UNIQUE REFERENCES customer ON DELETE CASCADE,
  credential_id uuid UNIQUE REFERENCES credential ON DELETE CASCADE,
  subscription_id uuid UNIQUE REFERENCES subscription ON DELETE CASCADE,
  -- For the customer to read; empty when none was given.
  reason text NOT NULL CHECK (length(reason) <= 500),
  since timestamptz NOT NULL DEFAULT now(),
  CHECK (num_nonnulls(customer_id, credential_id, subscription_id) = 1)
);

-- Told as a change of what it stops. What is gone with its suspension tells by itself.
CREATE FUNCTION tell_suspension_change() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  stopped suspension := COALESCE(NEW, OLD);
BEGIN
  IF stopped.credential_id IS NOT NULL THEN
    PERFORM pg_notify('tollgate_changes', json_build_object('credential', id, 'at', now(), 'hash', told_hash(hash))::text)
      FROM credential WHERE id = stopped.credential_id;
  ELSIF stopped.subscription_id IS NOT NULL THEN
    PERFORM pg_notify('tollgate_changes', json_build_object('subscription', id, 'customer', customer_id)::text)
      FROM subscription WHERE id = stopped.subscription_id;
  ELSE
    PERFORM pg_notify('tollgate_changes', json_build_object('customer', stopped.customer_id)::text);
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER suspension_tells AFTER INSERT OR UPDATE OR DELETE ON suspension FOR EACH ROW EXECUTE FUNCTION tell_suspension_change();

-- Why a request was refused, as the customer was told then.
ALTER TABLE decision ADD COLUMN suspended text;
