-- Up Migration
-- Forgetting old refunds as a function: services give units back without a right to any table (cli/database-roles).

-- Refunds for days before yesterday are refused, so that older records prove nothing any more. No day is an argument: whoever may call
-- this must not be able to have a request refunded twice. Four days of UTC are three days or more in every time zone.
CREATE FUNCTION quota_forget_refunds() RETURNS void LANGUAGE sql AS $$
  DELETE FROM quota_refund WHERE day < (now() AT TIME ZONE 'UTC')::date - 4
$$;
