-- Up Migration
-- Passkeys of accounts, as better-auth 1.7's plug-in keeps them; test/dashboard/auth-schema.stores.test.ts compares both.

CREATE TABLE auth_passkey (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  -- As the person calls it.
  name text,
  -- It opens nothing: the private key stays with the person's device.
  public_key text NOT NULL,
  user_id uuid NOT NULL REFERENCES auth_user ON DELETE CASCADE,
  -- One credential opens one account.
  credential_id text NOT NULL UNIQUE,
  -- Uses that the device counts, up to 2^32: as in migration 0003, the driver gives a bigint as text.
  counter double precision NOT NULL,
  device_type text NOT NULL,
  backed_up boolean NOT NULL,
  transports text,
  aaguid text,
  created_at timestamptz,
  -- Ours, not better-auth's.
  last_used_at timestamptz
);
CREATE INDEX auth_passkey_user_idx ON auth_passkey (user_id);
