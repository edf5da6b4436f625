-- Up Migration
-- The quota counters: usage by subscription and day, which requests were refunded, and the steps that change either.

-- Every count only ever grows; what counts against a limit is spent_redis + spent_postgres - refunded.
-- No foreign key: usage outlives its subscription, and a unit must never be refused for that.
CREATE TABLE usage (
  subscription_id uuid NOT NULL,
  -- In the quota time zone.
  day date NOT NULL,
  -- Granted by Redis, as nodes saw it.
  spent_redis bigint NOT NULL DEFAULT 0 CHECK (spent_redis >= 0),
  -- Granted by quota_take.
  spent_postgres bigint NOT NULL DEFAULT 0 CHECK (spent_postgres >= 0),
  refunded bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (subscription_id, day),
  CHECK (refunded BETWEEN 0 AND spent_redis + spent_postgres)
) WITH (fillfactor = 50); -- room on each page for the next version of a hot row, so that the index stays untouched

-- Which requests were refunded. Kept 3 days: refunds for days before yesterday are refused.
CREATE TABLE quota_refund (
  request_id text PRIMARY KEY,
  day date NOT NULL
);
CREATE INDEX quota_refund_day_idx ON quota_refund (day);

-- Parts of one day and of its month.
CREATE FUNCTION quota_parts(
  p_subscription uuid, p_day date,
  OUT day_redis bigint, OUT day_postgres bigint, OUT day_refunded bigint,
  OUT month_redis bigint, OUT month_postgres bigint, OUT month_refunded bigint
) LANGUAGE sql STABLE AS $$
  SELECT
    COALESCE(sum(spent_redis) FILTER (WHERE day = p_day), 0)::bigint,
    COALESCE(sum(spent_postgres) FILTER (WHERE day = p_day), 0)::bigint,
    COALESCE(sum(refunded) FILTER (WHERE day = p_day), 0)::bigint,
    COALESCE(sum(spent_redis), 0)::bigint,
    COALESCE(sum(spent_postgres), 0)::bigint,
    COALESCE(sum(refunded), 0)::bigint
  FROM usage
  WHERE subscription_id = p_subscription
    AND day >= date_trunc('month', p_day::timestamp)::date
    AND day < (date_trunc('month', p_day::timestamp) + interval '1 month')::date
$$;

-- Keeps what nodes saw of Redis: the larger figure wins. Rows are locked in key order, as everywhere here, so that nothing deadlocks.
CREATE FUNCTION quota_keep(p_subscriptions uuid[], p_days date[], p_redis bigint[], p_postgres bigint[])
RETURNS void LANGUAGE sql AS $$
  INSERT INTO usage AS known (subscription_id, day, spent_redis, spent_postgres)
  SELECT subscription, day, max(redis), max(postgres)
  FROM unnest(p_subscriptions, p_days, p_redis, p_postgres) AS seen (subscription, day, redis, postgres)
  WHERE redis > 0 OR postgres > 0
  GROUP BY subscription, day
  ORDER BY subscription, day
  ON CONFLICT (subscription_id, day) DO UPDATE
    SET spent_redis = GREATEST(known.spent_redis, excluded.spent_redis),
        spent_postgres = GREATEST(known.spent_postgres, excluded.spent_postgres)
    WHERE excluded.spent_redis > known.spent_redis OR excluded.spent_postgres > known.spent_postgres
$$;

-- quota_keep, then where each of the subscriptions stands.
CREATE FUNCTION quota_sync(p_subscriptions uuid[], p_days date[], p_redis bigint[], p_postgres bigint[])
RETURNS TABLE (
  place bigint,
  day_redis bigint, day_postgres bigint, day_refunded bigint, month_redis bigint, month_postgres bigint, month_refunded bigint
) LANGUAGE plpgsql AS $$
BEGIN
  -- Usage that a crash of this server takes back is written again within a second; no request should wait for the disk.
  PERFORM set_config('synchronous_commit', 'off', true);
  PERFORM quota_keep(p_subscriptions, p_days, p_redis, p_postgres);
  RETURN QUERY
    SELECT asked.place, parts.*
    FROM unnest(p_subscriptions, p_days) WITH ORDINALITY AS asked (subscription, day, place),
      LATERAL quota_parts(asked.subscription, asked.day) AS parts;
