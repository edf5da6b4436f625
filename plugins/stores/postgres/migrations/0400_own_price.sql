-- A price of its own for one subscription, beside limits of its own. Why, and until when, stands in subscription_limit_term.

-- A month, in the currency that the plan had when it was agreed: in another currency the number would be another price.
ALTER TABLE subscription
  ADD COLUMN price_override numeric CHECK (price_override >= 0),
  ADD COLUMN price_override_currency text CHECK (price_override_currency ~ '^[A-Z]{3}$'),
  ADD CONSTRAINT subscription_price_override_has_currency CHECK ((price_override IS NULL) = (price_override_currency IS NULL));
COMMENT ON TABLE subscription_limit_term IS 'Why an operator set a subscription''s own price or limits, and until when.';

-- It was agreed for one plan: the next one has its own price.
CREATE FUNCTION drop_own_price() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  NEW.price_override := NULL;
  NEW.price_override_currency := NULL;
  IF NEW.daily_override IS NULL AND NEW.monthly_override IS NULL THEN
    DELETE FROM subscription_limit_term WHERE subscription_id = NEW.id;
  END IF;
  RETURN NEW;
END $$;
REVOKE ALL ON FUNCTION drop_own_price() FROM PUBLIC;
COMMENT ON FUNCTION drop_own_price IS 'Ends a subscription''s own price with the plan that it was agreed for.';
CREATE TRIGGER subscription_other_plan_drops_price BEFORE UPDATE OF plan_name ON subscription FOR EACH ROW
  WHEN (OLD.price_override IS NOT NULL AND NEW.plan_name IS DISTINCT FROM OLD.plan_name) EXECUTE FUNCTION drop_own_price();

-- Statements, rates and the seller's webhooks read terms.
DO $$
BEGIN
  EXECUTE replace(
    pg_get_functiondef('keep_subscription_terms'::regproc),
    'COALESCE(l.price, 0.00)',
    'COALESCE(CASE WHEN s.price_override_currency = l.currency THEN s.price_override END, l.price, 0.00)'
  );
END $$;
