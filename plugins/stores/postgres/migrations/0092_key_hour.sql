-- Up Migration
-- Requests by key, product and hour: what the access layer decided on them. Kept 92 days. No foreign keys: a row must never be refused.

CREATE TABLE key_hour (
  credential_id uuid NOT NULL,
  -- In the quota time zone; the hour is counted from the beginning of the day, which has 23 or 25 of them where clocks change.
  day date NOT NULL,
  hour smallint NOT NULL CHECK (hour BETWEEN 0 AND 24),
  product_id text NOT NULL,
  admitted bigint NOT NULL DEFAULT 0,
  -- Refused with a status of 400 to 499, and with one of 500 to 599.
  refused bigint NOT NULL DEFAULT 0,
  unavailable bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (credential_id, day, hour, product_id)
) WITH (fillfactor = 80);
CREATE INDEX key_hour_day_idx ON key_hour (day);
