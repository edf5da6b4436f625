-- Traffic: decisions, counts by hour and day, and the gateway nodes that decide. No foreign keys, so that no row is ever refused.

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
  -- Reason of the suspension, as the customer was told at that time.
  suspended text,
  -- The subscription's quota at that time; see plugins/stores/postgres/decisions/standing-text.ts.
  standing text,
  -- The request.
  method text,
  path text,
  -- The response; see note_requests. Null if nobody reported it.
  status smallint,
  milliseconds integer,
  bytes bigint,
  units integer,
  -- False if the gateway itself responded, because the API did not.
  is_from_api boolean
  -- Leaves room on each page for a second version of a line, so that its indexes stay untouched.
) WITH (fillfactor = 80);
COMMENT ON TABLE decision IS 'Decisions of the access layer on requests, for explain and for the request log. Kept 7 days.';
-- Half as large as a B-tree, and its entries do not move when random ids are inserted between them.
CREATE INDEX decision_request_idx ON decision USING hash (request_id);
CREATE INDEX decision_at_idx ON decision (at);
-- Requests without a known key, which are kept in a share of their own.
CREATE INDEX decision_anonymous_idx ON decision (at) WHERE customer_id IS NULL;
-- Refused requests of everybody, and of one customer, newest first. A flood of requests without a known key costs the second nothing.
CREATE INDEX decision_refused_idx ON decision (at, request_id) WHERE outcome <> 'admitted';
CREATE INDEX decision_refusal_idx ON decision (customer_id, at, request_id) WHERE outcome <> 'admitted' AND customer_id IS NOT NULL;
-- The request log of a customer, in order of time. The other columns serve as filters: unwanted lines are skipped without reading the
-- table. The time is an expression, so that no plan uses an index on the time alone, which would read everybody's lines.
CREATE INDEX decision_log_idx ON decision (customer_id, (at AT TIME ZONE 'UTC'), credential_id, (COALESCE(product, products[1])), outcome)
  WHERE customer_id IS NOT NULL;

CREATE FUNCTION note_requests(p_rows json) RETURNS void LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
  UPDATE decision SET status = answered.status, milliseconds = answered.milliseconds, bytes = answered.bytes, units = answered.units,
    is_from_api = answered."isFromApi"
  FROM json_to_recordset(p_rows)
    AS answered ("requestId" text, status smallint, milliseconds integer, bytes bigint, units integer, "isFromApi" boolean)
  WHERE decision.request_id = answered."requestId" AND decision.outcome = 'admitted' AND decision.status IS NULL
$$;
COMMENT ON FUNCTION note_requests IS 'Adds the responses to lines of the log. A plugin server calls it; the first report counts.';
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
  -- In the quota time zone. The hour is counted from the beginning of the day. A day has 22 to 26 hours where clocks change.
  day date NOT NULL,
  hour smallint NOT NULL CHECK (hour BETWEEN 0 AND 25),
  product_id text NOT NULL,
  admitted bigint NOT NULL DEFAULT 0,
  -- Refused with a status of 400 to 499, and of 500 to 599.
  refused bigint NOT NULL DEFAULT 0,
  unavailable bigint NOT NULL DEFAULT 0,
  -- Of these, requests without a line in decision: only a sample was written, or there was no room.
  admitted_unlogged bigint NOT NULL DEFAULT 0,
  refused_unlogged bigint NOT NULL DEFAULT 0,
  -- Responses of the product with a status below 400, of 400 to 499, and of 500 to 599; and requests whose client left before the response
  -- was sent. Null if no service reported, as with an upstream that is not ours.
  succeeded bigint,
  rejected bigint,
  failed bigint,
  abandoned bigint,
  -- Durations of the first three: the number within each bound of plugins/core/catalogue/answer-times.ts, and above the last. Bounds are
  -- only ever added at the end.
  took integer[],
  PRIMARY KEY (credential_id, day, hour, product_id)
) WITH (fillfactor = 80);
COMMENT ON TABLE key_hour IS 'Requests by key, product and hour: the decisions on them, and the products'' responses. Kept 92 days.';
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
COMMENT ON TABLE customer_day IS 'Admitted requests of key_hour by customer, product and day: three months of a customer with 10,000 keys '
  'are a quarter of a million hours there. Kept 92 days.';
CREATE INDEX customer_day_day_idx ON customer_day (day);

CREATE FUNCTION add_counts(one bigint[], other bigint[]) RETURNS bigint[] LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN one IS NULL THEN other WHEN other IS NULL THEN one ELSE ARRAY(
    SELECT COALESCE(before, 0) + COALESCE(more, 0) FROM unnest(one, other) WITH ORDINALITY AS each (before, more, place) ORDER BY place
  ) END
$$;
COMMENT ON FUNCTION add_counts IS 'Adds two lists of counts place by place. A shorter list, or null, adds nothing at the places that it '
  'lacks.';
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
COMMENT ON FUNCTION note_answers IS 'Adds the products'' responses to key_hour and customer_day. Nodes also write hours before days, and '
  'both sort their rows, so that all lock in one order.';
REVOKE ALL ON FUNCTION note_answers(json) FROM PUBLIC;

CREATE TABLE product_day (
  -- In the quota time zone.
  day date NOT NULL,
  product_id text NOT NULL,
  -- Empty: base limits.
  plan_name text NOT NULL,
  charged bigint NOT NULL,
  refunded bigint NOT NULL,
  -- Customers who used it on that day.
  customers integer NOT NULL,
  -- Active subscriptions at the end of the day. Null for days that were added up later.
  subscriptions integer,
  PRIMARY KEY (day, product_id, plan_name)
);
COMMENT ON TABLE product_day IS 'Live use by product and plan, added up a day at a time: otherwise the operators'' page of products would '
  'read millions of rows.';

CREATE TABLE gateway_node (
  id uuid PRIMARY KEY,
  name text NOT NULL,
  -- Version of Tollgate's access layer. Null: not reported.
  version text,
  started_at timestamptz NOT NULL DEFAULT now(),
  seen_at timestamptz NOT NULL DEFAULT now(),
  -- False: the node has lost its feed of changes and reads the database on every request.
  feed_healthy boolean NOT NULL,
  -- Time of the last change of feed_healthy. Null: not reported.
  feed_since timestamptz,
  -- True if this process counts in Redis. Null: it has no Redis.
  redis_answers boolean,
  -- Time of the last change of redis_answers.
  redis_since timestamptz,
  -- The node acts on every change committed before this time. Null until its feed was first connected. Accurate to the time that a
  -- statement may take to arrive.
  current_until timestamptz,
  -- Time of an orderly end. Null: the process runs, or was killed.
  stopped_at timestamptz
);
COMMENT ON TABLE gateway_node IS 'One row for each plugin server process, which it writes every 2 s. Deleted a day after its last sign of '
  'life.';

CREATE TABLE change_confirmation (
  credential_id uuid NOT NULL,
  node_id uuid NOT NULL,
  -- Time of the transaction that changed the key, the same as in the notification and the audit log.
  changed_at timestamptz NOT NULL,
  confirmed_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (credential_id, node_id)
);
COMMENT ON TABLE change_confirmation IS 'The nodes that have dropped their knowledge of a key, and after which change.';
