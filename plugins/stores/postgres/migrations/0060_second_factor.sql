-- Up Migration
-- The second factor of accounts, as better-auth 1.7's plug-in keeps it; test/dashboard/auth-schema.stores.test.ts compares both.

ALTER TABLE auth_user ADD COLUMN two_factor_enabled boolean DEFAULT false;

CREATE TABLE auth_two_factor (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  -- Both encrypted with the dashboard's secret: a copy of the database makes no code.
  secret text NOT NULL,
  backup_codes text NOT NULL,
  -- One a person: of two a thief could keep the other.
  user_id uuid NOT NULL UNIQUE REFERENCES auth_user ON DELETE CASCADE,
  -- False until the first code from it was given.
  verified boolean DEFAULT true,
  failed_verification_count integer DEFAULT 0,
  locked_until timestamptz
);
