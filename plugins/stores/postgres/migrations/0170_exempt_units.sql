-- Up Migration
-- Requests that a product's catalogue exempts (`uncharged`) are given back beside those that failed: each kind has its own end of the day, so
-- that neither uses up the other's.

-- Part of refunded, as refunded_requests is.
ALTER TABLE usage ADD COLUMN refunded_exempt bigint NOT NULL DEFAULT 0;
ALTER TABLE usage ADD CHECK (refunded_exempt BETWEEN 0 AND refunded);

-- Beside the function of seven parameters, which processes of the version before still call: theirs exempt nothing.
-- p_exempt: true where the catalogue exempts the request; p_most is then the most of these.
CREATE FUNCTION quota_give_back(
  p_requests text[], p_subscriptions uuid[], p_days date[], p_units bigint[], p_zone text, p_offset double precision,
  p_most bigint[], p_exempt boolean[]
)
RETURNS TABLE (
  place bigint, outcome text,
  day_redis bigint, day_postgres bigint, day_refunded bigint, month_redis bigint, month_postgres bigint, month_refunded bigint
) LANGUAGE plpgsql AS $$
DECLARE
  given record;
  oldest date := ((clock_timestamp() + make_interval(secs => p_offset)) AT TIME ZONE p_zone)::date - 1;
BEGIN
  FOR given IN
    SELECT * FROM unnest(p_requests, p_subscriptions, p_days, p_units, p_most, p_exempt)
      WITH ORDINALITY AS each (request, subscription, day, units, most, exempt, place)
    ORDER BY subscription, day, request
  LOOP
    place := given.place;
    outcome := 'refunded';
    IF given.day < oldest THEN
      outcome := 'uncharged';
    ELSIF given.request IS NOT NULL THEN
      INSERT INTO quota_refund (request_id, day) VALUES (given.request, given.day) ON CONFLICT DO NOTHING;
      IF NOT FOUND THEN outcome := 'repeated'; END IF;
    END IF;
    IF outcome = 'refunded' THEN
      -- Both conditions are judged under the row's lock: refunds that come at once wait for one another.
      UPDATE usage
        SET refunded = refunded + given.units,
            refunded_requests = refunded_requests + CASE WHEN given.most IS NULL OR given.exempt THEN 0 ELSE given.units END,
            refunded_exempt = refunded_exempt + CASE WHEN given.exempt THEN given.units ELSE 0 END
        WHERE subscription_id = given.subscription AND day = given.day
          AND refunded + given.units <= spent_redis + spent_postgres
          AND (given.most IS NULL OR CASE WHEN given.exempt THEN refunded_exempt ELSE refunded_requests END + given.units <= given.most);
      IF NOT FOUND THEN
        -- The counts only grow: what is capped now was capped then.
        outcome := CASE WHEN EXISTS (
          SELECT FROM usage
          WHERE subscription_id = given.subscription AND day = given.day
            AND CASE WHEN given.exempt THEN refunded_exempt ELSE refunded_requests END + given.units > given.most
        ) THEN 'capped' ELSE 'uncharged' END;
        DELETE FROM quota_refund WHERE request_id = given.request;
      END IF;
    END IF;
    SELECT parts.* INTO day_redis, day_postgres, day_refunded, month_redis, month_postgres, month_refunded
      FROM quota_parts(given.subscription, given.day) AS parts;
    RETURN NEXT;
  END LOOP;
END $$;
