-- Up Migration
-- Requests of test keys count by themselves. Their rows of usage stand under an id that follows from the subscription's: its version with
-- the highest bit set, which no UUID of ours has (plugins/core/access/quota-counter-id.ts). What was counted before stays where it is.
CREATE FUNCTION test_counter(p_subscription uuid) RETURNS uuid
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT encode(set_bit(uuid_send(p_subscription), 55, 1), 'hex')::uuid
$$;
