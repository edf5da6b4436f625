-- Up Migration
-- What a gateway process tells of itself beyond being alive, and where a product stands in the file that was applied.

ALTER TABLE gateway_node
  -- Of Tollgate's access layer; null: a version that does not tell.
  ADD COLUMN version text,
  -- Since when `feed_healthy` is as it is.
  ADD COLUMN feed_since timestamptz,
  -- Whether this process counts in Redis; null: it has none, or is of a version that does not tell.
  ADD COLUMN redis_answers boolean,
  -- Since when `redis_answers` is as it is.
  ADD COLUMN redis_since timestamptz;

-- {"file": "kong/catalogue.yml", "lines": {"api-ip": 12}}; null: what was applied last came from no file.
ALTER TABLE catalogue_revision ADD COLUMN source jsonb;
