-- What happens to requests: decisions, counts by hour and day, and the gateway nodes that decide. No foreign keys: no row is ever refused.

CREATE TABLE decision (
  request_id text NOT NULL,
  at timestamptz NOT NULL,
  outcome text NOT NULL,
  products text[] NOT NULL,
  key_place text,
  masked_key text,
  credential_id uuid,
  customer_id uuid,
  subscription_id uuid,
  product text,
  caller_address text,
  origin_host text,
  matched_rule text,
  -- Why the provider had suspended it, as the customer was told then.
  suspended text,
  -- Where the subscription stood; see plugins/stores/postgres/decisions/standing-text.ts.
  standing text,
  -- Of the request.
  method text,
  path text,
  -- Of the answer; see note_requests. Null where nobody told.
  status smallint,
  milliseconds integer,
  bytes bigint,
  units integer,
  -- False where the gateway responded itself, because the API did not.
  is_from_api boolean
  -- Room on each page for a second version of a line, so that its indexes stay untouched.
) WITH (fillfactor = 80);
COMMENT ON TABLE decision IS 'What the access layer decided on each request, for explain and for the request log. Kept 7 days.';
-- Half as large as a B-tree, and its entries are not moved as random ids come in between.
CREATE INDEX decision_request_idx ON decision USING hash (request_id);
CREATE INDEX decision_at_idx ON decision (at);
-- Requests without a known key, which are kept in a share of their own.
CREATE INDEX decision_anonymous_idx ON decision (at) WHERE customer_id IS NULL;
-- Refused requests of everybody, and of one customer, newest first. A flood of requests without a known key costs the second nothing.
CREATE INDEX decision_refused_idx ON decision (at, request_id) WHERE outcome <> 'admitted';
CREATE INDEX decision_refusal_idx ON decision (customer_id, at, request_id) WHERE outcome <> 'admitted' AND customer_id IS NOT NULL;
-- The request log of a customer, in the order of time. The other columns are there to filter by: unwanted lines are left out without a look
-- at the table. The time is an expression, so that no plan takes an index on the time alone, which would read the lines of everybody.
CREATE INDEX decision_log_idx ON decision (customer_id, (at AT TIME ZONE 'UTC'), credential_id, (COALESCE(product, products[1])), outcome)
  WHERE customer_id IS NOT NULL;

CREATE FUNCTION note_requests(p_rows json) RETURNS void LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
  UPDATE decision SET status = answered.status, milliseconds = answered.milliseconds, bytes = answered.bytes, units = answered.units,
    is_from_api = answered."isFromApi"
  FROM json_to_recordset(p_rows)
    AS answered ("requestId" text, status smallint, milliseconds integer, bytes bigint, units integer, "isFromApi" boolean)
  WHERE decision.request_id = answered."requestId" AND decision.outcome = 'admitted' AND decision.status IS NULL
$$;
COMMENT ON FUNCTION note_requests IS 'Adds to lines of the log what their requests were answered. A plugin server calls it; the first to tell counts.';
REVOKE ALL ON FUNCTION note_requests(json) FROM PUBLIC;

CREATE TABLE denial_count (
  -- Null for requests whose key is missing or unknown.
  credential_id uuid,
  product_id text NOT NULL,
  -- In the quota time zone.
  day date NOT NULL,
  code text NOT NULL,
  count bigint NOT NULL CHECK (count > 0),
  UNIQUE NULLS NOT DISTINCT (credential_id, product_id, day, code)
);
COMMENT ON TABLE denial_count IS 'How often each key was refused, by product, day and code.';

CREATE TABLE key_hour (
  credential_id uuid NOT NULL,
  -- In the quota time zone. The hour is counted from the beginning of the day, which has 22 to 26 of them where clocks change.
  day date NOT NULL,
  hour smallint NOT NULL CHECK (hour BETWEEN 0 AND 25),
  product_id text NOT NULL,
  admitted bigint NOT NULL DEFAULT 0,
  -- Refused with a status of 400 to 499, and with one of 500 to 599.
  refused bigint NOT NULL DEFAULT 0,
  unavailable bigint NOT NULL DEFAULT 0,
  -- Those of the above that have no line in decision: a sample was written, or there was no room.
  admitted_unlogged bigint NOT NULL DEFAULT 0,
  refused_unlogged bigint NOT NULL DEFAULT 0,
  -- Answered by the product with a status below 400, of 400 to 499, and of 500 to 599; and those whose client left before the answer was
  -- sent. Null where no service told, as with an upstream that is not ours.
  succeeded bigint,
  rejected bigint,
  failed bigint,
  abandoned bigint,
  -- Of the first three: how many took up to each bound of plugins/core/catalogue/answer-times.ts, and longer than the last. Bounds are only
  -- ever added at the end.
  took integer[],
  PRIMARY KEY (credential_id, day, hour, product_id)
) WITH (fillfactor = 80);
COMMENT ON TABLE key_hour IS 'Requests by key, product and hour: what was decided on them, and what products answered. Kept 92 days.';
CREATE INDEX key_hour_day_idx ON key_hour (day);

CREATE TABLE customer_day (
  customer_id uuid NOT NULL,
  -- In the quota time zone.
  day date NOT NULL,
  product_id text NOT NULL,
  admitted bigint NOT NULL DEFAULT 0,
  -- As in key_hour.
  succeeded bigint,
  rejected bigint,
  failed bigint,
  abandoned bigint,
  took bigint[],
  PRIMARY KEY (customer_id, day, product_id)
) WITH (fillfactor = 80);
COMMENT ON TABLE customer_day IS 'What key_hour holds of admitted requests, by customer, product and day: three months of a customer with 10,000 keys '
  'are a quarter of a million hours there. Kept 92 days.';
