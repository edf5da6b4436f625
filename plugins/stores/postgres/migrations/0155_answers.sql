-- Up Migration
-- What product services answered, beside what the access layer decided in the same hour. Null where no service told: an upstream that is not
-- ours, and hours before this migration.

ALTER TABLE key_hour
  -- Answered with a status below 400, of 400 to 499, and of 500 to 599; and those whose client left before the answer was sent.
  ADD COLUMN succeeded bigint,
  ADD COLUMN rejected bigint,
  ADD COLUMN failed bigint,
  ADD COLUMN abandoned bigint,
  -- Of the first three: how many took up to each bound of plugins/core/selling/answer-times.ts, and longer than the last. Bounds are only ever added
  -- at the end.
  ADD COLUMN took integer[];

-- Sorted, so that nodes and services lock the rows in the same order. Called every few seconds with many rows.
CREATE FUNCTION note_answers(p_rows json) RETURNS void LANGUAGE sql AS $$
  INSERT INTO key_hour AS old (credential_id, day, hour, product_id, succeeded, rejected, failed, abandoned, took)
  SELECT "credentialId", day, hour, product, succeeded, rejected, failed, abandoned, took
  FROM json_to_recordset(p_rows) AS row("credentialId" uuid, day date, hour smallint, product text, succeeded bigint, rejected bigint,
    failed bigint, abandoned bigint, took integer[])
  ORDER BY 1, 2, 3, 4
  ON CONFLICT (credential_id, day, hour, product_id) DO UPDATE SET
    succeeded = COALESCE(old.succeeded, 0) + excluded.succeeded, rejected = COALESCE(old.rejected, 0) + excluded.rejected,
    failed = COALESCE(old.failed, 0) + excluded.failed, abandoned = COALESCE(old.abandoned, 0) + excluded.abandoned,
    took = ARRAY(
      SELECT COALESCE(before, 0) + COALESCE(more, 0)
      FROM unnest(old.took, excluded.took) WITH ORDINALITY AS each (before, more, place) ORDER BY place
    )
$$;
REVOKE ALL ON FUNCTION note_answers(json) FROM PUBLIC;
