-- The quota counters: usage by counter and day, the requests that were given back, and the functions that change either.

CREATE TABLE usage (
  -- The counter: a subscription's id, or the id that test_counter derives from it.
  subscription_id uuid NOT NULL,
  -- In the quota time zone.
  day date NOT NULL,
  -- Units granted by Redis, as nodes saw them.
  spent_redis bigint NOT NULL DEFAULT 0 CHECK (spent_redis >= 0),
  -- Units granted by quota_take.
  spent_postgres bigint NOT NULL DEFAULT 0 CHECK (spent_postgres >= 0),
  -- Units given back: for failed requests, for requests that the catalogue exempts (`uncharged`), and units that no request used because
  -- they were granted too late or reserved for more than was done.
  refunded bigint NOT NULL DEFAULT 0,
  -- Parts of `refunded`. The first two each have a maximum for the day, so that neither uses up the other's. The third never counts as
  -- charged.
  refunded_requests bigint NOT NULL DEFAULT 0,
  refunded_exempt bigint NOT NULL DEFAULT 0,
  refunded_unused bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (subscription_id, day),
  CHECK (refunded BETWEEN 0 AND spent_redis + spent_postgres),
  CHECK (refunded_requests BETWEEN 0 AND refunded),
  CHECK (refunded_exempt BETWEEN 0 AND refunded),
  CHECK (refunded_unused BETWEEN 0 AND refunded)
) WITH (fillfactor = 50); -- leaves room on each page for the next version of a hot row, so that the index stays untouched
COMMENT ON TABLE usage IS 'Units by counter and day. Every count only grows; spent_redis + spent_postgres - refunded counts against a limit. '
  'No foreign key: usage outlives its subscription, and no unit is refused for that.';
-- Subscriptions that were used today: only they can reach a share of a limit.
CREATE INDEX usage_day_idx ON usage (day);

CREATE TABLE quota_refund (
  request_id text PRIMARY KEY,
  day date NOT NULL,
  units bigint NOT NULL DEFAULT 1
);
COMMENT ON TABLE quota_refund IS 'Requests that were given back, so that none is given back twice. The id of a request with `/rest` is for '
  'units that it reserved and did not use. The log of requests shows both, so rows are kept as long as the log.';
CREATE INDEX quota_refund_day_idx ON quota_refund (day);

CREATE TABLE rate_debt (
  -- The counter, as in usage.
  subscription_id uuid PRIMARY KEY,
  -- Time of the debt, in microseconds of this server's clock since 1970.
  at_us bigint NOT NULL,
  debt bigint NOT NULL
) WITH (fillfactor = 50);
COMMENT ON TABLE rate_debt IS 'Debts of counters with a rate (plugins/core/access/rate.ts). Every debt is paid within a day, so rows are '
  'deleted after two.';

CREATE FUNCTION test_counter(p_subscription uuid) RETURNS uuid
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT encode(set_bit(uuid_send(p_subscription), 55, 1), 'hex')::uuid
$$;
COMMENT ON FUNCTION test_counter IS 'The counter of a subscription''s test keys: its id with the highest bit of the version set, which no '
  'other id here has (plugins/core/access/quota-counter-id.ts).';

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
COMMENT ON FUNCTION quota_parts IS 'The figures of a counter for one day, and for that day''s month.';

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
COMMENT ON FUNCTION quota_keep IS 'Keeps Redis''s figures as nodes saw them: the larger figure wins. Rows are locked in key order, as in '
  'every function here, so that nothing deadlocks.';

CREATE FUNCTION quota_sync(p_subscriptions uuid[], p_days date[], p_redis bigint[], p_postgres bigint[])
RETURNS TABLE (
  place bigint,
  day_redis bigint, day_postgres bigint, day_refunded bigint, month_redis bigint, month_postgres bigint, month_refunded bigint
) LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  -- If this server crashes, lost usage is written again within a second; no request should wait for the disk.
  PERFORM set_config('synchronous_commit', 'off', true);
  PERFORM quota_keep(p_subscriptions, p_days, p_redis, p_postgres);
  RETURN QUERY
    SELECT asked.place, parts.*
    FROM unnest(p_subscriptions, p_days) WITH ORDINALITY AS asked (subscription, day, place),
      LATERAL quota_parts(asked.subscription, asked.day) AS parts;
END $$;
COMMENT ON FUNCTION quota_sync IS 'Calls quota_keep, then returns the present figures of each subscription.';