CREATE INDEX customer_day_day_idx ON customer_day (day);

CREATE FUNCTION add_counts(one bigint[], other bigint[]) RETURNS bigint[] LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN one IS NULL THEN other WHEN other IS NULL THEN one ELSE ARRAY(
    SELECT COALESCE(before, 0) + COALESCE(more, 0) FROM unnest(one, other) WITH ORDINALITY AS each (before, more, place) ORDER BY place
  ) END
$$;
COMMENT ON FUNCTION add_counts IS 'Adds counts place by place. A shorter list, or null, adds nothing at the places that it lacks.';
CREATE AGGREGATE sum_counts(bigint[]) (SFUNC = add_counts, STYPE = bigint[]);
COMMENT ON AGGREGATE sum_counts(bigint[]) IS 'The sum of lists of counts, place by place.';

CREATE FUNCTION note_answers(p_rows json) RETURNS void LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
  INSERT INTO key_hour AS old (credential_id, day, hour, product_id, succeeded, rejected, failed, abandoned, took)
  SELECT "credentialId", day, hour, product, succeeded, rejected, failed, abandoned, took
  FROM json_to_recordset(p_rows) AS row("credentialId" uuid, day date, hour smallint, product text, succeeded bigint, rejected bigint,
    failed bigint, abandoned bigint, took integer[])
  ORDER BY 1, 2, 3, 4
  ON CONFLICT (credential_id, day, hour, product_id) DO UPDATE SET
    succeeded = COALESCE(old.succeeded, 0) + excluded.succeeded, rejected = COALESCE(old.rejected, 0) + excluded.rejected,
    failed = COALESCE(old.failed, 0) + excluded.failed, abandoned = COALESCE(old.abandoned, 0) + excluded.abandoned,
    took = add_counts(old.took::bigint[], excluded.took::bigint[])::integer[];
  INSERT INTO customer_day AS old (customer_id, day, product_id, succeeded, rejected, failed, abandoned, took)
  SELECT customer_id, day, product, sum(succeeded), sum(rejected), sum(failed), sum(abandoned), sum_counts(took::bigint[])
  FROM json_to_recordset(p_rows) AS row("credentialId" uuid, day date, product text, succeeded bigint, rejected bigint, failed bigint,
    abandoned bigint, took integer[]) JOIN credential ON credential.id = "credentialId"
  GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
  ON CONFLICT (customer_id, day, product_id) DO UPDATE SET
    succeeded = COALESCE(old.succeeded, 0) + excluded.succeeded, rejected = COALESCE(old.rejected, 0) + excluded.rejected,
    failed = COALESCE(old.failed, 0) + excluded.failed, abandoned = COALESCE(old.abandoned, 0) + excluded.abandoned,
    took = add_counts(old.took, excluded.took);
$$;
COMMENT ON FUNCTION note_answers IS 'Adds what products answered to key_hour and customer_day. Nodes write hours before days too, and both sort '
  'their rows, so that all lock in one order.';
REVOKE ALL ON FUNCTION note_answers(json) FROM PUBLIC;

CREATE TABLE product_day (
  -- In the quota time zone.
  day date NOT NULL,
  product_id text NOT NULL,
  -- Empty: base limits.
  plan_name text NOT NULL,
  charged bigint NOT NULL,
  refunded bigint NOT NULL,
  -- Customers who used it that day.
  customers integer NOT NULL,
  -- Active at the end of the day. Null for days that were added up later.
  subscriptions integer,
  PRIMARY KEY (day, product_id, plan_name)
);
COMMENT ON TABLE product_day IS 'Live use by product and plan, added up a day at a time: the operators'' page of products would otherwise read '
  'millions of rows.';

CREATE TABLE gateway_node (
  id uuid PRIMARY KEY,
  name text NOT NULL,
  -- Of Tollgate's access layer. Null: not told.
  version text,
  started_at timestamptz NOT NULL DEFAULT now(),
  seen_at timestamptz NOT NULL DEFAULT now(),
  -- False: the node has lost its feed of changes and reads the database on every request.
  feed_healthy boolean NOT NULL,
  -- Since when feed_healthy is as it is. Null: not told.
  feed_since timestamptz,
  -- Whether this process counts in Redis. Null: it has none.
  redis_answers boolean,
  -- Since when redis_answers is as it is.
  redis_since timestamptz,
  -- The node acts on every change that was committed before this moment. Null until its feed was first connected. Accurate to the time
  -- that a statement may take on its way.
  current_until timestamptz,
  -- When it ended in order. Null: it runs, or was killed.
  stopped_at timestamptz
);
COMMENT ON TABLE gateway_node IS 'One row for each plugin server process, written by itself every 2 s. Deleted a day after its last sign of life.';

CREATE TABLE change_confirmation (
  credential_id uuid NOT NULL,
  node_id uuid NOT NULL,
  -- The time of the transaction that changed the key, as the notification and the audit log have it.
  changed_at timestamptz NOT NULL,
  confirmed_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (credential_id, node_id)
);
COMMENT ON TABLE change_confirmation IS 'Which node has dropped what it knew of a key, after which change.';
