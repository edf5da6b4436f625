-- Up Migration
-- The OpenAPI documents that products bring along, as they were when the catalogue was applied: the dashboard asks nobody else for them.

CREATE TABLE product_document (
  product_id text PRIMARY KEY REFERENCES product ON DELETE CASCADE,
  document jsonb NOT NULL
);
