-- Up Migration
-- Alerts by mail, thresholds of a customer's own, and the daily cap that a customer sets for itself.

-- What a customer wants to be mailed. Without a row: everything.
CREATE TABLE alert_preference (
  customer_id uuid PRIMARY KEY REFERENCES customer ON DELETE CASCADE,
  quota_daily boolean NOT NULL DEFAULT true,
  quota_monthly boolean NOT NULL DEFAULT true,
  key_expiry boolean NOT NULL DEFAULT true
);

-- Percents of the limits at which a customer wants to be told of a subscription, in place of the usual ones. Without a row: the usual ones.
CREATE TABLE alert_threshold (
  subscription_id uuid PRIMARY KEY REFERENCES subscription ON DELETE CASCADE,
  percents integer[] NOT NULL CHECK (cardinality(percents) BETWEEN 1 AND 5 AND 1 <= ALL (percents) AND 100 >= ALL (percents))
);
ALTER TABLE alert DROP CONSTRAINT alert_percent_check;
ALTER TABLE alert ADD CONSTRAINT alert_percent_check CHECK (percent BETWEEN 1 AND 100) NOT VALID;

-- True while an alert waits to be mailed. Those from before are not.
ALTER TABLE alert ADD COLUMN is_mail_due boolean NOT NULL DEFAULT false;
CREATE INDEX alert_mail_due_idx ON alert (customer_id) WHERE is_mail_due;

-- When a customer was last mailed: one mail an hour at most. Claimed by the process that sends.
CREATE TABLE alert_mail (
  customer_id uuid PRIMARY KEY REFERENCES customer ON DELETE CASCADE,
  claimed_at timestamptz NOT NULL
);

-- Requests a day after which the customer wants no more, below the limit that it would have otherwise. Its own to set; no operator's.
ALTER TABLE subscription ADD COLUMN daily_cap integer CHECK (daily_cap >= 0);
