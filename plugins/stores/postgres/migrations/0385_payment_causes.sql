-- Who suspended, what exactly a checkout is for, and a mail before the grace ends.

-- What one of the two suspends, the other does not restore.
ALTER TABLE suspension ADD COLUMN cause text NOT NULL DEFAULT 'operator' CHECK (cause IN ('operator', 'payment'));
UPDATE suspension SET cause = 'payment'
WHERE subscription_id IS NOT NULL AND reason = 'A payment failed. Pay it under Billing, and requests are accepted again.';

-- The plan's limits when the customer was sent to pay. Null: from before they were noted.
ALTER TABLE checkout ADD COLUMN daily integer, ADD COLUMN monthly integer;

ALTER TABLE payment_mail DROP CONSTRAINT payment_mail_kind_check,
  ADD CONSTRAINT payment_mail_kind_check CHECK (kind IN ('paid', 'failed', 'grace_ends', 'grace_over'));

-- What somebody has just paid for is given, though the product was withdrawn in between.
CREATE OR REPLACE FUNCTION check_subscribable() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (
    SELECT FROM product p WHERE p.id = NEW.product_id AND (p.daily IS NULL OR NOT (p.active AND p.subscribable) AND NOT EXISTS (
      SELECT FROM paid_subscription WHERE customer_id = NEW.customer_id AND product_id = p.id AND status IS DISTINCT FROM 'ended'))
  ) THEN
    RAISE EXCEPTION 'the product cannot be subscribed to'
      USING ERRCODE = 'check_violation', CONSTRAINT = 'subscription_product_has_limits';
  END IF;
  RETURN NEW;
END $$;
COMMENT ON FUNCTION check_subscribable() IS
  'Refuses subscriptions to a product that is retired or only listed, unless it was just paid for, and to one without limits.';