CREATE FUNCTION quota_take(
  p_subscriptions uuid[], p_units bigint[], p_daily bigint[], p_monthly bigint[], p_zone text, p_offset double precision,
  p_seen_days date[], p_seen_redis bigint[], p_seen_postgres bigint[], p_least bigint[], p_pace bigint[], p_burst bigint[]
)
RETURNS TABLE (
  place bigint, granted bigint, day date,
  day_redis bigint, day_postgres bigint, day_refunded bigint, month_redis bigint, month_postgres bigint, month_refunded bigint, debt bigint
) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  wanted record;
  present timestamptz;
  now_us bigint;
  known_us bigint;
  elapsed_us bigint;
  requests bigint;
  room bigint;
BEGIN
  PERFORM set_config('synchronous_commit', 'off', true);
  FOR wanted IN
    SELECT * FROM unnest(p_subscriptions, p_units, p_daily, p_monthly, p_seen_days, p_seen_redis, p_seen_postgres, p_least, p_pace, p_burst)
      WITH ORDINALITY AS each (subscription, units, daily, monthly, seen_day, seen_redis, seen_postgres, least_units, pace, burst, place)
    ORDER BY subscription
  LOOP
    IF wanted.units > 0 THEN
      PERFORM pg_advisory_xact_lock(uuid_hash_extended(wanted.subscription, 0));
    END IF;
    IF wanted.seen_day IS NOT NULL THEN
      PERFORM quota_keep(ARRAY[wanted.subscription], ARRAY[wanted.seen_day], ARRAY[wanted.seen_redis], ARRAY[wanted.seen_postgres]);
    END IF;
    place := wanted.place;
    present := clock_timestamp() + make_interval(secs => p_offset);
    day := (present AT TIME ZONE p_zone)::date;
    SELECT parts.* INTO day_redis, day_postgres, day_refunded, month_redis, month_postgres, month_refunded
      FROM quota_parts(wanted.subscription, quota_take.day) AS parts;
    granted := GREATEST(0, LEAST(
      wanted.units,
      wanted.daily - GREATEST(0, day_redis + day_postgres - day_refunded),
      wanted.monthly - GREATEST(0, month_redis + month_postgres - month_refunded)
    ));
    IF granted < wanted.least_units THEN
      granted := 0;
    END IF;
    debt := NULL;
    IF wanted.pace > 0 THEN
      now_us := (extract(epoch FROM present) * 1000000)::bigint;
      SELECT known.debt, known.at_us INTO debt, known_us FROM rate_debt known WHERE subscription_id = wanted.subscription;
      debt := LEAST(COALESCE(debt, 0), wanted.burst * 60000000);
      elapsed_us := GREATEST(0, now_us - COALESCE(known_us, now_us));
      debt := CASE WHEN elapsed_us > debt / wanted.pace THEN 0 ELSE debt - elapsed_us * wanted.pace END;
      room := wanted.burst - (debt + 59999999) / 60000000;
      requests := CASE WHEN wanted.least_units > 0 THEN LEAST(granted, 1) ELSE granted END;
      IF requests > room THEN
        requests := CASE WHEN wanted.least_units > 0 THEN 0 ELSE room END;
        granted := requests;
      END IF;
      debt := debt + requests * 60000000;
      -- If the clock was set back, the rate starts anew: otherwise the debt would stand until that time comes again.
      IF requests > 0 OR now_us < known_us THEN
        INSERT INTO rate_debt AS known (subscription_id, at_us, debt) VALUES (wanted.subscription, now_us, quota_take.debt)
          ON CONFLICT (subscription_id) DO UPDATE SET at_us = excluded.at_us, debt = excluded.debt;
      END IF;
    END IF;
    IF granted > 0 THEN
      INSERT INTO usage AS known (subscription_id, day, spent_postgres) VALUES (wanted.subscription, quota_take.day, granted)
        ON CONFLICT (subscription_id, day) DO UPDATE SET spent_postgres = known.spent_postgres + excluded.spent_postgres;
      day_postgres := day_postgres + granted;
      month_postgres := month_postgres + granted;
    END IF;
    RETURN NEXT;
  END LOOP;
END $$;
COMMENT ON FUNCTION quota_take IS 'Takes up to p_units of each subscription from day and month together; if fewer than p_least are left, '
  'none. The lock covers the whole subscription, not the day''s row: two takes on either side of midnight share the month. p_offset shifts '
  'this server''s clock, in seconds. The p_seen arrays (empty, or null if nothing was seen) are kept as by quota_keep, but under the lock: '
  'a caller''s own units must count before it takes more. p_pace and p_burst are those of plugins/core/access/rate.ts, p_pace 0 if there '
  'is no rate: a request that comes too fast is refused. The returned debt is the one after the take.';

