-- Up Migration
-- One request may cost several units, of which it can use all or none.

-- Beside the function of nine parameters, which processes of the version before still call.
-- As that one; where fewer units than p_least are left, none is taken.
CREATE FUNCTION quota_take(
  p_subscriptions uuid[], p_units bigint[], p_daily bigint[], p_monthly bigint[], p_zone text, p_offset double precision,
  p_seen_days date[], p_seen_redis bigint[], p_seen_postgres bigint[], p_least bigint[]
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
    SELECT * FROM unnest(p_subscriptions, p_units, p_daily, p_monthly, p_seen_days, p_seen_redis, p_seen_postgres, p_least)
      WITH ORDINALITY AS each (subscription, units, daily, monthly, seen_day, seen_redis, seen_postgres, least_units, place)
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
    IF granted < wanted.least_units THEN
      granted := 0;
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
