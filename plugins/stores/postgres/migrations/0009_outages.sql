-- Responses of products, added up over customers, and outages.

CREATE TABLE product_answers (
  day date NOT NULL,
  product_id text NOT NULL,
  admitted bigint NOT NULL,
  succeeded bigint,
  rejected bigint,
  failed bigint,
  abandoned bigint,
  took bigint[],
  PRIMARY KEY (day, product_id)
);
COMMENT ON TABLE product_answers IS 'Responses by product and day, added up from customer_day for the status page and the operators'' page '
  'of products. Kept 92 days.';

CREATE TABLE product_pulse (
  at timestamptz NOT NULL,
  day date NOT NULL,
  product_id text NOT NULL,
  answered bigint NOT NULL,
  failed bigint NOT NULL,
  PRIMARY KEY (at, day, product_id)
);
COMMENT ON TABLE product_pulse IS 'Copies of product_answers every ten seconds, from which the responses of the last minute follow. Kept '
  'some minutes.';

CREATE TABLE product_outage (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  product_id text NOT NULL REFERENCES product,
  began_at timestamptz NOT NULL,
  ended_at timestamptz CHECK (ended_at >= began_at),
  -- Time of the latest failure.
  failed_at timestamptz NOT NULL,
  -- Responses since it began, and how many of them had a status of 500 to 599.
  answered bigint NOT NULL,
  failed bigint NOT NULL CHECK (failed <= answered)
);
COMMENT ON TABLE product_outage IS 'Times in which a product failed more than its catalogue allows. Kept 92 days after their end.';
-- A product has one open outage at a time, however many processes watch it.
CREATE UNIQUE INDEX product_outage_open_idx ON product_outage (product_id) WHERE ended_at IS NULL;
CREATE INDEX product_outage_began_idx ON product_outage (began_at);

CREATE TABLE status_subscription (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  email text NOT NULL CHECK (email = lower(email)),
  -- Null: every product that is offered.
  product_id text REFERENCES product,
  asked_at timestamptz NOT NULL DEFAULT now(),
  -- Null: nobody has confirmed yet that they read the address, so it gets no mail about outages.
  confirmed_at timestamptz
);
COMMENT ON TABLE status_subscription IS 'Addresses that get a mail when a product fails, and another when it works again. Links in mail '
  'are signed, so no token is stored. A row is deleted when its reader ends it, and after a day if nobody confirms it.';
CREATE UNIQUE INDEX status_subscription_once_idx ON status_subscription (email, COALESCE(product_id, ''));
CREATE INDEX status_subscription_waiting_idx ON status_subscription (asked_at) WHERE confirmed_at IS NULL;

CREATE FUNCTION seller_hears_of_outages() RETURNS trigger LANGUAGE plpgsql
SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  PERFORM tell_seller(
    CASE WHEN NEW.ended_at IS NULL THEN 'product.failing' ELSE 'product.recovered' END,
    jsonb_build_object(
      'product', NEW.product_id, 'began_at', to_json(NEW.began_at), 'ended_at', to_json(NEW.ended_at), 'answered', NEW.answered, 'failed', NEW.failed
    )
  );
  RETURN NULL;
END $$;
COMMENT ON FUNCTION seller_hears_of_outages() IS 'Notifies the seller when a product begins to fail, and when it works again.';
REVOKE ALL ON FUNCTION seller_hears_of_outages() FROM PUBLIC;
CREATE TRIGGER product_outage_begun_told AFTER INSERT ON product_outage FOR EACH ROW EXECUTE FUNCTION seller_hears_of_outages();
CREATE TRIGGER product_outage_ended_told AFTER UPDATE ON product_outage FOR EACH ROW
  WHEN (OLD.ended_at IS NULL AND NEW.ended_at IS NOT NULL) EXECUTE FUNCTION seller_hears_of_outages();
