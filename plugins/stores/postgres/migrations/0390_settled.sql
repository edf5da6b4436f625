-- An answer may say that its request cost more, or less, than was taken for it; see plugins/server/answers/settle-queue.ts.

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
      INSERT INTO quota_refund (request_id, day) VALUES (given.id, given.day) ON CONFLICT DO NOTHING;
      IF NOT FOUND THEN
        outcome := 'repeated';
      ELSE
        UPDATE usage
          SET spent_postgres = spent_postgres + GREATEST(0, given.units), refunded = refunded + GREATEST(0, -given.units)
          WHERE subscription_id = given.subscription AND day = given.day
            AND refunded + GREATEST(0, -given.units) <= spent_redis + spent_postgres;
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
COMMENT ON FUNCTION quota_settle IS 'Takes more units from a day, past its limits, or gives some back (below zero), once an id. Outcomes: settled; repeated '
  '(this id was settled before); uncharged (nothing, or less, is known to have been taken, or the day is too old).';

ALTER TABLE decision ADD COLUMN units integer;
CREATE OR REPLACE FUNCTION note_requests(p_rows json) RETURNS void LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
  UPDATE decision SET status = answered.status, milliseconds = answered.milliseconds, bytes = answered.bytes, units = answered.units
  FROM json_to_recordset(p_rows) AS answered ("requestId" text, status smallint, milliseconds integer, bytes bigint, units integer)
  WHERE decision.request_id = answered."requestId" AND decision.outcome = 'admitted' AND decision.status IS NULL
$$;
