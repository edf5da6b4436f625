-- Up Migration
-- The request log of customers: every decision on their keys, admissions too, by key, product, outcome and time.
-- Indexes are built in the migration's transaction: the decision log waits meanwhile and tries again by itself.

-- In the order of time, so that new lines are written beside one another. The other columns are there to be filtered by: lines that are
-- not wanted are left out without a look at the table. The time stands as an expression, so that no plan takes one of the indexes on the
-- time alone: it would read, and throw away, the lines of everybody.
CREATE INDEX decision_log_idx ON decision (customer_id, (at AT TIME ZONE 'UTC'), credential_id, (COALESCE(product, products[1])), outcome)
  WHERE customer_id IS NOT NULL;

-- Half as large, and its entries are not moved as random ids come in between: it pays for a part of the index above.
CREATE INDEX decision_request_idx ON decision USING hash (request_id);
DROP INDEX decision_request_id_idx;

-- Takes the place of quota in new lines, in a third of its bytes: see plugins/stores/postgres/decisions/standing-text.ts.
ALTER TABLE decision ADD COLUMN standing text;

-- Of the requests counted beside them, those that have no line in the log: a sample was written, or there was no room.
ALTER TABLE key_hour
  ADD COLUMN admitted_unlogged bigint NOT NULL DEFAULT 0,
  ADD COLUMN refused_unlogged bigint NOT NULL DEFAULT 0;