END $$;

-- Takes up to p_units of each subscription from day and month together. The lock covers the whole subscription, not the day's row:
-- two takes on either side of midnight share the month. p_offset shifts this server's clock, in seconds. The p_seen arrays (empty, or
-- null where nothing was seen) are kept like quota_keep's, but under the lock: a caller's own units must count before it takes more.
CREATE FUNCTION quota_take(
  p_subscriptions uuid[], p_units bigint[], p_daily bigint[], p_monthly bigint[], p_zone text, p_offset double precision,
  p_seen_days date[], p_seen_redis bigint[], p_seen_postgres bigint[]
)
RETURNS TABLE (
  place bigint, granted bigint, day date,
  day_redis bigint, day_postgres bigint, day_refunded bigint, month_redis bigint, month_postgres bigint, month_refunded bigint
) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  wanted record;
BEGIN
  PERFORM set_config('synchronous_commit', 'off', true);
  FOR wanted IN
    SELECT * FROM unnest(p_subscriptions, p_units, p_daily, p_monthly, p_seen_days, p_seen_redis, p_seen_postgres)
      WITH ORDINALITY AS each (subscription, units, daily, monthly, seen_day, seen_redis, seen_postgres, place)
    ORDER BY subscription
  LOOP
    IF wanted.units > 0 THEN
      PERFORM pg_advisory_xact_lock(uuid_hash_extended(wanted.subscription, 0));
    END IF;
    IF wanted.seen_day IS NOT NULL THEN
      PERFORM quota_keep(ARRAY[wanted.subscription], ARRAY[wanted.seen_day], ARRAY[wanted.seen_redis], ARRAY[wanted.seen_postgres]);
    END IF;
    place := wanted.place;
    day := ((clock_timestamp() + make_interval(secs => p_offset)) AT TIME ZONE p_zone)::date;
    SELECT parts.* INTO day_redis, day_postgres, day_refunded, month_redis, month_postgres, month_refunded
      FROM quota_parts(wanted.subscription, quota_take.day) AS parts;
    granted := GREATEST(0, LEAST(
      wanted.units,
      wanted.daily - GREATEST(0, day_redis + day_postgres - day_refunded),
      wanted.monthly - GREATEST(0, month_redis + month_postgres - month_refunded)
    ));
    IF granted > 0 THEN
      INSERT INTO usage AS known (subscription_id, day, spent_postgres) VALUES (wanted.subscription, quota_take.day, granted)
        ON CONFLICT (subscription_id, day) DO UPDATE SET spent_postgres = known.spent_postgres + excluded.spent_postgres;
      day_postgres := day_postgres + granted;
      month_postgres := month_postgres + granted;
    END IF;
    RETURN NEXT;
  END LOOP;
END $$;

-- Gives units back, once a request id (null: units that were granted too late to be used; whoever asks knows that it is once).
-- outcome: refunded; repeated (this request was refunded before); uncharged (no such units are known, or the day is too old).
CREATE FUNCTION quota_give_back(
  p_requests text[], p_subscriptions uuid[], p_days date[], p_units bigint[], p_zone text, p_offset double precision
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
    SELECT * FROM unnest(p_requests, p_subscriptions, p_days, p_units)
      WITH ORDINALITY AS each (request, subscription, day, units, place)
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
      UPDATE usage SET refunded = refunded + given.units
        WHERE subscription_id = given.subscription AND day = given.day
          AND refunded + given.units <= spent_redis + spent_postgres;
      IF NOT FOUND THEN
        outcome := 'uncharged';
        DELETE FROM quota_refund WHERE request_id = given.request;
      END IF;
    END IF;
    SELECT parts.* INTO day_redis, day_postgres, day_refunded, month_redis, month_postgres, month_refunded
      FROM quota_parts(given.subscription, given.day) AS parts;
    RETURN NEXT;
  END LOOP;
END $$;
