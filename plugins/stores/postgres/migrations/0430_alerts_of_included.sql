-- Shares of what a price includes are told beside those of the limits at which requests are refused.
ALTER TABLE alert ADD COLUMN is_included boolean NOT NULL DEFAULT false;
ALTER TABLE alert
  DROP CONSTRAINT alert_once_a_window,
  ADD CONSTRAINT alert_once_a_window UNIQUE (subscription_id, kind, period, percent, is_included);

-- The seller hears when requests are refused; use above what the price includes goes on, and is charged.
CREATE OR REPLACE FUNCTION seller_hears_of_alerts() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path TO public, pg_temp AS $function$
BEGIN
  IF NOT EXISTS (SELECT FROM webhook WHERE customer_id IS NULL) THEN RETURN NULL; END IF;
  PERFORM tell_seller('quota.reached', jsonb_build_object(
    'subscription_id', s.id, 'customer_id', c.id, 'customer', c.email, 'product', s.product_id,
    'window', CASE made.kind WHEN 'quota_daily' THEN 'daily' ELSE 'monthly' END, 'used', made.used, 'limit', made.quota_limit,
    'period', to_char(made.period, CASE made.kind WHEN 'quota_daily' THEN 'YYYY-MM-DD' ELSE 'YYYY-MM' END)
  )) FROM made JOIN customer c ON c.id = made.customer_id JOIN subscription s ON s.id = made.subscription_id
  WHERE made.kind IN ('quota_daily', 'quota_monthly') AND made.percent = 100 AND NOT made.is_included;
  RETURN NULL;
END $function$;
