-- Up Migration
-- Changes of keys tell which key it is by the first 8 bytes of its hash, so that every node knows of each key without a query
-- (docs/decisions/0040-known-key-hashes.md). Of a random key of 160 bits or more they give nothing away. As in migrations 0004 and 0005
-- otherwise; programs that do not know the member ignore it.

CREATE FUNCTION told_hash(p_hash bytea) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT encode(substring(p_hash FROM 1 FOR 8), 'hex')
$$;

CREATE OR REPLACE FUNCTION tell_credential_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify(
    'tollgate_changes',
    json_build_object('credential', COALESCE(NEW.id, OLD.id), 'at', now(), 'hash', told_hash(COALESCE(NEW.hash, OLD.hash)))::text
  );
  RETURN NULL;
END $$;

-- The hash is null where the key is gone already. It is told here too, so that a message without one comes from a program that tells none.
CREATE OR REPLACE FUNCTION tell_credential_part_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify(
    'tollgate_changes',
    json_build_object('credential', credentials.credential_id, 'at', now(), 'hash', told_hash(credential.hash))::text
  )
  FROM (SELECT DISTINCT credential_id FROM changed) AS credentials LEFT JOIN credential ON credential.id = credentials.credential_id;
  RETURN NULL;
END $$;
