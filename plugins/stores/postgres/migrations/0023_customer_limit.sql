-- Up Migration
-- What an operator grants one customer beyond what every customer may have (customers/customer-limits.ts). Null means the default, which
-- may change with a version of Tollgate; so customers without a row have none here.

CREATE TABLE customer_limit (
  customer_id uuid PRIMARY KEY REFERENCES customer ON DELETE CASCADE,
  -- Keys that are not revoked.
  keys integer CHECK (keys > 0),
  -- Whitelist rules of one key.
  rules_per_key integer CHECK (rules_per_key > 0),
  -- Whitelist rules of all keys that are not revoked.
  rules integer CHECK (rules > 0)
);
