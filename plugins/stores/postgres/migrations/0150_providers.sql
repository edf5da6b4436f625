-- Up Migration
-- What a provider calls a person opens one account. Two tabs that begin one at the same time must not make two of it.
CREATE UNIQUE INDEX auth_account_provider_idx ON auth_account (provider_id, account_id) WHERE provider_id <> 'credential';
