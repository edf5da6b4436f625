-- Prices with the decimals of their currency: JPY has none, KWD three. Prices that are stored keep the decimals they were written with.

ALTER TABLE plan ALTER COLUMN price TYPE numeric;
ALTER TABLE plan_request ALTER COLUMN price TYPE numeric;
ALTER TABLE subscription_term ALTER COLUMN price TYPE numeric;

-- What costs nothing is still written as 0.00.
DO $$
BEGIN
  EXECUTE replace(pg_get_functiondef('keep_subscription_terms'::regproc), '0 ELSE COALESCE(l.price, 0)', '0.00 ELSE COALESCE(l.price, 0.00)');
END $$;