CREATE FUNCTION quota_give_back(
  p_requests text[], p_subscriptions uuid[], p_days date[], p_units bigint[], p_zone text, p_offset double precision,
  p_most bigint[], p_exempt boolean[]
)
RETURNS TABLE (
  place bigint, outcome text,
  day_redis bigint, day_postgres bigint, day_refunded bigint, month_redis bigint, month_postgres bigint, month_refunded bigint
) LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
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
      INSERT INTO quota_refund (request_id, day, units) VALUES (given.request, given.day, given.units) ON CONFLICT DO NOTHING;
      IF NOT FOUND THEN outcome := 'repeated'; END IF;
    END IF;
    IF outcome = 'refunded' THEN
      -- Both conditions are checked under the row's lock, so concurrent refunds wait for one another.
      UPDATE usage
        SET refunded = refunded + given.units,
            refunded_requests = refunded_requests + CASE WHEN given.most IS NULL OR given.exempt THEN 0 ELSE given.units END,
            refunded_exempt = refunded_exempt + CASE WHEN given.exempt THEN given.units ELSE 0 END,
            refunded_unused = refunded_unused + CASE WHEN given.most IS NULL THEN given.units ELSE 0 END
        WHERE subscription_id = given.subscription AND day = given.day
          AND refunded + given.units <= spent_redis + spent_postgres
          AND (given.most IS NULL OR CASE WHEN given.exempt THEN refunded_exempt ELSE refunded_requests END + given.units <= given.most);
      IF NOT FOUND THEN
        -- The counts only grow: a refund that is capped now was capped then.
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
COMMENT ON FUNCTION quota_give_back IS 'Gives units back, once per request id. A null id is for units that were granted too late to be '
  'used: the caller makes sure that it asks once. p_exempt: the catalogue exempts the request. p_most: maximum given back for requests of '
  'that kind, subscription and day; null if no request used the units. Outcomes: refunded; repeated (this request was given back before); '
  'capped (p_most is reached); uncharged (no such units are known, or the day is too old).';

-- A response may report that its request cost more, or less, than was taken for it; see plugins/server/answers/settle-queue.ts.
CREATE FUNCTION quota_settle(p_ids text[], p_subscriptions uuid[], p_days date[], p_units bigint[], p_zone text, p_offset double precision)
RETURNS TABLE (
  place bigint, outcome text,
  day_redis bigint, day_postgres bigint, day_refunded bigint, month_redis bigint, month_postgres bigint, month_refunded bigint
) LANGUAGE plpgsql AS $$
DECLARE
  given record;
  oldest date := ((clock_timestamp() + make_interval(secs => p_offset)) AT TIME ZONE p_zone)::date - 1;
BEGIN
  FOR given IN
    SELECT * FROM unnest(p_ids, p_subscriptions, p_days, p_units) WITH ORDINALITY AS each (id, subscription, day, units, place)
    ORDER BY subscription, day, id
  LOOP
    place := given.place;
    outcome := 'uncharged';
    IF given.day >= oldest THEN
      INSERT INTO quota_refund (request_id, day, units) VALUES (given.id, given.day, given.units) ON CONFLICT DO NOTHING;
      IF NOT FOUND THEN
        outcome := 'repeated';
      ELSE
        UPDATE usage
          SET spent_postgres = spent_postgres + given.units
          WHERE subscription_id = given.subscription AND day = given.day;
        IF FOUND THEN
          outcome := 'settled';
        ELSE
          DELETE FROM quota_refund WHERE request_id = given.id;
        END IF;
      END IF;
    END IF;
    SELECT parts.* INTO day_redis, day_postgres, day_refunded, month_redis, month_postgres, month_refunded
      FROM quota_parts(given.subscription, given.day) AS parts;
    RETURN NEXT;
  END LOOP;
END $$;
COMMENT ON FUNCTION quota_settle IS 'Takes more units from a day, past its limits, once per id. Units are given back by a refund, with a '
  'cap. Outcomes: settled; repeated (this id was settled before); uncharged (no units are known to have been taken, or the day is too old).';

CREATE FUNCTION quota_forget_refunds() RETURNS void LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
  DELETE FROM quota_refund WHERE day < (now() AT TIME ZONE 'UTC')::date - 8;
  DELETE FROM rate_debt WHERE at_us < extract(epoch FROM now() - interval '2 days') * 1000000
$$;
COMMENT ON FUNCTION quota_forget_refunds IS 'Deletes refunds that are too old to prove anything. It takes no day as an argument, or its '
  'callers could have a request given back twice. Eight days of UTC are at least seven days in every time zone.';

-- Called by services and plugin servers that have no rights on these tables: cli/database-roles grants the calls.
REVOKE ALL ON FUNCTION quota_sync, quota_give_back, quota_forget_refunds FROM PUBLIC;
