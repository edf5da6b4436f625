-- A code of an authenticator opens an account once (RFC 6238, section 5.2).

ALTER TABLE auth_two_factor ADD COLUMN last_step bigint;
