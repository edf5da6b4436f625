-- Organisations whose only owner asked for deletion.
CREATE TABLE account_deletion (
  customer_id uuid NOT NULL,
  user_id uuid,
  asked_at timestamp with time zone NOT NULL DEFAULT now(),
  keys uuid[] NOT NULL,
  subscriptions uuid[] NOT NULL,
  erased_at timestamp with time zone,
  CONSTRAINT account_deletion_pkey PRIMARY KEY (customer_id),
  CONSTRAINT account_deletion_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES customer(id) ON DELETE CASCADE,
  CONSTRAINT account_deletion_user_id_fkey FOREIGN KEY (user_id) REFERENCES auth_user(id) ON DELETE SET NULL
);
CREATE INDEX account_deletion_waiting_idx ON account_deletion USING btree (asked_at) WHERE erased_at IS NULL;
CREATE TRIGGER account_deletion_delete_listed AFTER DELETE ON account_deletion REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION note_changed_customers('customer_id');
CREATE TRIGGER account_deletion_erases_billing_details AFTER UPDATE OF erased_at ON account_deletion FOR EACH ROW WHEN (new.erased_at IS NOT NULL) EXECUTE FUNCTION erase_billing_details();
CREATE TRIGGER account_deletion_insert_listed AFTER INSERT ON account_deletion REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION note_changed_customers('customer_id');

-- Tokens of the management API. A row stays when its token is revoked or has expired, because pages and the audit log name it.
CREATE TABLE admin_token (
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  customer_id uuid NOT NULL,
  hash bytea NOT NULL,
  last_four text NOT NULL,
  name text NOT NULL,
  scopes text[] NOT NULL,
  made_by uuid,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  expires_at timestamp with time zone NOT NULL,
  last_used_at timestamp with time zone,
  revoked_at timestamp with time zone,
  CONSTRAINT admin_token_pkey PRIMARY KEY (id),
  CONSTRAINT admin_token_hash_key UNIQUE (hash),
  CONSTRAINT admin_token_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES customer(id) ON DELETE CASCADE,
  CONSTRAINT admin_token_made_by_fkey FOREIGN KEY (made_by) REFERENCES auth_user(id) ON DELETE SET NULL,
  CONSTRAINT admin_token_check CHECK (expires_at > created_at AND expires_at <= (created_at + '400 days'::interval)),
  CONSTRAINT admin_token_hash_check CHECK (octet_length(hash) = 32),
  CONSTRAINT admin_token_last_four_check CHECK (length(last_four) = 4),
  CONSTRAINT admin_token_name_check CHECK (length(name) >= 1 AND length(name) <= 100),
  CONSTRAINT admin_token_scopes_check CHECK (cardinality(scopes) > 0)
);
CREATE INDEX admin_token_customer_idx ON admin_token USING btree (customer_id, created_at DESC, id);
CREATE INDEX admin_token_maker_idx ON admin_token USING btree (made_by);

-- Alerts for customers: a share of a limit is reached, or a key is about to expire.
CREATE TABLE alert (
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  number bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  customer_id uuid NOT NULL,
  at timestamp with time zone NOT NULL DEFAULT now(),
  kind text NOT NULL,
  subscription_id uuid,
  credential_id uuid,
  period timestamp without time zone NOT NULL,
  percent integer,
  used bigint,
  quota_limit bigint,
  read_at timestamp with time zone,
  is_mail_due boolean NOT NULL DEFAULT false,
  is_included boolean NOT NULL DEFAULT false,
  CONSTRAINT alert_pkey PRIMARY KEY (id),
  CONSTRAINT alert_once_a_window UNIQUE (subscription_id, kind, period, percent, is_included, quota_limit),
  CONSTRAINT alert_once_an_expiry UNIQUE (credential_id, period),
  CONSTRAINT alert_credential_id_fkey FOREIGN KEY (credential_id) REFERENCES credential(id) ON DELETE CASCADE,
  CONSTRAINT alert_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES customer(id) ON DELETE CASCADE,
  CONSTRAINT alert_subscription_id_fkey FOREIGN KEY (subscription_id) REFERENCES subscription(id) ON DELETE CASCADE,
  CONSTRAINT alert_check CHECK ((kind = 'key_expiry'::text) = (credential_id IS NOT NULL)),
  CONSTRAINT alert_check1 CHECK ((kind = 'key_expiry'::text) = (subscription_id IS NULL)),
  CONSTRAINT alert_check2 CHECK ((kind = 'key_expiry'::text) = (percent IS NULL)),
  CONSTRAINT alert_kind_check CHECK (kind = ANY (ARRAY['quota_daily'::text, 'quota_monthly'::text, 'key_expiry'::text])),
  CONSTRAINT alert_percent_check CHECK (percent >= 1 AND percent <= 100)
);
CREATE INDEX alert_customer_idx ON alert USING btree (customer_id, number);
CREATE INDEX alert_mail_due_idx ON alert USING btree (customer_id) WHERE is_mail_due;
CREATE INDEX alert_unread_idx ON alert USING btree (customer_id) WHERE read_at IS NULL;
CREATE TRIGGER alert_insert_told AFTER INSERT ON alert REFERENCING NEW TABLE AS made FOR EACH STATEMENT EXECUTE FUNCTION seller_hears_of_alerts();

-- Alerts that a customer receives by mail. Without a row: all of them.
CREATE TABLE alert_preference (
  customer_id uuid NOT NULL,
  quota_daily boolean NOT NULL DEFAULT true,
  quota_monthly boolean NOT NULL DEFAULT true,
  key_expiry boolean NOT NULL DEFAULT true,
  CONSTRAINT alert_preference_pkey PRIMARY KEY (customer_id),
  CONSTRAINT alert_preference_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES customer(id) ON DELETE CASCADE
);

-- Percents of a subscription's limits at which the customer is alerted, in place of the default ones.
CREATE TABLE alert_threshold (
  subscription_id uuid NOT NULL,
  percents integer[] NOT NULL,
  CONSTRAINT alert_threshold_pkey PRIMARY KEY (subscription_id),
  CONSTRAINT alert_threshold_subscription_id_fkey FOREIGN KEY (subscription_id) REFERENCES subscription(id) ON DELETE CASCADE,
  CONSTRAINT alert_threshold_percents_check CHECK (cardinality(percents) >= 1 AND cardinality(percents) <= 5 AND (1 <= ALL (percents)) AND (100 >= ALL (percents)))
);

-- Changes and who made them. Lines are only added, and never hold a key. Old lines may be deleted (docs/operate/backup.md).
CREATE TABLE audit_log (
  id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  at timestamp with time zone NOT NULL DEFAULT now(),
  actor text NOT NULL,
  action text NOT NULL,
  subject_kind text NOT NULL,
  subject_id text NOT NULL,
  details jsonb NOT NULL DEFAULT '{}'::jsonb,
  from_address text,
  customer_id uuid,
  label text,
  CONSTRAINT audit_log_pkey PRIMARY KEY (id),
  CONSTRAINT audit_log_action_check CHECK (action <> ''::text),
  CONSTRAINT audit_log_actor_check CHECK (actor <> ''::text),
  CONSTRAINT audit_log_subject_kind_check CHECK (subject_kind ~ '^[a-z][a-z_]*$'::text)
);
CREATE INDEX audit_log_action_idx ON audit_log USING btree (action, id);
CREATE INDEX audit_log_actor_idx ON audit_log USING btree (actor, id);
CREATE INDEX audit_log_customer_idx ON audit_log USING btree (customer_id, id) WHERE customer_id IS NOT NULL;
CREATE INDEX audit_log_kind_idx ON audit_log USING btree (customer_id, split_part(action, '.'::text, 1), id);
CREATE INDEX audit_log_subject_idx ON audit_log USING btree (subject_id, id);
CREATE TRIGGER audit_log_is_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON audit_log FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change();
CREATE TRIGGER audit_log_keeps_what_was_done BEFORE UPDATE ON audit_log FOR EACH ROW WHEN (old.id IS DISTINCT FROM new.id OR old.at IS DISTINCT FROM new.at OR old.action IS DISTINCT FROM new.action OR old.subject_kind IS DISTINCT FROM new.subject_kind OR old.subject_id IS DISTINCT FROM new.subject_id OR old.customer_id IS DISTINCT FROM new.customer_id) EXECUTE FUNCTION refuse_audit_change();
CREATE TRIGGER audit_log_keeps_young_lines BEFORE DELETE ON audit_log FOR EACH ROW WHEN (old.at > (now() - '90 days'::interval)) EXECUTE FUNCTION refuse_audit_change();
CREATE TRIGGER audit_log_knows_customer BEFORE INSERT ON audit_log FOR EACH ROW WHEN (new.customer_id IS NULL) EXECUTE FUNCTION fill_audit_customer();
CREATE TRIGGER audit_log_knows_label BEFORE INSERT ON audit_log FOR EACH ROW WHEN (new.label IS NULL AND new.subject_kind <> 'customer'::text) EXECUTE FUNCTION fill_audit_label();

-- A way in which a person signs in: a password, as an argon2id hash, or a provider.
CREATE TABLE auth_account (
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  account_id text NOT NULL,
  provider_id text NOT NULL,
  user_id uuid NOT NULL,
  access_token text,
  refresh_token text,
  id_token text,
  access_token_expires_at timestamp with time zone,
  refresh_token_expires_at timestamp with time zone,
  scope text,
  password text,
  created_at timestamp with time zone NOT NULL,
  updated_at timestamp with time zone NOT NULL,
  CONSTRAINT auth_account_pkey PRIMARY KEY (id),
  CONSTRAINT auth_account_user_id_fkey FOREIGN KEY (user_id) REFERENCES auth_user(id) ON DELETE CASCADE,
  CONSTRAINT auth_account_password_check CHECK (password ~~ '$argon2id$%'::text)
);
CREATE UNIQUE INDEX auth_account_provider_idx ON auth_account USING btree (provider_id, account_id) WHERE provider_id <> 'credential'::text;
CREATE INDEX auth_account_user_idx ON auth_account USING btree (user_id);

-- A passkey of an account.
CREATE TABLE auth_passkey (
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  name text,
  public_key text NOT NULL,
  user_id uuid NOT NULL,
  credential_id text NOT NULL,
  counter double precision NOT NULL,
  device_type text NOT NULL,
  backed_up boolean NOT NULL,
  transports text,
  aaguid text,
  created_at timestamp with time zone,
  last_used_at timestamp with time zone,
  CONSTRAINT auth_passkey_pkey PRIMARY KEY (id),
  CONSTRAINT auth_passkey_credential_id_key UNIQUE (credential_id),
  CONSTRAINT auth_passkey_user_id_fkey FOREIGN KEY (user_id) REFERENCES auth_user(id) ON DELETE CASCADE
);
CREATE INDEX auth_passkey_user_idx ON auth_passkey USING btree (user_id);

-- Attempts to sign in, by address and path and by account.
CREATE TABLE auth_rate_limit (
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  key text NOT NULL,
  count integer NOT NULL,
  last_request double precision NOT NULL,
  CONSTRAINT auth_rate_limit_pkey PRIMARY KEY (id),
  CONSTRAINT auth_rate_limit_key_key UNIQUE (key)
);
CREATE INDEX auth_rate_limit_last_request_idx ON auth_rate_limit USING btree (last_request);

-- A browser session of a person who is signed in.
CREATE TABLE auth_session (
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  expires_at timestamp with time zone NOT NULL,
  token text NOT NULL,
  created_at timestamp with time zone NOT NULL,
  updated_at timestamp with time zone NOT NULL,
  ip_address text,
  user_agent text,
  user_id uuid NOT NULL,
  CONSTRAINT auth_session_pkey PRIMARY KEY (id),
  CONSTRAINT auth_session_token_key UNIQUE (token),
  CONSTRAINT auth_session_user_id_fkey FOREIGN KEY (user_id) REFERENCES auth_user(id) ON DELETE CASCADE
);
CREATE INDEX auth_session_expiry_idx ON auth_session USING btree (expires_at);
CREATE INDEX auth_session_user_idx ON auth_session USING btree (user_id);

-- The second factor of an account: an authenticator app and its recovery codes.
CREATE TABLE auth_two_factor (
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  secret text NOT NULL,
  backup_codes text NOT NULL,
  user_id uuid NOT NULL,
  verified boolean DEFAULT true,
  failed_verification_count integer DEFAULT 0,
  locked_until timestamp with time zone,
  last_step bigint,
  CONSTRAINT auth_two_factor_pkey PRIMARY KEY (id),
  CONSTRAINT auth_two_factor_user_id_key UNIQUE (user_id),
  CONSTRAINT auth_two_factor_user_id_fkey FOREIGN KEY (user_id) REFERENCES auth_user(id) ON DELETE CASCADE
);

-- A person with an account of the dashboard.
CREATE TABLE auth_user (
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  name text NOT NULL,
  email text NOT NULL,
  email_verified boolean NOT NULL,
  image text,
  two_factor_enabled boolean DEFAULT false,
  created_at timestamp with time zone NOT NULL,
  updated_at timestamp with time zone NOT NULL,
  CONSTRAINT auth_user_pkey PRIMARY KEY (id),
  CONSTRAINT auth_user_email_key UNIQUE (email)
);
CREATE TRIGGER auth_user_forgets_invitations BEFORE DELETE ON auth_user FOR EACH ROW EXECUTE FUNCTION forget_invitations();

-- Verifications that wait for a link or a code.
CREATE TABLE auth_verification (
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  identifier text NOT NULL,
  value text NOT NULL,
  expires_at timestamp with time zone NOT NULL,
  created_at timestamp with time zone NOT NULL,
  updated_at timestamp with time zone NOT NULL,
  CONSTRAINT auth_verification_pkey PRIMARY KEY (id)
);
CREATE INDEX auth_verification_identifier_idx ON auth_verification USING btree (identifier);

-- The billing details of a customer's next invoices. Issued invoices keep theirs.
CREATE TABLE billing_details (
  customer_id uuid NOT NULL,
  name text NOT NULL,
  address text[] NOT NULL,
  country text NOT NULL,
  state text,
  tax_id text,
  email text,
  updated_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT billing_details_pkey PRIMARY KEY (customer_id),
  CONSTRAINT billing_details_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES customer(id) ON DELETE CASCADE,
  CONSTRAINT billing_details_country_check CHECK (country ~ '^[A-Z]{2}$'::text)
);

-- One row: the figures of all customers on the console's first page, as last added up.
CREATE TABLE business_figures (
  is_only boolean NOT NULL DEFAULT true,
  at timestamp with time zone NOT NULL DEFAULT now(),
  content jsonb NOT NULL,
  CONSTRAINT business_figures_pkey PRIMARY KEY (is_only),
  CONSTRAINT business_figures_is_only_check CHECK (is_only)
);

-- One row, raised with every change of products and plans: one number shows whether a copy of the catalogue is current.
CREATE TABLE catalogue_revision (
  is_only boolean NOT NULL DEFAULT true,
  revision bigint NOT NULL,
  product_order text[] NOT NULL,
  source jsonb,
  billing jsonb,
  CONSTRAINT catalogue_revision_pkey PRIMARY KEY (is_only),
  CONSTRAINT catalogue_revision_is_only_check CHECK (is_only)
);

-- The nodes that have dropped their knowledge of a key, and after which change.
CREATE TABLE change_confirmation (
  credential_id uuid NOT NULL,
  node_id uuid NOT NULL,
  changed_at timestamp with time zone NOT NULL,
  confirmed_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT change_confirmation_pkey PRIMARY KEY (credential_id, node_id)
);

-- Plans that a customer was sent to pay for. Nothing changes until the provider confirms the payment.
CREATE TABLE checkout (
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  customer_id uuid NOT NULL,
  product_id text NOT NULL,
  plan_name text NOT NULL,
  price bigint NOT NULL,
  currency text NOT NULL,
  provider text NOT NULL,
  session text,
  url text,
  state text NOT NULL DEFAULT 'open'::text,
  opened_at timestamp with time zone NOT NULL DEFAULT now(),
  look_at timestamp with time zone DEFAULT (now() + '00:00:20'::interval),
  daily integer,
  monthly integer,
  overage jsonb,
  CONSTRAINT checkout_pkey PRIMARY KEY (id),
  CONSTRAINT checkout_provider_session_key UNIQUE (provider, session),
  CONSTRAINT checkout_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES customer(id) ON DELETE CASCADE,
  CONSTRAINT checkout_product_id_plan_name_fkey FOREIGN KEY (product_id, plan_name) REFERENCES plan(product_id, name),
  CONSTRAINT checkout_currency_check CHECK (currency ~ '^[A-Z]{3}$'::text),
  CONSTRAINT checkout_price_check CHECK (price > 0),
  CONSTRAINT checkout_state_check CHECK (state = ANY (ARRAY['open'::text, 'paid'::text, 'closed'::text]))
);
CREATE INDEX checkout_look_idx ON checkout USING btree (look_at) WHERE look_at IS NOT NULL;
CREATE UNIQUE INDEX checkout_one_open ON checkout USING btree (customer_id, product_id) WHERE state = 'open'::text;

-- Texts of the catalogue that a customer agreed to, and who agreed. Rows are only added.
CREATE TABLE consent (
  customer_id uuid NOT NULL,
  product_id text NOT NULL,
  version bytea NOT NULL,
  text text NOT NULL,
  given_by text NOT NULL,
  user_id uuid,
  given_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT consent_pkey PRIMARY KEY (customer_id, product_id, version),
  CONSTRAINT consent_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES customer(id) ON DELETE CASCADE,
  CONSTRAINT consent_product_id_fkey FOREIGN KEY (product_id) REFERENCES product(id),
  CONSTRAINT consent_user_id_fkey FOREIGN KEY (user_id) REFERENCES auth_user(id) ON DELETE SET NULL,
  CONSTRAINT consent_version_check CHECK (octet_length(version) = 32)
);
CREATE INDEX consent_user_idx ON consent USING btree (user_id) WHERE user_id IS NOT NULL;

-- The stored record of one API key.
CREATE TABLE credential (
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  customer_id uuid NOT NULL,
  hash bytea NOT NULL,
  prefix text NOT NULL,
  last_four text NOT NULL,
  name text,
  mode text NOT NULL,
  state text NOT NULL DEFAULT 'active'::text,
  planned_expires_at timestamp with time zone,
  overlap_ends_at timestamp with time zone,
  expires_at timestamp with time zone DEFAULT LEAST(planned_expires_at, overlap_ends_at),
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  last_used_at timestamp with time zone,
  rotated_from uuid,
  CONSTRAINT credential_pkey PRIMARY KEY (id),
  CONSTRAINT credential_hash_key UNIQUE (hash),
  CONSTRAINT credential_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES customer(id) ON DELETE CASCADE,
  CONSTRAINT credential_rotated_from_fkey FOREIGN KEY (rotated_from) REFERENCES credential(id) ON DELETE SET NULL,
  CONSTRAINT credential_check CHECK (prefix = ''::text OR prefix = ('tg_'::text || mode)),
  CONSTRAINT credential_hash_check CHECK (octet_length(hash) = 32),
  CONSTRAINT credential_last_four_check CHECK (length(last_four) = ANY (ARRAY[0, 4])),
  CONSTRAINT credential_mode_check CHECK (mode = ANY (ARRAY['live'::text, 'test'::text])),
  CONSTRAINT credential_name_check CHECK (length(name) >= 1 AND length(name) <= 100),
  CONSTRAINT credential_prefix_check CHECK (prefix = ANY (ARRAY[''::text, 'tg_live'::text, 'tg_test'::text])),
  CONSTRAINT credential_state_check CHECK (state = ANY (ARRAY['active'::text, 'inactive'::text, 'revoked'::text]))
) WITH (fillfactor=80);
CREATE INDEX credential_customer_created_idx ON credential USING btree (customer_id, created_at DESC, id DESC);
CREATE INDEX credential_expiry_idx ON credential USING btree (expires_at) WHERE expires_at IS NOT NULL AND state = 'active'::text;
CREATE INDEX credential_expiry_order_idx ON credential USING btree (customer_id, COALESCE(expires_at, 'infinity'::timestamp with time zone), id);
CREATE INDEX credential_last_four_idx ON credential USING btree (last_four, id) WHERE last_four <> ''::text;
CREATE INDEX credential_mode_order_idx ON credential USING btree (customer_id, mode, created_at DESC, id DESC);
CREATE INDEX credential_name_order_idx ON credential USING btree (customer_id, (
CASE
    WHEN name IS NULL THEN '1'::text
    ELSE '0'::text || lower(name)
END) COLLATE "C", id);
CREATE INDEX credential_rotated_from_idx ON credential USING btree (rotated_from) WHERE rotated_from IS NOT NULL;
CREATE INDEX credential_state_order_idx ON credential USING btree (customer_id, state, created_at DESC, id DESC);
CREATE TRIGGER credential_delete_tells AFTER DELETE ON credential FOR EACH ROW EXECUTE FUNCTION tell_credential_change();
CREATE TRIGGER credential_insert_tells AFTER INSERT ON credential REFERENCING NEW TABLE AS made FOR EACH STATEMENT EXECUTE FUNCTION tell_new_credentials();
CREATE TRIGGER credential_is_final BEFORE UPDATE ON credential FOR EACH ROW EXECUTE FUNCTION keep_credential_final();
CREATE TRIGGER credential_truncate_tells AFTER TRUNCATE ON credential FOR EACH STATEMENT EXECUTE FUNCTION tell_truncate();
CREATE TRIGGER credential_update_tells AFTER UPDATE ON credential FOR EACH ROW WHEN (old.id IS DISTINCT FROM new.id OR old.customer_id IS DISTINCT FROM new.customer_id OR old.hash IS DISTINCT FROM new.hash OR old.prefix IS DISTINCT FROM new.prefix OR old.last_four IS DISTINCT FROM new.last_four OR old.name IS DISTINCT FROM new.name OR old.mode IS DISTINCT FROM new.mode OR old.state IS DISTINCT FROM new.state OR old.expires_at IS DISTINCT FROM new.expires_at OR old.rotated_from IS DISTINCT FROM new.rotated_from) EXECUTE FUNCTION tell_credential_change();

-- The products that a key is authorised for.
CREATE TABLE credential_product (
  credential_id uuid NOT NULL,
  product_id text NOT NULL,
  customer_id uuid,
  created_at timestamp with time zone,
  CONSTRAINT credential_product_pkey PRIMARY KEY (credential_id, product_id),
  CONSTRAINT credential_product_credential_id_fkey FOREIGN KEY (credential_id) REFERENCES credential(id) ON DELETE CASCADE,
  CONSTRAINT credential_product_product_id_fkey FOREIGN KEY (product_id) REFERENCES product(id)
);
CREATE INDEX credential_product_order_idx ON credential_product USING btree (customer_id, product_id, created_at DESC, credential_id DESC);
CREATE TRIGGER credential_product_delete_tells AFTER DELETE ON credential_product REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION tell_credential_part_change();
CREATE TRIGGER credential_product_order BEFORE INSERT ON credential_product FOR EACH ROW WHEN (new.customer_id IS NULL OR new.created_at IS NULL) EXECUTE FUNCTION keep_key_order();
CREATE TRIGGER credential_product_tells AFTER INSERT ON credential_product REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION tell_credential_part_change();
CREATE TRIGGER credential_product_truncate_tells AFTER TRUNCATE ON credential_product FOR EACH STATEMENT EXECUTE FUNCTION tell_truncate();
CREATE TRIGGER credential_product_update_from_tells AFTER UPDATE ON credential_product REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION tell_credential_part_change();
CREATE TRIGGER credential_product_update_to_tells AFTER UPDATE ON credential_product REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION tell_credential_part_change();

-- A customer's own words for keys. They decide nothing, so nodes are not notified of them.
CREATE TABLE credential_tag (
  credential_id uuid NOT NULL,
  tag text NOT NULL,
  customer_id uuid,
  created_at timestamp with time zone,
  CONSTRAINT credential_tag_pkey PRIMARY KEY (credential_id, tag),
  CONSTRAINT credential_tag_credential_id_fkey FOREIGN KEY (credential_id) REFERENCES credential(id) ON DELETE CASCADE,
  CONSTRAINT credential_tag_tag_check CHECK (length(tag) >= 1 AND length(tag) <= 40)
);
CREATE INDEX credential_tag_order_idx ON credential_tag USING btree (customer_id, tag, created_at DESC, credential_id DESC);
CREATE TRIGGER credential_tag_order BEFORE INSERT ON credential_tag FOR EACH ROW WHEN (new.customer_id IS NULL OR new.created_at IS NULL) EXECUTE FUNCTION keep_key_order();

-- An organisation that owns keys and subscriptions. An organisation without a member was made by the command line.
CREATE TABLE customer (
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  email text NOT NULL,
  display_name text,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT customer_pkey PRIMARY KEY (id),
  CONSTRAINT customer_display_name_check CHECK (char_length(display_name) >= 1 AND char_length(display_name) <= 100),
  CONSTRAINT customer_email_check CHECK (email ~ '^[^@\s]+@[^@\s]+$'::text AND length(email) <= 254)
);
CREATE UNIQUE INDEX customer_email_key ON customer USING btree (lower(email));
CREATE INDEX customer_email_order_idx ON customer USING btree (lower(email) COLLATE "C");
CREATE TRIGGER customer_insert_listed AFTER INSERT ON customer REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION note_changed_customers('id');
CREATE TRIGGER customer_insert_told AFTER INSERT ON customer REFERENCING NEW TABLE AS made FOR EACH STATEMENT EXECUTE FUNCTION seller_hears_of_customers();
CREATE TRIGGER customer_tells AFTER DELETE OR UPDATE ON customer FOR EACH ROW EXECUTE FUNCTION tell_customer_change();
CREATE TRIGGER customer_truncate_tells AFTER TRUNCATE ON customer FOR EACH STATEMENT EXECUTE FUNCTION tell_truncate();
CREATE TRIGGER customer_update_leaves_list AFTER UPDATE OF email, display_name ON customer FOR EACH ROW EXECUTE FUNCTION forget_customer_listing();
CREATE TRIGGER customer_update_listed AFTER UPDATE ON customer REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION note_changed_customers('id');

-- Customers whose lines in customer_listing are out of date. Rows are only added, so that no change waits for another.
CREATE TABLE customer_changed (
  number bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  customer_id uuid NOT NULL,
  CONSTRAINT customer_changed_pkey PRIMARY KEY (number)
);

-- Admitted requests of key_hour by customer, product and day: three months of a customer with 10,000 keys are a quarter of a million hours
-- there. Kept 92 days.
CREATE TABLE customer_day (
  customer_id uuid NOT NULL,
  day date NOT NULL,
  product_id text NOT NULL,
  admitted bigint NOT NULL DEFAULT 0,
  succeeded bigint,
  rejected bigint,
  failed bigint,
  abandoned bigint,
  took bigint[],
  CONSTRAINT customer_day_pkey PRIMARY KEY (customer_id, day, product_id)
) WITH (fillfactor=80);
CREATE INDEX customer_day_day_idx ON customer_day USING btree (day);

-- Limits that an operator grants one customer beyond the defaults of customer-limits.ts. Null is the default.
CREATE TABLE customer_limit (
  customer_id uuid NOT NULL,
  keys integer,
  rules integer,
  writes_per_minute integer,
  CONSTRAINT customer_limit_pkey PRIMARY KEY (customer_id),
  CONSTRAINT customer_limit_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES customer(id) ON DELETE CASCADE,
  CONSTRAINT customer_limit_keys_check CHECK (keys > 0),
  CONSTRAINT customer_limit_rules_check CHECK (rules > 0),
  CONSTRAINT customer_limit_writes_per_minute_check CHECK (writes_per_minute > 0)
);

-- Customers as the console lists them. Derived from other tables by the dashboard's jobs, and before a list is shown.
CREATE TABLE customer_listing (
  list text NOT NULL,
  customer_id uuid NOT NULL,
  email text NOT NULL,
  name text,
  created_at timestamp with time zone NOT NULL,
  state text NOT NULL,
  suspended jsonb,
  plans jsonb NOT NULL,
  rates jsonb NOT NULL,
  rate numeric NOT NULL,
  used bigint NOT NULL,
  growth bigint NOT NULL,
  last_seen_on date NOT NULL,
  counted_on date NOT NULL,
  counted_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT customer_listing_pkey PRIMARY KEY (list, customer_id),
  CONSTRAINT customer_listing_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES customer(id) ON DELETE CASCADE,
  CONSTRAINT customer_listing_state_check CHECK (state = ANY (ARRAY['active'::text, 'idle'::text, 'leaving'::text, 'suspended'::text]))
);
CREATE INDEX customer_listing_created_idx ON customer_listing USING btree (list, created_at, customer_id);
CREATE INDEX customer_listing_customer_idx ON customer_listing USING btree (customer_id);
CREATE INDEX customer_listing_email_idx ON customer_listing USING btree (list, lower(email) COLLATE "C", customer_id);
CREATE INDEX customer_listing_growth_idx ON customer_listing USING btree (list, growth, customer_id);
CREATE INDEX customer_listing_rate_idx ON customer_listing USING btree (list, rate, customer_id);
CREATE INDEX customer_listing_seen_idx ON customer_listing USING btree (list, last_seen_on, customer_id);
CREATE INDEX customer_listing_stale_idx ON customer_listing USING btree (counted_on) WHERE list = 'all'::text AND (used > 0 OR growth <> 0 OR state = 'leaving'::text);
CREATE INDEX customer_listing_used_idx ON customer_listing USING btree (list, used, customer_id);

-- Operators' notes about a customer, for operators only. Rows are only added.
CREATE TABLE customer_note (
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  number bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  customer_id uuid NOT NULL,
  at timestamp with time zone NOT NULL DEFAULT now(),
  author text NOT NULL,
  text text NOT NULL,
  CONSTRAINT customer_note_pkey PRIMARY KEY (id),
  CONSTRAINT customer_note_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES customer(id) ON DELETE CASCADE,
  CONSTRAINT customer_note_text_check CHECK (length(text) >= 1 AND length(text) <= 2000)
);
CREATE INDEX customer_note_customer_idx ON customer_note USING btree (customer_id, number);

-- Decisions of the access layer on requests, for explain and for the request log. Kept 7 days.
CREATE TABLE decision (
  request_id text NOT NULL,
  at timestamp with time zone NOT NULL,
  outcome text NOT NULL,
  products text[] NOT NULL,
  key_place text,
  masked_key text,
  credential_id uuid,
  customer_id uuid,
  subscription_id uuid,
  product text,
  caller_address text,
  origin_host text,
  matched_rule text,
  suspended text,
  standing text,
  method text,
  path text,
  status smallint,
  milliseconds integer,
  bytes bigint,
  units integer,
  is_from_api boolean
) WITH (fillfactor=80);
CREATE INDEX decision_anonymous_idx ON decision USING btree (at) WHERE customer_id IS NULL;
CREATE INDEX decision_at_idx ON decision USING btree (at);
CREATE INDEX decision_log_idx ON decision USING btree (customer_id, (at AT TIME ZONE 'UTC'::text), credential_id, COALESCE(product, products[1]), outcome) WHERE customer_id IS NOT NULL;
CREATE INDEX decision_refusal_idx ON decision USING btree (customer_id, at, request_id) WHERE outcome <> 'admitted'::text AND customer_id IS NOT NULL;
CREATE INDEX decision_refused_idx ON decision USING btree (at, request_id) WHERE outcome <> 'admitted'::text;
CREATE INDEX decision_request_idx ON decision USING hash (request_id);

-- How often each key was refused, by product, day and code.
CREATE TABLE denial_count (
  credential_id uuid,
  product_id text NOT NULL,
  day date NOT NULL,
  code text NOT NULL,
  count bigint NOT NULL,
  CONSTRAINT denial_count_credential_id_product_id_day_code_key UNIQUE NULLS NOT DISTINCT (credential_id, product_id, day, code),
  CONSTRAINT denial_count_count_check CHECK (count > 0)
);

-- A pending change of an email address: the old address allows it, the new one proves who reads it.
CREATE TABLE email_change (
  user_id uuid NOT NULL,
  new_email text NOT NULL,
  old_token bytea NOT NULL,
  new_token bytea NOT NULL,
  allowed_at timestamp with time zone,
  proved_at timestamp with time zone,
  session_id uuid NOT NULL,
  expires_at timestamp with time zone NOT NULL DEFAULT (now() + '01:00:00'::interval),
  CONSTRAINT email_change_pkey PRIMARY KEY (user_id),
  CONSTRAINT email_change_new_token_key UNIQUE (new_token),
  CONSTRAINT email_change_old_token_key UNIQUE (old_token),
  CONSTRAINT email_change_user_id_fkey FOREIGN KEY (user_id) REFERENCES auth_user(id) ON DELETE CASCADE,
  CONSTRAINT email_change_new_email_check CHECK (new_email = lower(new_email) AND new_email ~ '^[^@\s]+@[^@\s]+$'::text AND length(new_email) <= 254),
  CONSTRAINT email_change_new_token_check CHECK (octet_length(new_token) = 32),
  CONSTRAINT email_change_old_token_check CHECK (octet_length(old_token) = 32)
);

-- One row for each plugin server process, which it writes every 2 s. Deleted a day after its last sign of life.
CREATE TABLE gateway_node (
  id uuid NOT NULL,
  name text NOT NULL,
  version text,
  started_at timestamp with time zone NOT NULL DEFAULT now(),
  seen_at timestamp with time zone NOT NULL DEFAULT now(),
  feed_healthy boolean NOT NULL,
  feed_since timestamp with time zone,
  redis_answers boolean,
  redis_since timestamp with time zone,
  current_until timestamp with time zone,
  stopped_at timestamp with time zone,
  CONSTRAINT gateway_node_pkey PRIMARY KEY (id)
);

-- Open invitations, one for each address. Accepted and revoked invitations are in the audit log only.
CREATE TABLE invitation (
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  customer_id uuid NOT NULL,
  email text NOT NULL,
  role text NOT NULL,
  token_hash bytea NOT NULL,
  invited_by uuid,
  sent_at timestamp with time zone NOT NULL DEFAULT now(),
  expires_at timestamp with time zone NOT NULL,
  CONSTRAINT invitation_pkey PRIMARY KEY (id),
  CONSTRAINT invitation_customer_id_email_key UNIQUE (customer_id, email),
  CONSTRAINT invitation_token_hash_key UNIQUE (token_hash),
  CONSTRAINT invitation_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES customer(id) ON DELETE CASCADE,
  CONSTRAINT invitation_invited_by_fkey FOREIGN KEY (invited_by) REFERENCES auth_user(id) ON DELETE SET NULL,
  CONSTRAINT invitation_email_check CHECK (email = lower(email)),
  CONSTRAINT invitation_role_check CHECK (role = ANY (ARRAY['admin'::text, 'developer'::text, 'billing'::text, 'reader'::text])),
  CONSTRAINT invitation_token_hash_check CHECK (octet_length(token_hash) = 32)
);
CREATE INDEX invitation_inviter_idx ON invitation USING btree (invited_by);

-- Invoices and credit notes, as issued. Never changed and never deleted.
CREATE TABLE invoice (
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  place bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  series text NOT NULL,
  serial bigint NOT NULL,
  number text NOT NULL,
  kind text NOT NULL,
  customer_id uuid NOT NULL,
  month date NOT NULL,
  currency text NOT NULL,
  edition integer NOT NULL DEFAULT 1,
  total bigint NOT NULL,
  issued_at timestamp with time zone NOT NULL DEFAULT now(),
  due_on date NOT NULL,
  corrects uuid,
  reason text NOT NULL DEFAULT ''::text,
  content jsonb NOT NULL,
  provider text,
  payment text,
  refunded_to bigint,
  CONSTRAINT invoice_pkey PRIMARY KEY (id),
  CONSTRAINT invoice_number_key UNIQUE (number),
  CONSTRAINT invoice_provider_payment_refunded_to_key UNIQUE (provider, payment, refunded_to),
  CONSTRAINT invoice_series_serial_key UNIQUE (series, serial),
  CONSTRAINT invoice_corrects_fkey FOREIGN KEY (corrects) REFERENCES invoice(id),
  CONSTRAINT invoice_series_fkey FOREIGN KEY (series) REFERENCES invoice_series(name),
  CONSTRAINT invoice_check CHECK ((kind = 'credit_note'::text) = (corrects IS NOT NULL)),
  CONSTRAINT invoice_check1 CHECK (num_nulls(provider, payment, refunded_to) = ANY (ARRAY[0, 3])),
  CONSTRAINT invoice_check2 CHECK ((kind = 'credit_note'::text) = (refunded_to > 0)),
  CONSTRAINT invoice_currency_check CHECK (currency ~ '^[A-Z]{3}$'::text),
  CONSTRAINT invoice_edition_check CHECK (edition > 0),
  CONSTRAINT invoice_kind_check CHECK (kind = ANY (ARRAY['invoice'::text, 'credit_note'::text])),
  CONSTRAINT invoice_month_check CHECK (EXTRACT(day FROM month) = 1::numeric),
  CONSTRAINT invoice_reason_check CHECK (length(reason) <= 500),
  CONSTRAINT invoice_total_check CHECK (total >= 0)
);
CREATE UNIQUE INDEX invoice_credited_once ON invoice USING btree (corrects) WHERE payment IS NULL;
CREATE INDEX invoice_customer_idx ON invoice USING btree (customer_id, place);
CREATE INDEX invoice_due_idx ON invoice USING btree (due_on);
CREATE INDEX invoice_month_idx ON invoice USING btree (month, place);
CREATE UNIQUE INDEX invoice_once ON invoice USING btree (customer_id, month, currency, edition) WHERE kind = 'invoice'::text AND payment IS NULL;
CREATE UNIQUE INDEX invoice_place_idx ON invoice USING btree (place);
CREATE TRIGGER invoice_is_final BEFORE DELETE OR UPDATE ON invoice FOR EACH STATEMENT EXECUTE FUNCTION refuse_invoice_change();
CREATE TRIGGER invoice_is_numbered BEFORE INSERT ON invoice FOR EACH ROW EXECUTE FUNCTION number_invoice();
CREATE TRIGGER invoice_is_summed AFTER INSERT ON invoice REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION sum_invoices();
CREATE TRIGGER invoice_is_unpaid AFTER INSERT ON invoice REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION keep_unpaid_invoices();

-- Invoices that were paid in full.
CREATE TABLE invoice_payment (
  invoice_id uuid NOT NULL,
  paid_on date NOT NULL,
  reference text NOT NULL DEFAULT ''::text,
  noted_at timestamp with time zone NOT NULL DEFAULT now(),
  noted_by text NOT NULL,
  CONSTRAINT invoice_payment_pkey PRIMARY KEY (invoice_id),
  CONSTRAINT invoice_payment_invoice_id_fkey FOREIGN KEY (invoice_id) REFERENCES invoice(id),
  CONSTRAINT invoice_payment_reference_check CHECK (length(reference) <= 200)
);
CREATE TRIGGER invoice_is_paid AFTER INSERT ON invoice_payment REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION remove_paid_invoices();
CREATE TRIGGER invoice_payment_is_final BEFORE DELETE OR UPDATE ON invoice_payment FOR EACH STATEMENT EXECUTE FUNCTION refuse_invoice_change();
CREATE TRIGGER invoice_payment_is_summed AFTER INSERT ON invoice_payment REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION sum_invoice_payments();

-- The last number of each series. Its row is locked until the invoice has committed, so that a rollback leaves no gap.
CREATE TABLE invoice_series (
  name text NOT NULL,
  last bigint NOT NULL,
  CONSTRAINT invoice_series_pkey PRIMARY KEY (name),
  CONSTRAINT invoice_series_last_check CHECK (last > 0)
);

-- Sums of invoices of closed statements by month. Written by triggers alone.
CREATE TABLE invoice_sum (
  month date NOT NULL,
  currency text NOT NULL,
  due_on date NOT NULL,
  state text NOT NULL,
  invoices bigint NOT NULL,
  total numeric NOT NULL,
  CONSTRAINT invoice_sum_pkey PRIMARY KEY (month, currency, due_on, state),
  CONSTRAINT invoice_sum_state_check CHECK (state = ANY (ARRAY['open'::text, 'paid'::text, 'credited'::text]))
);

-- Invoices that are neither paid nor credited. Written by triggers alone.
CREATE TABLE invoice_unpaid (
  place bigint NOT NULL,
  invoice_id uuid NOT NULL,
  due_on date NOT NULL,
  CONSTRAINT invoice_unpaid_pkey PRIMARY KEY (place),
  CONSTRAINT invoice_unpaid_invoice_id_key UNIQUE (invoice_id),
  CONSTRAINT invoice_unpaid_invoice_id_fkey FOREIGN KEY (invoice_id) REFERENCES invoice(id)
);

-- Requests by key, product and hour: the decisions on them, and the products' responses. Kept 92 days.
CREATE TABLE key_hour (
  credential_id uuid NOT NULL,
  day date NOT NULL,
  hour smallint NOT NULL,
  product_id text NOT NULL,
  admitted bigint NOT NULL DEFAULT 0,
  refused bigint NOT NULL DEFAULT 0,
  unavailable bigint NOT NULL DEFAULT 0,
  admitted_unlogged bigint NOT NULL DEFAULT 0,
  refused_unlogged bigint NOT NULL DEFAULT 0,
  succeeded bigint,
  rejected bigint,
  failed bigint,
  abandoned bigint,
  took integer[],
  CONSTRAINT key_hour_pkey PRIMARY KEY (credential_id, day, hour, product_id),
  CONSTRAINT key_hour_hour_check CHECK (hour >= 0 AND hour <= 25)
) WITH (fillfactor=80);
CREATE INDEX key_hour_day_idx ON key_hour USING btree (day);

-- The people who act for a customer, and their roles.
CREATE TABLE member (
  customer_id uuid NOT NULL,
  user_id uuid NOT NULL,
  role text NOT NULL,
  since timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT member_pkey PRIMARY KEY (customer_id, user_id),
  CONSTRAINT member_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES customer(id) ON DELETE CASCADE,
  CONSTRAINT member_user_id_fkey FOREIGN KEY (user_id) REFERENCES auth_user(id) ON DELETE CASCADE,
  CONSTRAINT member_role_check CHECK (role = ANY (ARRAY['owner'::text, 'admin'::text, 'developer'::text, 'billing'::text, 'reader'::text]))
);
CREATE INDEX member_user_idx ON member USING btree (user_id, since);
CREATE TRIGGER member_begins_with_owner AFTER INSERT ON member FOR EACH ROW WHEN (new.role <> 'owner'::text) EXECUTE FUNCTION begin_with_owner();
CREATE TRIGGER member_keeps_owner AFTER DELETE OR UPDATE ON member FOR EACH ROW WHEN (old.role = 'owner'::text) EXECUTE FUNCTION keep_an_owner();

-- Accounts that run the installation. Only the command line makes them, and none of them is a customer.
CREATE TABLE operator (
  user_id uuid NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT operator_pkey PRIMARY KEY (user_id),
  CONSTRAINT operator_user_id_fkey FOREIGN KEY (user_id) REFERENCES auth_user(id) ON DELETE CASCADE
);

-- Messages to be mailed or sent to a webhook, each once. Sent messages are kept 92 days.
CREATE TABLE outbox (
  id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  kind text NOT NULL,
  subject uuid NOT NULL,
  detail text NOT NULL DEFAULT ''::text,
  lane uuid,
  asked_at timestamp with time zone NOT NULL DEFAULT now(),
  due_at timestamp with time zone DEFAULT now(),
  attempts integer NOT NULL DEFAULT 0,
  CONSTRAINT outbox_pkey PRIMARY KEY (id),
  CONSTRAINT outbox_once UNIQUE (kind, subject, detail),
  CONSTRAINT outbox_lane_fkey FOREIGN KEY (lane) REFERENCES webhook(id) ON DELETE CASCADE,
  CONSTRAINT outbox_kind_check CHECK (kind = ANY (ARRAY['alerts'::text, 'plan_answer'::text, 'outage'::text, 'status'::text, 'invoice'::text, 'payment'::text, 'webhook'::text]))
);
CREATE INDEX outbox_due_idx ON outbox USING btree (kind, due_at, id) WHERE due_at IS NOT NULL;
CREATE INDEX outbox_lane_idx ON outbox USING btree (lane) WHERE lane IS NOT NULL;
CREATE INDEX outbox_sent_idx ON outbox USING btree (asked_at) WHERE due_at IS NULL;

-- Mail of an installation that sends none, for the outbox page. Kept 7 days.
CREATE TABLE outbox_mail (
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  at timestamp with time zone NOT NULL DEFAULT now(),
  recipient text NOT NULL,
  subject text NOT NULL,
  body text NOT NULL,
  CONSTRAINT outbox_mail_pkey PRIMARY KEY (id)
);
CREATE INDEX outbox_mail_at_idx ON outbox_mail USING btree (at);

-- Use above the limits in a closed statement, of plans that a payment provider charges: each appears once on an invoice of the provider.
CREATE TABLE overage_charge (
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  customer_id uuid NOT NULL,
  month date NOT NULL,
  product_id text NOT NULL,
  currency text NOT NULL,
  units bigint NOT NULL,
  amount bigint NOT NULL,
  provider text,
  reference text,
  attempts integer NOT NULL DEFAULT 0,
  charge text,
  problem text NOT NULL DEFAULT ''::text,
  look_at timestamp with time zone DEFAULT now(),
  CONSTRAINT overage_charge_pkey PRIMARY KEY (id),
  CONSTRAINT overage_charge_customer_id_month_product_id_currency_key UNIQUE (customer_id, month, product_id, currency),
  CONSTRAINT overage_charge_customer_id_month_fkey FOREIGN KEY (customer_id, month) REFERENCES statement(customer_id, month),
  CONSTRAINT overage_charge_amount_check CHECK (amount > 0),
  CONSTRAINT overage_charge_check CHECK ((charge IS NULL) = (look_at IS NOT NULL)),
  CONSTRAINT overage_charge_currency_check CHECK (currency ~ '^[A-Z]{3}$'::text),
  CONSTRAINT overage_charge_units_check CHECK (units > 0)
);
CREATE INDEX overage_charge_look_idx ON overage_charge USING btree (look_at) WHERE look_at IS NOT NULL;

-- Subscriptions at a payment provider, and what they give the customer.
CREATE TABLE paid_subscription (
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  provider text NOT NULL,
  reference text NOT NULL,
  customer_id uuid NOT NULL,
  product_id text NOT NULL,
  status text,
  plan_name text,
  price bigint,
  currency text,
  period_end timestamp with time zone,
  cancels_at timestamp with time zone,
  failing_since timestamp with time zone,
  next_plan text,
  next_price bigint,
  discount jsonb,
  is_paused boolean NOT NULL DEFAULT false,
  entitlement text NOT NULL DEFAULT 'none'::text,
  given_plan text,
  look_at timestamp with time zone DEFAULT now(),
  made_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT paid_subscription_pkey PRIMARY KEY (id),
  CONSTRAINT paid_subscription_provider_reference_key UNIQUE (provider, reference),
  CONSTRAINT paid_subscription_entitlement_check CHECK (entitlement = ANY (ARRAY['plan'::text, 'suspended'::text, 'none'::text])),
  CONSTRAINT paid_subscription_status_check CHECK (status = ANY (ARRAY['waiting'::text, 'trial'::text, 'active'::text, 'failing'::text, 'ended'::text]))
);
CREATE INDEX paid_subscription_customer_idx ON paid_subscription USING btree (customer_id, product_id);
CREATE INDEX paid_subscription_look_idx ON paid_subscription USING btree (look_at) WHERE look_at IS NOT NULL;

-- The id under which a payment provider knows a customer.
CREATE TABLE payment_account (
  customer_id uuid NOT NULL,
  provider text NOT NULL,
  account text NOT NULL,
  CONSTRAINT payment_account_pkey PRIMARY KEY (customer_id, provider),
  CONSTRAINT payment_account_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES customer(id) ON DELETE CASCADE
);

-- Charges of customers by a payment provider, one row per invoice. They follow from payment_fact.
CREATE TABLE payment_charge (
  place bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  provider text NOT NULL,
  invoice text NOT NULL,
  paid_subscription_id uuid NOT NULL,
  currency text NOT NULL,
  amount bigint NOT NULL,
  charged_at timestamp with time zone NOT NULL,
  paid_at timestamp with time zone,
  url text,
  payment text,
  plan text,
  use jsonb,
  refunded bigint NOT NULL DEFAULT 0,
  refunds bigint[] NOT NULL DEFAULT '{}'::bigint[],
  refunded_at timestamp with time zone,
  billed bigint,
  refund_id uuid,
  refund_amount bigint,
  refund_until timestamp with time zone,
  reasons jsonb NOT NULL DEFAULT '{}'::jsonb,
  CONSTRAINT payment_charge_pkey PRIMARY KEY (place),
  CONSTRAINT payment_charge_provider_invoice_key UNIQUE (provider, invoice),
  CONSTRAINT payment_charge_paid_subscription_id_fkey FOREIGN KEY (paid_subscription_id) REFERENCES paid_subscription(id),
  CONSTRAINT payment_charge_refund_amount_check CHECK (refund_amount > 0)
);
CREATE INDEX payment_charge_charged_idx ON payment_charge USING btree (charged_at);
CREATE INDEX payment_charge_subscription_idx ON payment_charge USING btree (paid_subscription_id);
CREATE INDEX payment_charge_unbilled_idx ON payment_charge USING btree (paid_at) WHERE paid_at IS NOT NULL AND billed IS DISTINCT FROM refunded;
CREATE INDEX payment_charge_unpaid_idx ON payment_charge USING btree (charged_at) WHERE paid_at IS NULL;
CREATE TRIGGER payment_charge_insert_is_summed AFTER INSERT ON payment_charge REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION sum_payment_charges();
CREATE TRIGGER payment_charge_update_is_summed AFTER UPDATE ON payment_charge REFERENCING OLD TABLE AS gone NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION sum_changed_charges();

-- Sums of paid charges. Written by triggers alone. The other charges are few and change by themselves.
CREATE TABLE payment_charge_sum (
  provider text NOT NULL,
  currency text NOT NULL,
  charged_at timestamp with time zone NOT NULL,
  charges bigint NOT NULL,
  amount numeric NOT NULL,
  refunded numeric NOT NULL,
  CONSTRAINT payment_charge_sum_pkey PRIMARY KEY (provider, currency, charged_at)
);

-- Comparisons of every paid subscription with its provider: one a night, and on demand.
CREATE TABLE payment_check (
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  asked_at timestamp with time zone NOT NULL DEFAULT now(),
  taken_until timestamp with time zone,
  done_at timestamp with time zone,
  report jsonb,
  CONSTRAINT payment_check_pkey PRIMARY KEY (id)
);
CREATE INDEX payment_check_open_idx ON payment_check USING btree (asked_at) WHERE done_at IS NULL;

-- Events of a payment provider, each stored once. State follows from these rows alone.
CREATE TABLE payment_fact (
  provider text NOT NULL,
  id text NOT NULL,
  paid_subscription text NOT NULL,
  at timestamp with time zone NOT NULL,
  fact jsonb NOT NULL,
  received_at timestamp with time zone NOT NULL DEFAULT now(),
  applied_at timestamp with time zone,
  CONSTRAINT payment_fact_pkey PRIMARY KEY (provider, id)
);
CREATE INDEX payment_fact_new_idx ON payment_fact USING btree (received_at) WHERE applied_at IS NULL;
CREATE INDEX payment_fact_subscription_idx ON payment_fact USING btree (provider, paid_subscription);

-- People in no organisation who asked for deletion: there is no customer to stop.
CREATE TABLE person_deletion (
  user_id uuid NOT NULL,
  asked_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT person_deletion_pkey PRIMARY KEY (user_id),
  CONSTRAINT person_deletion_user_id_fkey FOREIGN KEY (user_id) REFERENCES auth_user(id) ON DELETE CASCADE
);
CREATE INDEX person_deletion_asked_idx ON person_deletion USING btree (asked_at);

-- Limits of a product, and their price for a month.
CREATE TABLE plan (
  product_id text NOT NULL,
  name text NOT NULL,
  daily integer NOT NULL,
  monthly integer NOT NULL,
  price numeric NOT NULL,
  currency text NOT NULL DEFAULT 'INR'::text,
  approval text NOT NULL DEFAULT 'automatic'::text,
  active boolean NOT NULL DEFAULT true,
  overage jsonb,
  rate jsonb,
  CONSTRAINT plan_pkey PRIMARY KEY (product_id, name),
  CONSTRAINT plan_product_id_fkey FOREIGN KEY (product_id) REFERENCES product(id),
  CONSTRAINT plan_approval_check CHECK (approval = ANY (ARRAY['automatic'::text, 'request'::text])),
  CONSTRAINT plan_currency_check CHECK (currency ~ '^[A-Z]{3}$'::text),
  CONSTRAINT plan_daily_check CHECK (daily >= 0),
  CONSTRAINT plan_monthly_check CHECK (monthly >= 0),
  CONSTRAINT plan_name_check CHECK (name <> ''::text),
  CONSTRAINT plan_price_check CHECK (price >= 0::numeric)
);
CREATE TRIGGER plan_tells AFTER INSERT OR DELETE OR UPDATE ON plan FOR EACH ROW EXECUTE FUNCTION tell_plan_change();
CREATE TRIGGER plan_truncate_tells AFTER TRUNCATE ON plan FOR EACH STATEMENT EXECUTE FUNCTION tell_truncate();
CREATE TRIGGER plan_update_keeps_terms AFTER UPDATE ON plan REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION keep_subscriptions_of_plans();

-- Terms that customers were shown before they agreed to another plan; each is accepted once.
CREATE TABLE plan_preview (
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  paid_subscription_id uuid NOT NULL,
  plan_name text NOT NULL,
  price bigint NOT NULL,
  terms jsonb NOT NULL,
  held jsonb NOT NULL,
  change jsonb NOT NULL,
  made_at timestamp with time zone NOT NULL DEFAULT now(),
  accepted_at timestamp with time zone,
  CONSTRAINT plan_preview_pkey PRIMARY KEY (id),
  CONSTRAINT plan_preview_paid_subscription_id_fkey FOREIGN KEY (paid_subscription_id) REFERENCES paid_subscription(id) ON DELETE CASCADE
);
CREATE INDEX plan_preview_subscription_idx ON plan_preview USING btree (paid_subscription_id, accepted_at);

-- A plan that a customer requested and an operator decides on. Until then the subscription stays as it is.
CREATE TABLE plan_request (
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  number bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  customer_id uuid NOT NULL,
  product_id text NOT NULL,
  plan_name text NOT NULL,
  daily integer NOT NULL,
  monthly integer NOT NULL,
  price numeric NOT NULL,
  currency text NOT NULL,
  state text NOT NULL DEFAULT 'open'::text,
  reason text NOT NULL DEFAULT ''::text,
  asked_at timestamp with time zone NOT NULL DEFAULT now(),
  answered_at timestamp with time zone,
  overage jsonb,
  CONSTRAINT plan_request_pkey PRIMARY KEY (id),
  CONSTRAINT plan_request_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES customer(id) ON DELETE CASCADE,
  CONSTRAINT plan_request_product_id_plan_name_fkey FOREIGN KEY (product_id, plan_name) REFERENCES plan(product_id, name),
  CONSTRAINT plan_request_check CHECK ((state = 'open'::text) = (answered_at IS NULL)),
  CONSTRAINT plan_request_reason_check CHECK (length(reason) <= 500),
  CONSTRAINT plan_request_state_check CHECK (state = ANY (ARRAY['open'::text, 'approved'::text, 'declined'::text, 'withdrawn'::text]))
);
CREATE INDEX plan_request_customer_idx ON plan_request USING btree (customer_id, product_id, number);
CREATE UNIQUE INDEX plan_request_one_open ON plan_request USING btree (customer_id, product_id) WHERE state = 'open'::text;
CREATE INDEX plan_request_open_idx ON plan_request USING btree (number) WHERE state = 'open'::text;
CREATE TRIGGER plan_request_insert_told AFTER INSERT ON plan_request REFERENCING NEW TABLE AS made FOR EACH STATEMENT EXECUTE FUNCTION seller_hears_of_requests();

-- An API that is or was sold.
CREATE TABLE product (
  id text NOT NULL,
  title text NOT NULL,
  description text NOT NULL,
  daily integer,
  monthly integer,
  rate jsonb,
  subscribable boolean NOT NULL DEFAULT true,
  active boolean NOT NULL DEFAULT true,
  definition jsonb,
  CONSTRAINT product_pkey PRIMARY KEY (id),
  CONSTRAINT product_check CHECK ((daily IS NULL) = (monthly IS NULL)),
  CONSTRAINT product_daily_check CHECK (daily >= 0),
  CONSTRAINT product_id_check CHECK (id ~ '^[a-z][a-z0-9-]*$'::text),
  CONSTRAINT product_monthly_check CHECK (monthly >= 0)
);
CREATE TRIGGER product_tells AFTER INSERT OR DELETE OR UPDATE ON product FOR EACH ROW EXECUTE FUNCTION tell_product_change();
CREATE TRIGGER product_truncate_tells AFTER TRUNCATE ON product FOR EACH STATEMENT EXECUTE FUNCTION tell_truncate();
CREATE TRIGGER product_update_keeps_terms AFTER UPDATE ON product REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION keep_subscriptions_of_products();

-- Responses by product and day, added up from customer_day for the status page and the operators' page of products. Kept 92 days.
CREATE TABLE product_answers (
  day date NOT NULL,
  product_id text NOT NULL,
  admitted bigint NOT NULL,
  succeeded bigint,
  rejected bigint,
  failed bigint,
  abandoned bigint,
  took bigint[],
  CONSTRAINT product_answers_pkey PRIMARY KEY (day, product_id)
);

-- Live use by product and plan, added up a day at a time: otherwise the operators' page of products would read millions of rows.
CREATE TABLE product_day (
  day date NOT NULL,
  product_id text NOT NULL,
  plan_name text NOT NULL,
  charged bigint NOT NULL,
  refunded bigint NOT NULL,
  customers integer NOT NULL,
  subscriptions integer,
  CONSTRAINT product_day_pkey PRIMARY KEY (day, product_id, plan_name)
);

-- The OpenAPI document of a product, as it was when the catalogue was applied.
CREATE TABLE product_document (
  product_id text NOT NULL,
  document text NOT NULL,
  CONSTRAINT product_document_pkey PRIMARY KEY (product_id),
  CONSTRAINT product_document_product_id_fkey FOREIGN KEY (product_id) REFERENCES product(id) ON DELETE CASCADE
);

-- Times in which a product failed more than its catalogue allows. Kept 92 days after their end.
CREATE TABLE product_outage (
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  product_id text NOT NULL,
  began_at timestamp with time zone NOT NULL,
  ended_at timestamp with time zone,
  failed_at timestamp with time zone NOT NULL,
  answered bigint NOT NULL,
  failed bigint NOT NULL,
  CONSTRAINT product_outage_pkey PRIMARY KEY (id),
  CONSTRAINT product_outage_product_id_fkey FOREIGN KEY (product_id) REFERENCES product(id),
  CONSTRAINT product_outage_check CHECK (ended_at >= began_at),
  CONSTRAINT product_outage_check1 CHECK (failed <= answered)
);
CREATE INDEX product_outage_began_idx ON product_outage USING btree (began_at);
CREATE UNIQUE INDEX product_outage_open_idx ON product_outage USING btree (product_id) WHERE ended_at IS NULL;
CREATE TRIGGER product_outage_begun_told AFTER INSERT ON product_outage FOR EACH ROW EXECUTE FUNCTION seller_hears_of_outages();
CREATE TRIGGER product_outage_ended_told AFTER UPDATE ON product_outage FOR EACH ROW WHEN (old.ended_at IS NULL AND new.ended_at IS NOT NULL) EXECUTE FUNCTION seller_hears_of_outages();

-- Copies of product_answers every ten seconds, from which the responses of the last minute follow. Kept some minutes.
CREATE TABLE product_pulse (
  at timestamp with time zone NOT NULL,
  day date NOT NULL,
  product_id text NOT NULL,
  answered bigint NOT NULL,
  failed bigint NOT NULL,
  CONSTRAINT product_pulse_pkey PRIMARY KEY (at, day, product_id)
);

-- Requests that were given back, so that none is given back twice. The id of a request with `/rest` is for units that it reserved and did
-- not use. The log of requests shows both, so rows are kept as long as the log.
CREATE TABLE quota_refund (
  request_id text NOT NULL,
  day date NOT NULL,
  units bigint NOT NULL DEFAULT 1,
  CONSTRAINT quota_refund_pkey PRIMARY KEY (request_id)
);
CREATE INDEX quota_refund_day_idx ON quota_refund USING btree (day);

-- Debts of counters with a rate (plugins/core/access/rate.ts). Every debt is paid within a day, so rows are deleted after two.
CREATE TABLE rate_debt (
  subscription_id uuid NOT NULL,
  at_us bigint NOT NULL,
  debt bigint NOT NULL,
  CONSTRAINT rate_debt_pkey PRIMARY KEY (subscription_id)
) WITH (fillfactor=50);

-- The migrations that this database has.
CREATE TABLE schema_migration (
  name text NOT NULL,
  applied_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT schema_migration_pkey PRIMARY KEY (name)
);

-- Requests that operators and their programs sent once, and their results. Kept two days.
CREATE TABLE seller_submission (
  id uuid NOT NULL,
  result_id uuid,
  at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT seller_submission_pkey PRIMARY KEY (id)
);
CREATE INDEX seller_submission_at_idx ON seller_submission USING btree (at);

-- Tokens of the seller's API. A token works while the operator who made it is one. A row stays when its token has ended.
CREATE TABLE seller_token (
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  hash bytea NOT NULL,
  last_four text NOT NULL,
  name text NOT NULL,
  scopes text[] NOT NULL,
  made_by uuid,
  maker text NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  expires_at timestamp with time zone NOT NULL,
  last_used_at timestamp with time zone,
  revoked_at timestamp with time zone,
  CONSTRAINT seller_token_pkey PRIMARY KEY (id),
  CONSTRAINT seller_token_hash_key UNIQUE (hash),
  CONSTRAINT seller_token_made_by_fkey FOREIGN KEY (made_by) REFERENCES operator(user_id) ON DELETE SET NULL,
  CONSTRAINT seller_token_check CHECK (expires_at > created_at AND expires_at <= (created_at + '400 days'::interval)),
  CONSTRAINT seller_token_hash_check CHECK (octet_length(hash) = 32),
  CONSTRAINT seller_token_last_four_check CHECK (length(last_four) = 4),
  CONSTRAINT seller_token_name_check CHECK (length(name) >= 1 AND length(name) <= 100),
  CONSTRAINT seller_token_scopes_check CHECK (cardinality(scopes) > 0)
);
CREATE INDEX seller_token_maker_idx ON seller_token USING btree (made_by);

-- Statements of past months. Never changed and never deleted.
CREATE TABLE statement (
  customer_id uuid NOT NULL,
  month date NOT NULL,
  closed_at timestamp with time zone NOT NULL DEFAULT now(),
  content jsonb NOT NULL,
  CONSTRAINT statement_pkey PRIMARY KEY (customer_id, month),
  CONSTRAINT statement_month_check CHECK (EXTRACT(day FROM month) = 1::numeric)
);
CREATE INDEX statement_month_idx ON statement USING btree (month, customer_id);
CREATE TRIGGER statement_insert_told AFTER INSERT ON statement REFERENCING NEW TABLE AS made FOR EACH STATEMENT EXECUTE FUNCTION seller_hears_of_statements();
CREATE TRIGGER statement_is_final BEFORE DELETE OR UPDATE ON statement FOR EACH STATEMENT EXECUTE FUNCTION refuse_statement_change();

-- Statements that were invoiced, or had no amount due.
CREATE TABLE statement_billed (
  customer_id uuid NOT NULL,
  month date NOT NULL,
  CONSTRAINT statement_billed_pkey PRIMARY KEY (customer_id, month),
  CONSTRAINT statement_billed_customer_id_month_fkey FOREIGN KEY (customer_id, month) REFERENCES statement(customer_id, month)
);

-- Addresses that get a mail when a product fails, and another when it works again. Links in mail are signed, so no token is stored. A row
-- is deleted when its reader ends it, and after a day if nobody confirms it.
CREATE TABLE status_subscription (
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  email text NOT NULL,
  product_id text,
  asked_at timestamp with time zone NOT NULL DEFAULT now(),
  confirmed_at timestamp with time zone,
  CONSTRAINT status_subscription_pkey PRIMARY KEY (id),
  CONSTRAINT status_subscription_product_id_fkey FOREIGN KEY (product_id) REFERENCES product(id),
  CONSTRAINT status_subscription_email_check CHECK (email = lower(email))
);
CREATE UNIQUE INDEX status_subscription_once_idx ON status_subscription USING btree (email, COALESCE(product_id, ''::text));
CREATE INDEX status_subscription_waiting_idx ON status_subscription USING btree (asked_at) WHERE confirmed_at IS NULL;

-- Submitted forms: a repeated form makes nothing new. Kept 2 days.
CREATE TABLE submission (
  customer_id uuid NOT NULL,
  id uuid NOT NULL,
  result_id uuid,
  at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT submission_pkey PRIMARY KEY (customer_id, id),
  CONSTRAINT submission_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES customer(id) ON DELETE CASCADE
);

-- A customer's right to a product.
CREATE TABLE subscription (
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  customer_id uuid NOT NULL,
  product_id text NOT NULL,
  plan_name text,
  state text NOT NULL DEFAULT 'active'::text,
  daily_override integer,
  monthly_override integer,
  rate_override jsonb,
  daily_cap integer,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  updated_at timestamp with time zone NOT NULL DEFAULT now(),
  price_override numeric,
  price_override_currency text,
  own_limits jsonb NOT NULL DEFAULT '{}'::jsonb,
  CONSTRAINT subscription_pkey PRIMARY KEY (id),
  CONSTRAINT subscription_customer_id_product_id_key UNIQUE (customer_id, product_id),
  CONSTRAINT subscription_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES customer(id) ON DELETE CASCADE,
  CONSTRAINT subscription_product_id_fkey FOREIGN KEY (product_id) REFERENCES product(id),
  CONSTRAINT subscription_product_id_plan_name_fkey FOREIGN KEY (product_id, plan_name) REFERENCES plan(product_id, name),
  CONSTRAINT subscription_daily_cap_check CHECK (daily_cap >= 0),
  CONSTRAINT subscription_daily_override_check CHECK (daily_override >= 0),
  CONSTRAINT subscription_monthly_override_check CHECK (monthly_override >= 0),
  CONSTRAINT subscription_price_override_check CHECK (price_override >= 0::numeric),
  CONSTRAINT subscription_price_override_currency_check CHECK (price_override_currency ~ '^[A-Z]{3}$'::text),
  CONSTRAINT subscription_price_override_has_currency CHECK ((price_override IS NULL) = (price_override_currency IS NULL)),
  CONSTRAINT subscription_state_check CHECK (state = ANY (ARRAY['active'::text, 'paused'::text, 'cancelled'::text]))
);
CREATE TRIGGER subscription_cancel_withdraws AFTER UPDATE OF state ON subscription FOR EACH ROW WHEN (new.state = 'cancelled'::text AND old.state <> 'cancelled'::text) EXECUTE FUNCTION withdraw_plan_requests();
CREATE TRIGGER subscription_delete_ends_terms AFTER DELETE ON subscription REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION end_terms_of_gone_subscriptions();
CREATE TRIGGER subscription_insert_keeps_terms AFTER INSERT ON subscription REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION keep_changed_subscriptions();
CREATE TRIGGER subscription_is_possible BEFORE INSERT OR UPDATE OF product_id ON subscription FOR EACH ROW EXECUTE FUNCTION check_subscribable();
CREATE TRIGGER subscription_other_plan_changes_own_terms BEFORE UPDATE OF plan_name ON subscription FOR EACH ROW WHEN (new.plan_name IS DISTINCT FROM old.plan_name) EXECUTE FUNCTION change_own_terms();
CREATE TRIGGER subscription_tells AFTER INSERT OR DELETE OR UPDATE ON subscription FOR EACH ROW EXECUTE FUNCTION tell_subscription_change();
CREATE TRIGGER subscription_truncate_tells AFTER TRUNCATE ON subscription FOR EACH STATEMENT EXECUTE FUNCTION tell_truncate();
CREATE TRIGGER subscription_update_keeps_terms AFTER UPDATE ON subscription REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION keep_changed_subscriptions();

-- Reason of a subscription's own price or limits, the operator who set them, and their end.
CREATE TABLE subscription_limit_term (
  subscription_id uuid NOT NULL,
  reason text NOT NULL,
  set_by text NOT NULL,
  ends_at timestamp with time zone,
  CONSTRAINT subscription_limit_term_pkey PRIMARY KEY (subscription_id),
  CONSTRAINT subscription_limit_term_subscription_id_fkey FOREIGN KEY (subscription_id) REFERENCES subscription(id) ON DELETE CASCADE,
  CONSTRAINT subscription_limit_term_reason_check CHECK (length(reason) >= 1 AND length(reason) <= 500)
);
CREATE INDEX subscription_limit_term_end_idx ON subscription_limit_term USING btree (ends_at) WHERE ends_at IS NOT NULL;

-- The terms of a subscription over time: a later price must not change the statement of an earlier month. No foreign keys: charges outlive
-- the subscription.
CREATE TABLE subscription_term (
  id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  subscription_id uuid NOT NULL,
  customer_id uuid NOT NULL,
  product_id text NOT NULL,
  plan_name text,
  price numeric NOT NULL,
  currency text,
  daily integer NOT NULL,
  monthly integer NOT NULL,
  state text NOT NULL,
  since timestamp with time zone NOT NULL,
  until timestamp with time zone,
  overage jsonb,
  CONSTRAINT subscription_term_pkey PRIMARY KEY (id),
  CONSTRAINT subscription_term_check CHECK (until >= since)
);
CREATE INDEX subscription_term_customer_idx ON subscription_term USING btree (customer_id, since);
CREATE UNIQUE INDEX subscription_term_present ON subscription_term USING btree (subscription_id) WHERE until IS NULL;
CREATE TRIGGER subscription_term_insert_listed AFTER INSERT ON subscription_term REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION note_changed_customers('customer_id');
CREATE TRIGGER subscription_term_insert_told AFTER INSERT ON subscription_term REFERENCING NEW TABLE AS made FOR EACH STATEMENT EXECUTE FUNCTION seller_hears_of_terms();
CREATE TRIGGER subscription_term_update_listed AFTER UPDATE ON subscription_term REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION note_changed_customers('customer_id');

-- Customers, subscriptions and keys that the seller has suspended. Kept apart from the customer's own states, so that no action of the
-- customer lifts it.
CREATE TABLE suspension (
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  customer_id uuid,
  credential_id uuid,
  subscription_id uuid,
  reason text NOT NULL,
  since timestamp with time zone NOT NULL DEFAULT now(),
  cause text NOT NULL DEFAULT 'operator'::text,
  CONSTRAINT suspension_pkey PRIMARY KEY (id),
  CONSTRAINT suspension_credential_id_key UNIQUE (credential_id),
  CONSTRAINT suspension_customer_id_key UNIQUE (customer_id),
  CONSTRAINT suspension_subscription_id_key UNIQUE (subscription_id),
  CONSTRAINT suspension_credential_id_fkey FOREIGN KEY (credential_id) REFERENCES credential(id) ON DELETE CASCADE,
  CONSTRAINT suspension_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES customer(id) ON DELETE CASCADE,
  CONSTRAINT suspension_subscription_id_fkey FOREIGN KEY (subscription_id) REFERENCES subscription(id) ON DELETE CASCADE,
  CONSTRAINT suspension_cause_check CHECK (cause = ANY (ARRAY['operator'::text, 'payment'::text])),
  CONSTRAINT suspension_check CHECK (num_nonnulls(customer_id, credential_id, subscription_id) = 1),
  CONSTRAINT suspension_reason_check CHECK (length(reason) <= 500)
);
CREATE TRIGGER suspension_delete_listed AFTER DELETE ON suspension REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION note_changed_customers('customer_id');
CREATE TRIGGER suspension_insert_listed AFTER INSERT ON suspension REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION note_changed_customers('customer_id');
CREATE TRIGGER suspension_insert_told AFTER INSERT ON suspension REFERENCING NEW TABLE AS made FOR EACH STATEMENT EXECUTE FUNCTION seller_hears_of_suspensions();
CREATE TRIGGER suspension_tells AFTER INSERT OR DELETE OR UPDATE ON suspension FOR EACH ROW EXECUTE FUNCTION tell_suspension_change();
CREATE TRIGGER suspension_update_listed AFTER UPDATE ON suspension REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION note_changed_customers('customer_id');

-- Trials that were offered: one for each mailbox and product, whatever became of the account.
CREATE TABLE trial (
  product_id text NOT NULL,
  mailbox text NOT NULL,
  customer_id uuid NOT NULL,
  CONSTRAINT trial_pkey PRIMARY KEY (product_id, mailbox)
);

-- Units by counter and day. Every count only grows; spent_redis + spent_postgres - refunded counts against a limit. No foreign key: usage
-- outlives its subscription, and no unit is refused for that.
CREATE TABLE usage (
  subscription_id uuid NOT NULL,
  day date NOT NULL,
  spent_redis bigint NOT NULL DEFAULT 0,
  spent_postgres bigint NOT NULL DEFAULT 0,
  refunded bigint NOT NULL DEFAULT 0,
  refunded_requests bigint NOT NULL DEFAULT 0,
  refunded_exempt bigint NOT NULL DEFAULT 0,
  refunded_unused bigint NOT NULL DEFAULT 0,
  CONSTRAINT usage_pkey PRIMARY KEY (subscription_id, day),
  CONSTRAINT usage_check CHECK (refunded >= 0 AND refunded <= (spent_redis + spent_postgres)),
  CONSTRAINT usage_check1 CHECK (refunded_requests >= 0 AND refunded_requests <= refunded),
  CONSTRAINT usage_check2 CHECK (refunded_exempt >= 0 AND refunded_exempt <= refunded),
  CONSTRAINT usage_check3 CHECK (refunded_unused >= 0 AND refunded_unused <= refunded),
  CONSTRAINT usage_spent_postgres_check CHECK (spent_postgres >= 0),
  CONSTRAINT usage_spent_redis_check CHECK (spent_redis >= 0)
) WITH (fillfactor=50);
CREATE INDEX usage_day_idx ON usage USING btree (day);

-- URLs at which a customer, or the seller, receives events.
CREATE TABLE webhook (
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  customer_id uuid,
  url text NOT NULL,
  secret text NOT NULL,
  state text NOT NULL DEFAULT 'active'::text,
  events text[],
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT webhook_pkey PRIMARY KEY (id),
  CONSTRAINT webhook_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES customer(id) ON DELETE CASCADE,
  CONSTRAINT webhook_choice_is_the_sellers CHECK (customer_id IS NULL OR events IS NULL),
  CONSTRAINT webhook_secret_check CHECK (length(secret) >= 32),
  CONSTRAINT webhook_state_check CHECK (state = ANY (ARRAY['active'::text, 'paused'::text])),
  CONSTRAINT webhook_url_check CHECK (length(url) >= 1 AND length(url) <= 2000)
);
CREATE INDEX webhook_customer_idx ON webhook USING btree (customer_id);
CREATE INDEX webhook_seller_idx ON webhook USING btree (id) WHERE customer_id IS NULL;

-- The log of deliveries. Waiting deliveries are in the outbox. Kept 30 days.
CREATE TABLE webhook_delivery (
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  number bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  webhook_id uuid NOT NULL,
  alert_id uuid,
  event_id uuid NOT NULL,
  event text NOT NULL,
  event_at timestamp with time zone NOT NULL,
  data jsonb,
  state text NOT NULL DEFAULT 'waiting'::text,
  attempts integer NOT NULL DEFAULT 0,
  last_status integer,
  last_error text,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  ended_at timestamp with time zone,
  CONSTRAINT webhook_delivery_pkey PRIMARY KEY (id),
  CONSTRAINT webhook_delivery_alert_id_fkey FOREIGN KEY (alert_id) REFERENCES alert(id) ON DELETE CASCADE,
  CONSTRAINT webhook_delivery_webhook_id_fkey FOREIGN KEY (webhook_id) REFERENCES webhook(id) ON DELETE CASCADE,
  CONSTRAINT webhook_delivery_check CHECK ((state = 'waiting'::text) = (ended_at IS NULL)),
  CONSTRAINT webhook_delivery_state_check CHECK (state = ANY (ARRAY['waiting'::text, 'delivered'::text, 'failed'::text])),
  CONSTRAINT webhook_delivery_tells_one_thing CHECK (num_nonnulls(alert_id, data) =
CASE
    WHEN event = 'test'::text THEN 0
    ELSE 1
END)
);
CREATE INDEX webhook_delivery_alert_idx ON webhook_delivery USING btree (alert_id) WHERE alert_id IS NOT NULL;
CREATE INDEX webhook_delivery_created_idx ON webhook_delivery USING btree (created_at);
CREATE INDEX webhook_delivery_log_idx ON webhook_delivery USING btree (webhook_id, number);
CREATE TRIGGER webhook_delivery_queued AFTER INSERT ON webhook_delivery REFERENCING NEW TABLE AS made FOR EACH STATEMENT EXECUTE FUNCTION queue_deliveries();

-- Addresses, networks and domains that may use a key.
CREATE TABLE whitelist_rule (
  credential_id uuid NOT NULL,
  kind text NOT NULL,
  rule text NOT NULL,
  CONSTRAINT whitelist_rule_pkey PRIMARY KEY (credential_id, rule),
  CONSTRAINT whitelist_rule_credential_id_fkey FOREIGN KEY (credential_id) REFERENCES credential(id) ON DELETE CASCADE,
  CONSTRAINT whitelist_rule_kind_check CHECK (kind = ANY (ARRAY['ip'::text, 'domain'::text])),
  CONSTRAINT whitelist_rule_rule_check CHECK (length(rule) >= 1 AND length(rule) <= 255)
);
CREATE TRIGGER whitelist_rule_delete_tells AFTER DELETE ON whitelist_rule REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION tell_credential_part_change();
CREATE TRIGGER whitelist_rule_tells AFTER INSERT ON whitelist_rule REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION tell_credential_part_change();
CREATE TRIGGER whitelist_rule_truncate_tells AFTER TRUNCATE ON whitelist_rule FOR EACH STATEMENT EXECUTE FUNCTION tell_truncate();
CREATE TRIGGER whitelist_rule_update_from_tells AFTER UPDATE ON whitelist_rule REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION tell_credential_part_change();
CREATE TRIGGER whitelist_rule_update_to_tells AFTER UPDATE ON whitelist_rule REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION tell_credential_part_change();

-- Adds two lists of counts place by place. A shorter list, or null, adds nothing at the places that it lacks.
CREATE OR REPLACE FUNCTION public.add_counts(one bigint[], other bigint[])
 RETURNS bigint[]
 LANGUAGE sql
 IMMUTABLE
AS $function$
  SELECT CASE WHEN one IS NULL THEN other WHEN other IS NULL THEN one ELSE ARRAY(
    SELECT COALESCE(before, 0) + COALESCE(more, 0) FROM unnest(one, other) WITH ORDINALITY AS each (before, more, place) ORDER BY place
  ) END
$function$;

-- Adds one invoice to the sums of a state, or subtracts it.
CREATE OR REPLACE FUNCTION public.add_invoice_sum(p_invoice uuid, p_state text, p_sign integer)
 RETURNS void
 LANGUAGE sql
AS $function$
  INSERT INTO invoice_sum AS known (month, currency, due_on, state, invoices, total)
  SELECT month, currency, due_on, p_state, p_sign, p_sign * total FROM invoice WHERE id = p_invoice
  ON CONFLICT (month, currency, due_on, state) DO UPDATE
    SET invoices = known.invoices + excluded.invoices, total = known.total + excluded.total
$function$;

-- The customer that a line's subject belongs to.
CREATE OR REPLACE FUNCTION public.audit_customer_of(p_kind text, p_id text)
 RETURNS uuid
 LANGUAGE plpgsql
 STABLE
AS $function$
BEGIN
  IF p_id !~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' THEN RETURN NULL; END IF;
  RETURN CASE p_kind
    WHEN 'customer' THEN p_id::uuid
    WHEN 'credential' THEN (SELECT customer_id FROM credential WHERE id = p_id::uuid)
    WHEN 'subscription' THEN (SELECT customer_id FROM subscription WHERE id = p_id::uuid)
  END;
END $function$;

-- Deletes up to p_most of the oldest lines that are older than p_days, by their numbers: they were written in that order, so no index on
-- the time is needed. Only one process deletes at a time; another gets 0.
CREATE OR REPLACE FUNCTION public.audit_forget(p_days integer, p_most integer)
 RETURNS integer
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
DECLARE
  gone integer;
BEGIN
  IF NOT pg_try_advisory_xact_lock(720260042) THEN RETURN 0; END IF;
  DELETE FROM audit_log
  WHERE at < now() - make_interval(days => GREATEST(p_days, 90))
    AND id = ANY (ARRAY(SELECT id FROM audit_log ORDER BY id LIMIT p_most));
  GET DIAGNOSTICS gone = ROW_COUNT;
  RETURN gone;
END $function$;
REVOKE ALL ON FUNCTION audit_forget(integer,integer) FROM PUBLIC;

-- Makes the first member of an organisation its owner.
CREATE OR REPLACE FUNCTION public.begin_with_owner()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF NOT EXISTS (SELECT FROM member WHERE customer_id = NEW.customer_id AND role = 'owner') THEN
    RAISE EXCEPTION 'an organisation has an owner' USING ERRCODE = 'check_violation', CONSTRAINT = 'member_has_owner';
  END IF;
  RETURN NULL;
END $function$;

-- Ends a subscription's own price with the plan that it was agreed for, and keeps its own limits for that plan.
CREATE OR REPLACE FUNCTION public.change_own_terms()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
DECLARE
  left_plan text := COALESCE(OLD.plan_name, '');
  next_plan text := COALESCE(NEW.plan_name, '');
  known jsonb := OLD.own_limits -> next_plan;
BEGIN
  NEW.price_override := NULL;
  NEW.price_override_currency := NULL;
  NEW.own_limits := OLD.own_limits - next_plan;
  -- Limits that this statement itself sets are those of the next plan.
  IF (NEW.daily_override, NEW.monthly_override, NEW.rate_override)
    IS NOT DISTINCT FROM (OLD.daily_override, OLD.monthly_override, OLD.rate_override) THEN
    IF num_nonnulls(OLD.daily_override, OLD.monthly_override, OLD.rate_override) > 0 THEN
      NEW.own_limits := NEW.own_limits || jsonb_build_object(left_plan, jsonb_strip_nulls(jsonb_build_object(
          'daily', OLD.daily_override, 'monthly', OLD.monthly_override, 'rate', OLD.rate_override))
        || COALESCE((SELECT jsonb_build_object('reason', reason, 'set_by', set_by, 'ends_at', ends_at)
          FROM subscription_limit_term WHERE subscription_id = OLD.id), '{}'));
    END IF;
    IF (known ->> 'ends_at')::timestamptz <= now() THEN known := NULL; END IF;
    NEW.daily_override := (known ->> 'daily')::integer;
    NEW.monthly_override := (known ->> 'monthly')::integer;
    NEW.rate_override := known -> 'rate';
    DELETE FROM subscription_limit_term WHERE subscription_id = OLD.id;
    INSERT INTO subscription_limit_term (subscription_id, reason, set_by, ends_at)
      SELECT OLD.id, known ->> 'reason', known ->> 'set_by', (known ->> 'ends_at')::timestamptz WHERE known ->> 'reason' IS NOT NULL;
  ELSIF num_nonnulls(NEW.daily_override, NEW.monthly_override, NEW.rate_override) = 0 THEN
    DELETE FROM subscription_limit_term WHERE subscription_id = OLD.id;
  END IF;
  RETURN NEW;
END $function$;
REVOKE ALL ON FUNCTION change_own_terms() FROM PUBLIC;

-- Refuses subscriptions to a product without limits, and to one that is retired or only listed, unless it was just paid for.
CREATE OR REPLACE FUNCTION public.check_subscribable()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF EXISTS (
    SELECT FROM product p WHERE p.id = NEW.product_id AND (p.daily IS NULL OR NOT (p.active AND p.subscribable) AND NOT EXISTS (
      SELECT FROM paid_subscription WHERE customer_id = NEW.customer_id AND product_id = p.id AND status IS DISTINCT FROM 'ended'))
  ) THEN
    RAISE EXCEPTION 'the product cannot be subscribed to'
      USING ERRCODE = 'check_violation', CONSTRAINT = 'subscription_product_has_limits';
  END IF;
  RETURN NEW;
END $function$;

-- Address for mail to a customer: its own, while a member has it or a verified account that has joined nothing yet; otherwise its oldest
-- owner's. Null if nobody is known to read it.
CREATE OR REPLACE FUNCTION public.customer_mail_address(p_customer uuid)
 RETURNS text
 LANGUAGE sql
 STABLE
AS $function$
  SELECT COALESCE(
    (
      SELECT u.email FROM member m JOIN auth_user u ON u.id = m.user_id JOIN customer c ON c.id = m.customer_id
      WHERE m.customer_id = p_customer AND (m.role = 'owner' OR u.email = lower(c.email))
      ORDER BY (u.email = lower(c.email)) DESC, m.since, u.id LIMIT 1
    ),
    (
      SELECT u.email FROM customer c JOIN auth_user u ON u.email = lower(c.email) AND u.email_verified
      WHERE c.id = p_customer AND NOT EXISTS (SELECT FROM member WHERE customer_id = p_customer)
    )
  )
$function$;

-- Ends the terms of subscriptions that were deleted.
CREATE OR REPLACE FUNCTION public.end_terms_of_gone_subscriptions()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
BEGIN
  UPDATE subscription_term t SET until = GREATEST(now(), t.since) FROM changed c WHERE t.subscription_id = c.id AND t.until IS NULL;
  RETURN NULL;
END $function$;
REVOKE ALL ON FUNCTION end_terms_of_gone_subscriptions() FROM PUBLIC;

-- Erases an account once its 14 days are over; before that it does nothing. A person who has a session has come back, and a person who
-- became an operator is kept too. Outcomes: erased; returned (there is a session or an operator's role); waiting (not requested, not due,
-- or done already).
CREATE OR REPLACE FUNCTION public.erase_account(p_customer uuid)
 RETURNS text
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
DECLARE
  person uuid;
  address text;
  name text := 'deleted-' || p_customer || '@deleted.invalid';
BEGIN
  SELECT user_id INTO person FROM account_deletion
    WHERE customer_id = p_customer AND erased_at IS NULL AND asked_at <= now() - interval '14 days' FOR UPDATE;
  IF NOT FOUND THEN RETURN 'waiting'; END IF;
  IF EXISTS (SELECT FROM auth_session WHERE user_id = person AND expires_at > now())
    OR EXISTS (SELECT FROM operator WHERE user_id = person) THEN RETURN 'returned'; END IF;
  SELECT email INTO address FROM customer WHERE id = p_customer FOR UPDATE;

  DELETE FROM decision WHERE customer_id = p_customer;
  DELETE FROM denial_count WHERE credential_id IN (SELECT id FROM credential WHERE customer_id = p_customer);
  DELETE FROM key_hour WHERE credential_id IN (SELECT id FROM credential WHERE customer_id = p_customer);
  DELETE FROM customer_day WHERE customer_id = p_customer;
  DELETE FROM change_confirmation WHERE credential_id IN (SELECT id FROM credential WHERE customer_id = p_customer);
  DELETE FROM outbox_mail WHERE lower(recipient) = lower(address);
  DELETE FROM status_subscription WHERE email = lower(address);
  -- The cascade deletes their deliveries, rules, products, terms of limits and suspensions.
  DELETE FROM webhook WHERE customer_id = p_customer;
  DELETE FROM alert WHERE customer_id = p_customer;
  DELETE FROM credential WHERE customer_id = p_customer;
  DELETE FROM subscription WHERE customer_id = p_customer;
  DELETE FROM alert_preference WHERE customer_id = p_customer;
  DELETE FROM outbox WHERE subject = p_customer OR subject IN (SELECT id FROM plan_request WHERE customer_id = p_customer);
  DELETE FROM plan_request WHERE customer_id = p_customer;
  DELETE FROM consent WHERE customer_id = p_customer;
  DELETE FROM admin_token WHERE customer_id = p_customer;
  DELETE FROM submission WHERE customer_id = p_customer;
  DELETE FROM customer_limit WHERE customer_id = p_customer;
  DELETE FROM customer_note WHERE customer_id = p_customer;
  DELETE FROM suspension WHERE customer_id = p_customer;
  -- Events for the seller name the account by its number as well.
  UPDATE webhook_delivery SET data = data || jsonb_build_object('customer', name) WHERE data ->> 'customer_id' = p_customer::text;
  DELETE FROM auth_verification WHERE position(person::text IN value) > 0 OR position(lower(address) IN lower(identifier || value)) > 0;
  DELETE FROM auth_user WHERE id = person;
  UPDATE customer SET email = name, display_name = NULL WHERE id = p_customer;
  UPDATE account_deletion SET erased_at = now(), user_id = NULL, keys = '{}', subscriptions = '{}' WHERE customer_id = p_customer;
  PERFORM erase_from_audit_log(p_customer, address, name);
  INSERT INTO audit_log (actor, action, subject_kind, subject_id) VALUES ('system', 'account.erase', 'customer', p_customer::text);
  RETURN 'erased';
END $function$;
REVOKE ALL ON FUNCTION erase_account(uuid) FROM PUBLIC;

-- Erases the billing details together with the account. Invoices stay, because the law requires it.
CREATE OR REPLACE FUNCTION public.erase_billing_details()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  DELETE FROM outbox_mail WHERE lower(recipient) = (SELECT lower(email) FROM billing_details WHERE customer_id = NEW.customer_id);
  DELETE FROM billing_details WHERE customer_id = NEW.customer_id;
  RETURN NULL;
END $function$;

-- Removes a person from the audit log: every address that the person has had, the network addresses of changes, and everything that was
-- typed.
CREATE OR REPLACE FUNCTION public.erase_from_audit_log(p_customer uuid, p_address text, p_name text)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
DECLARE
  actors text[] := ARRAY['dashboard:' || p_address, 'dashboard:' || lower(p_address)] || ARRAY(
    SELECT 'dashboard:' || (details ->> 'before') FROM audit_log WHERE customer_id = p_customer AND action = 'account.email_change'
  );
BEGIN
  PERFORM set_config('tollgate.erasing', 'on', true);
  UPDATE audit_log SET
    details = '{}',
    from_address = CASE WHEN actor ~ '^(dashboard|token):' THEN NULL ELSE from_address END,
    actor = CASE WHEN actor LIKE 'dashboard:%' THEN 'dashboard:' || p_name WHEN actor LIKE 'token:%' THEN 'token:erased' ELSE actor END
  WHERE customer_id = p_customer;
  -- The person's actions elsewhere.
  UPDATE audit_log SET from_address = NULL, actor = 'dashboard:' || p_name WHERE actor = ANY (actors);
  PERFORM set_config('tollgate.erasing', 'off', true);
END $function$;
REVOKE ALL ON FUNCTION erase_from_audit_log(uuid,text,text) FROM PUBLIC;

-- Erases a person once the 14 days are over; before that it does nothing. Organisations keep what was done in them, without the person,
-- under the present address and earlier ones. Outcomes: as in erase_account; a membership counts as a return.
CREATE OR REPLACE FUNCTION public.erase_person(p_user uuid)
 RETURNS text
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
DECLARE
  addresses text[];
  each text;
  name text := 'deleted-' || p_user || '@deleted.invalid';
BEGIN
  PERFORM FROM person_deletion WHERE user_id = p_user AND asked_at <= now() - interval '14 days' FOR UPDATE;
  IF NOT FOUND THEN RETURN 'waiting'; END IF;
  IF EXISTS (SELECT FROM auth_session WHERE user_id = p_user AND expires_at > now())
    OR EXISTS (SELECT FROM member WHERE user_id = p_user)
    OR EXISTS (SELECT FROM operator WHERE user_id = p_user) THEN RETURN 'returned'; END IF;
  WITH RECURSIVE known (address) AS (
    SELECT email FROM auth_user WHERE id = p_user
    UNION
    SELECT details ->> 'before' FROM audit_log JOIN known ON details ->> 'after' = known.address WHERE action = 'account.email_change'
  ) SELECT array_agg(address) INTO addresses FROM known;

  FOREACH each IN ARRAY addresses LOOP
    DELETE FROM outbox_mail WHERE lower(recipient) = lower(each);
    DELETE FROM status_subscription WHERE email = lower(each);
    DELETE FROM auth_verification WHERE position(lower(each) IN lower(identifier || value)) > 0;
    DELETE FROM invitation WHERE email = lower(each);
    PERFORM erase_from_audit_log(NULL, each, name);
  END LOOP;
  DELETE FROM auth_verification WHERE position(p_user::text IN value) > 0;
  DELETE FROM auth_user WHERE id = p_user;
  RETURN 'erased';
END $function$;
REVOKE ALL ON FUNCTION erase_person(uuid) FROM PUBLIC;

-- Fills in the customer that a line belongs to.
CREATE OR REPLACE FUNCTION public.fill_audit_customer()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  NEW.customer_id := audit_customer_of(NEW.subject_kind, NEW.subject_id);
  RETURN NEW;
END $function$;

-- Fills in the name by which people know the line's key or subscription.
CREATE OR REPLACE FUNCTION public.fill_audit_label()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF NEW.subject_id ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' THEN
    NEW.label := CASE NEW.subject_kind
      WHEN 'credential' THEN (SELECT prefix || '…' || last_four FROM credential WHERE id = NEW.subject_id::uuid)
      WHEN 'subscription' THEN (SELECT product_id FROM subscription WHERE id = NEW.subject_id::uuid)
    END;
  END IF;
  RETURN NEW;
END $function$;

-- Removes an old address and name from the list at once: they may be the data to erase.
CREATE OR REPLACE FUNCTION public.forget_customer_listing()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
BEGIN
  DELETE FROM customer_listing WHERE customer_id = NEW.id;
  RETURN NULL;
END $function$;
REVOKE ALL ON FUNCTION forget_customer_listing() FROM PUBLIC;

-- When an account is deleted, deletes the invitations to its address, and those of an organisation that has no other member.
CREATE OR REPLACE FUNCTION public.forget_invitations()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  DELETE FROM invitation i WHERE i.email = OLD.email OR i.customer_id IN (
    SELECT m.customer_id FROM member m
    WHERE m.user_id = OLD.id AND NOT EXISTS (SELECT FROM member o WHERE o.customer_id = m.customer_id AND o.user_id <> OLD.id)
  );
  RETURN OLD;
END $function$;

-- Ensures that an organisation with members has an owner. It locks the customer first: when two owners leave at once, the second waits and
-- then sees that the first has left.
CREATE OR REPLACE FUNCTION public.keep_an_owner()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  PERFORM 1 FROM customer WHERE id = OLD.customer_id FOR NO KEY UPDATE;
  IF EXISTS (SELECT FROM member WHERE customer_id = OLD.customer_id)
    AND NOT EXISTS (SELECT FROM member WHERE customer_id = OLD.customer_id AND role = 'owner') THEN
    RAISE EXCEPTION 'an organisation has an owner' USING ERRCODE = 'check_violation', CONSTRAINT = 'member_has_owner';
  END IF;
  RETURN NULL;
END $function$;

-- Records the terms of subscriptions that were made or changed.
CREATE OR REPLACE FUNCTION public.keep_changed_subscriptions()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
BEGIN
  PERFORM keep_subscription_terms(ARRAY(SELECT id FROM changed));
  RETURN NULL;
END $function$;
REVOKE ALL ON FUNCTION keep_changed_subscriptions() FROM PUBLIC;

-- A revoked key stays revoked, and a key's hash, customer and mode never change.
CREATE OR REPLACE FUNCTION public.keep_credential_final()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF OLD.state = 'revoked' AND NEW.state <> 'revoked' THEN
    RAISE EXCEPTION 'a revoked key cannot be used again' USING ERRCODE = 'check_violation', CONSTRAINT = 'credential_revoked_is_final';
  END IF;
  IF NEW.hash <> OLD.hash OR NEW.customer_id <> OLD.customer_id OR NEW.mode <> OLD.mode THEN
    RAISE EXCEPTION 'hash, customer and mode of a key never change' USING ERRCODE = 'check_violation', CONSTRAINT = 'credential_identity_is_fixed';
  END IF;
  RETURN NEW;
END $function$;

-- Copies a key's customer and age, which never change, to its products and tags: one index then lists keys by product or tag in order.
CREATE OR REPLACE FUNCTION public.keep_key_order()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  SELECT k.customer_id, k.created_at INTO NEW.customer_id, NEW.created_at FROM credential k WHERE k.id = NEW.credential_id;
  RETURN NEW;
END $function$;

-- Ends the terms of these subscriptions that no longer apply, and begins those that do.
CREATE OR REPLACE FUNCTION public.keep_subscription_terms(p_subscriptions uuid[])
 RETURNS void
 LANGUAGE plpgsql
AS $function$
DECLARE
  due subscription_term[];
BEGIN
  -- Waits for a price that is changing at this time: either the new price counts here, or its own trigger finds these subscriptions.
  PERFORM 1 FROM plan WHERE (product_id, name) IN (SELECT product_id, plan_name FROM subscription WHERE id = ANY (p_subscriptions))
    ORDER BY product_id, name FOR SHARE;
  PERFORM 1 FROM product WHERE id IN (SELECT product_id FROM subscription WHERE id = ANY (p_subscriptions)) ORDER BY id FOR SHARE;
  due := ARRAY(
    SELECT ROW(
      0, s.id, s.customer_id, s.product_id, s.plan_name, now_.price, now_.currency, now_.daily, now_.monthly, s.state, now(), NULL, now_.overage
    )::subscription_term
    FROM subscription s JOIN product p ON p.id = s.product_id
    LEFT JOIN plan l ON l.product_id = s.product_id AND l.name = s.plan_name
    LEFT JOIN subscription_term t ON t.subscription_id = s.id AND t.until IS NULL
    CROSS JOIN LATERAL (
      SELECT
        CASE WHEN s.plan_name IS NULL THEN 0.00
          ELSE COALESCE(CASE WHEN s.price_override_currency = l.currency THEN s.price_override END, l.price, 0.00) END AS price,
        CASE WHEN s.plan_name IS NOT NULL THEN l.currency END AS currency,
        COALESCE(s.daily_override, l.daily, p.daily, 0) AS daily, COALESCE(s.monthly_override, l.monthly, p.monthly, 0) AS monthly,
        overage_of(l.overage, s.daily_override, s.monthly_override) AS overage
    ) AS now_
    WHERE s.id = ANY (p_subscriptions)
      AND (t.plan_name, t.price, t.currency, t.daily, t.monthly, t.state, t.overage)
        IS DISTINCT FROM (s.plan_name, now_.price, now_.currency, now_.daily, now_.monthly, s.state, now_.overage)
    ORDER BY s.id
  );
  -- A term that began in this transaction was never in force.
  DELETE FROM subscription_term t USING unnest(due) AS d
    WHERE t.subscription_id = d.subscription_id AND t.until IS NULL AND t.since = now();
  UPDATE subscription_term t SET until = GREATEST(now(), t.since) FROM unnest(due) AS d
    WHERE t.subscription_id = d.subscription_id AND t.until IS NULL;
  INSERT INTO subscription_term (
    subscription_id, customer_id, product_id, plan_name, price, currency, daily, monthly, state, since, overage
  )
  SELECT d.subscription_id, d.customer_id, d.product_id, d.plan_name, d.price, d.currency, d.daily, d.monthly, d.state,
    -- Filtered by the customer, because there is an index for it.
    COALESCE((SELECT max(t.until) FROM subscription_term t WHERE t.customer_id = d.customer_id AND t.subscription_id = d.subscription_id), now()),
    d.overage
  FROM unnest(due) AS d;
END $function$;

-- Records the terms of subscriptions whose plan changed.
CREATE OR REPLACE FUNCTION public.keep_subscriptions_of_plans()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
BEGIN
  PERFORM keep_subscription_terms(ARRAY(
    SELECT s.id FROM changed c JOIN subscription s ON s.product_id = c.product_id AND s.plan_name = c.name
  ));
  RETURN NULL;
END $function$;
REVOKE ALL ON FUNCTION keep_subscriptions_of_plans() FROM PUBLIC;

-- Records the terms of subscriptions whose base limits changed.
CREATE OR REPLACE FUNCTION public.keep_subscriptions_of_products()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
BEGIN
  PERFORM keep_subscription_terms(ARRAY(SELECT s.id FROM changed c JOIN subscription s ON s.product_id = c.id AND s.plan_name IS NULL));
  RETURN NULL;
END $function$;
REVOKE ALL ON FUNCTION keep_subscriptions_of_products() FROM PUBLIC;

-- Lists issued invoices as unpaid, and removes those that a credit note takes back.
CREATE OR REPLACE FUNCTION public.keep_unpaid_invoices()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
BEGIN
  INSERT INTO invoice_unpaid (place, invoice_id, due_on) SELECT place, id, due_on FROM added WHERE kind = 'invoice' AND payment IS NULL;
  DELETE FROM invoice_unpaid WHERE invoice_id IN (SELECT corrects FROM added WHERE kind = 'credit_note');
  RETURN NULL;
END $function$;
REVOKE ALL ON FUNCTION keep_unpaid_invoices() FROM PUBLIC;

-- Adds the products' responses to key_hour and customer_day. Nodes also write hours before days, and both sort their rows, so that all lock
-- in one order.
CREATE OR REPLACE FUNCTION public.note_answers(p_rows json)
 RETURNS void
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
  INSERT INTO key_hour AS old (credential_id, day, hour, product_id, succeeded, rejected, failed, abandoned, took)
  SELECT "credentialId", day, hour, product, succeeded, rejected, failed, abandoned, took
  FROM json_to_recordset(p_rows) AS row("credentialId" uuid, day date, hour smallint, product text, succeeded bigint, rejected bigint,
    failed bigint, abandoned bigint, took integer[])
  ORDER BY 1, 2, 3, 4
  ON CONFLICT (credential_id, day, hour, product_id) DO UPDATE SET
    succeeded = COALESCE(old.succeeded, 0) + excluded.succeeded, rejected = COALESCE(old.rejected, 0) + excluded.rejected,
    failed = COALESCE(old.failed, 0) + excluded.failed, abandoned = COALESCE(old.abandoned, 0) + excluded.abandoned,
    took = add_counts(old.took::bigint[], excluded.took::bigint[])::integer[];
  INSERT INTO customer_day AS old (customer_id, day, product_id, succeeded, rejected, failed, abandoned, took)
  SELECT customer_id, day, product, sum(succeeded), sum(rejected), sum(failed), sum(abandoned), sum_counts(took::bigint[])
  FROM json_to_recordset(p_rows) AS row("credentialId" uuid, day date, product text, succeeded bigint, rejected bigint, failed bigint,
    abandoned bigint, took integer[]) JOIN credential ON credential.id = "credentialId"
  GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
  ON CONFLICT (customer_id, day, product_id) DO UPDATE SET
    succeeded = COALESCE(old.succeeded, 0) + excluded.succeeded, rejected = COALESCE(old.rejected, 0) + excluded.rejected,
    failed = COALESCE(old.failed, 0) + excluded.failed, abandoned = COALESCE(old.abandoned, 0) + excluded.abandoned,
    took = add_counts(old.took, excluded.took);
$function$;
REVOKE ALL ON FUNCTION note_answers(json) FROM PUBLIC;

-- Notes customers whose lines in customer_listing are out of date. Its argument names the column with the customer.
CREATE OR REPLACE FUNCTION public.note_changed_customers()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
BEGIN
  INSERT INTO customer_changed (customer_id)
  SELECT DISTINCT (to_jsonb(changed) ->> TG_ARGV[0])::uuid FROM changed WHERE to_jsonb(changed) ->> TG_ARGV[0] IS NOT NULL;
  RETURN NULL;
END $function$;
REVOKE ALL ON FUNCTION note_changed_customers() FROM PUBLIC;

-- Adds the responses to lines of the log. A plugin server calls it; the first report counts.
CREATE OR REPLACE FUNCTION public.note_requests(p_rows json)
 RETURNS void
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
  UPDATE decision SET status = answered.status, milliseconds = answered.milliseconds, bytes = answered.bytes, units = answered.units,
    is_from_api = answered."isFromApi"
  FROM json_to_recordset(p_rows)
    AS answered ("requestId" text, status smallint, milliseconds integer, bytes bigint, units integer, "isFromApi" boolean)
  WHERE decision.request_id = answered."requestId" AND decision.outcome = 'admitted' AND decision.status IS NULL
$function$;
REVOKE ALL ON FUNCTION note_requests(json) FROM PUBLIC;

-- Gives an invoice the next number of its series, in the transaction that issues it.
CREATE OR REPLACE FUNCTION public.number_invoice()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
BEGIN
  INSERT INTO invoice_series AS s (name, last) VALUES (NEW.series, 1)
    ON CONFLICT (name) DO UPDATE SET last = s.last + 1 RETURNING last INTO NEW.serial;
  NEW.number := NEW.series || '-' || lpad(NEW.serial::text, GREATEST(6, length(NEW.serial::text)), '0');
  RETURN NEW;
END $function$;
REVOKE ALL ON FUNCTION number_invoice() FROM PUBLIC;

-- What a plan sells above its limits, for a subscription with its own limits: requests up to those are included, and requests above them
-- are refused.
CREATE OR REPLACE FUNCTION public.overage_of(p_overage jsonb, p_daily integer, p_monthly integer)
 RETURNS jsonb
 LANGUAGE sql
 IMMUTABLE
AS $function$
  SELECT CASE WHEN p_overage IS NOT NULL THEN
    p_overage || jsonb_strip_nulls(jsonb_build_object('daily', p_daily, 'monthly', p_monthly))
  END
$function$;

-- Puts new deliveries into the outbox.
CREATE OR REPLACE FUNCTION public.queue_deliveries()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  INSERT INTO outbox (kind, subject, lane) SELECT 'webhook', id, webhook_id FROM made WHERE state = 'waiting' ORDER BY number;
  RETURN NULL;
END $function$;

-- Deletes refunds that are too old to prove anything. It takes no day as an argument, or its callers could have a request given back twice.
-- Eight days of UTC are at least seven days in every time zone.
CREATE OR REPLACE FUNCTION public.quota_forget_refunds()
 RETURNS void
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
  DELETE FROM quota_refund WHERE day < (now() AT TIME ZONE 'UTC')::date - 8;
  DELETE FROM rate_debt WHERE at_us < extract(epoch FROM now() - interval '2 days') * 1000000
$function$;
REVOKE ALL ON FUNCTION quota_forget_refunds() FROM PUBLIC;

-- Gives units back, once per request id. A null id is for units that were granted too late to be used: the caller makes sure that it asks
-- once. p_exempt: the catalogue exempts the request. p_most: maximum given back for requests of that kind, subscription and day; null if no
-- request used the units. Outcomes: refunded; repeated (this request was given back before); capped (p_most is reached); uncharged (no such
-- units are known, or the day is too old).
CREATE OR REPLACE FUNCTION public.quota_give_back(p_requests text[], p_subscriptions uuid[], p_days date[], p_units bigint[], p_zone text, p_offset double precision, p_most bigint[], p_exempt boolean[])
 RETURNS TABLE(place bigint, outcome text, day_redis bigint, day_postgres bigint, day_refunded bigint, month_redis bigint, month_postgres bigint, month_refunded bigint)
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
DECLARE
  given record;
  oldest date := ((clock_timestamp() + make_interval(secs => p_offset)) AT TIME ZONE p_zone)::date - 1;
BEGIN
  FOR given IN
    SELECT * FROM unnest(p_requests, p_subscriptions, p_days, p_units, p_most, p_exempt)
      WITH ORDINALITY AS each (request, subscription, day, units, most, exempt, place)
    ORDER BY subscription, day, request
  LOOP
    place := given.place;
    outcome := 'refunded';
    IF given.day < oldest THEN
      outcome := 'uncharged';
    ELSIF given.request IS NOT NULL THEN
      INSERT INTO quota_refund (request_id, day, units) VALUES (given.request, given.day, given.units) ON CONFLICT DO NOTHING;
      IF NOT FOUND THEN outcome := 'repeated'; END IF;
    END IF;
    IF outcome = 'refunded' THEN
      -- Both conditions are checked under the row's lock, so concurrent refunds wait for one another.
      UPDATE usage
        SET refunded = refunded + given.units,
            refunded_requests = refunded_requests + CASE WHEN given.most IS NULL OR given.exempt THEN 0 ELSE given.units END,
            refunded_exempt = refunded_exempt + CASE WHEN given.exempt THEN given.units ELSE 0 END,
            refunded_unused = refunded_unused + CASE WHEN given.most IS NULL THEN given.units ELSE 0 END
        WHERE subscription_id = given.subscription AND day = given.day
          AND refunded + given.units <= spent_redis + spent_postgres
          AND (given.most IS NULL OR CASE WHEN given.exempt THEN refunded_exempt ELSE refunded_requests END + given.units <= given.most);
      IF NOT FOUND THEN
        -- The counts only grow: a refund that is capped now was capped then.
        outcome := CASE WHEN EXISTS (
          SELECT FROM usage
          WHERE subscription_id = given.subscription AND day = given.day
            AND CASE WHEN given.exempt THEN refunded_exempt ELSE refunded_requests END + given.units > given.most
        ) THEN 'capped' ELSE 'uncharged' END;
        DELETE FROM quota_refund WHERE request_id = given.request;
      END IF;
    END IF;
    SELECT parts.* INTO day_redis, day_postgres, day_refunded, month_redis, month_postgres, month_refunded
      FROM quota_parts(given.subscription, given.day) AS parts;
    RETURN NEXT;
  END LOOP;
END $function$;
REVOKE ALL ON FUNCTION quota_give_back(text[],uuid[],date[],bigint[],text,double precision,bigint[],boolean[]) FROM PUBLIC;

-- Keeps Redis's figures as nodes saw them: the larger figure wins. Rows are locked in key order, as in every function here, so that nothing
-- deadlocks.
CREATE OR REPLACE FUNCTION public.quota_keep(p_subscriptions uuid[], p_days date[], p_redis bigint[], p_postgres bigint[])
 RETURNS void
 LANGUAGE sql
AS $function$
  INSERT INTO usage AS known (subscription_id, day, spent_redis, spent_postgres)
  SELECT subscription, day, max(redis), max(postgres)
  FROM unnest(p_subscriptions, p_days, p_redis, p_postgres) AS seen (subscription, day, redis, postgres)
  WHERE redis > 0 OR postgres > 0
  GROUP BY subscription, day
  ORDER BY subscription, day
  ON CONFLICT (subscription_id, day) DO UPDATE
    SET spent_redis = GREATEST(known.spent_redis, excluded.spent_redis),
        spent_postgres = GREATEST(known.spent_postgres, excluded.spent_postgres)
    WHERE excluded.spent_redis > known.spent_redis OR excluded.spent_postgres > known.spent_postgres
$function$;

-- The figures of a counter for one day, and for that day's month.
CREATE OR REPLACE FUNCTION public.quota_parts(p_subscription uuid, p_day date, OUT day_redis bigint, OUT day_postgres bigint, OUT day_refunded bigint, OUT month_redis bigint, OUT month_postgres bigint, OUT month_refunded bigint)
 RETURNS record
 LANGUAGE sql
 STABLE
AS $function$
  SELECT
    COALESCE(sum(spent_redis) FILTER (WHERE day = p_day), 0)::bigint,
    COALESCE(sum(spent_postgres) FILTER (WHERE day = p_day), 0)::bigint,
    COALESCE(sum(refunded) FILTER (WHERE day = p_day), 0)::bigint,
    COALESCE(sum(spent_redis), 0)::bigint,
    COALESCE(sum(spent_postgres), 0)::bigint,
    COALESCE(sum(refunded), 0)::bigint
  FROM usage
  WHERE subscription_id = p_subscription
    AND day >= date_trunc('month', p_day::timestamp)::date
    AND day < (date_trunc('month', p_day::timestamp) + interval '1 month')::date
$function$;

-- Takes more units from a day, past its limits, once per id. Units are given back by a refund, with a cap. Outcomes: settled; repeated
-- (this id was settled before); uncharged (no units are known to have been taken, or the day is too old).
CREATE OR REPLACE FUNCTION public.quota_settle(p_ids text[], p_subscriptions uuid[], p_days date[], p_units bigint[], p_zone text, p_offset double precision)
 RETURNS TABLE(place bigint, outcome text, day_redis bigint, day_postgres bigint, day_refunded bigint, month_redis bigint, month_postgres bigint, month_refunded bigint)
 LANGUAGE plpgsql
AS $function$
DECLARE
  given record;
  oldest date := ((clock_timestamp() + make_interval(secs => p_offset)) AT TIME ZONE p_zone)::date - 1;
BEGIN
  FOR given IN
    SELECT * FROM unnest(p_ids, p_subscriptions, p_days, p_units) WITH ORDINALITY AS each (id, subscription, day, units, place)
    ORDER BY subscription, day, id
  LOOP
    place := given.place;
    outcome := 'uncharged';
    IF given.day >= oldest THEN
      INSERT INTO quota_refund (request_id, day, units) VALUES (given.id, given.day, given.units) ON CONFLICT DO NOTHING;
      IF NOT FOUND THEN
        outcome := 'repeated';
      ELSE
        UPDATE usage
          SET spent_postgres = spent_postgres + given.units
          WHERE subscription_id = given.subscription AND day = given.day;
        IF FOUND THEN
          outcome := 'settled';
        ELSE
          DELETE FROM quota_refund WHERE request_id = given.id;
        END IF;
      END IF;
    END IF;
    SELECT parts.* INTO day_redis, day_postgres, day_refunded, month_redis, month_postgres, month_refunded
      FROM quota_parts(given.subscription, given.day) AS parts;
    RETURN NEXT;
  END LOOP;
END $function$;

-- Calls quota_keep, then returns the present figures of each subscription.
CREATE OR REPLACE FUNCTION public.quota_sync(p_subscriptions uuid[], p_days date[], p_redis bigint[], p_postgres bigint[])
 RETURNS TABLE(place bigint, day_redis bigint, day_postgres bigint, day_refunded bigint, month_redis bigint, month_postgres bigint, month_refunded bigint)
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
BEGIN
  -- If this server crashes, lost usage is written again within a second; no request should wait for the disk.
  PERFORM set_config('synchronous_commit', 'off', true);
  PERFORM quota_keep(p_subscriptions, p_days, p_redis, p_postgres);
  RETURN QUERY
    SELECT asked.place, parts.*
    FROM unnest(p_subscriptions, p_days) WITH ORDINALITY AS asked (subscription, day, place),
      LATERAL quota_parts(asked.subscription, asked.day) AS parts;
END $function$;
REVOKE ALL ON FUNCTION quota_sync(uuid[],date[],bigint[],bigint[]) FROM PUBLIC;

-- Takes up to p_units of each subscription from day and month together; if fewer than p_least are left, none. The lock covers the whole
-- subscription, not the day's row: two takes on either side of midnight share the month. p_offset shifts this server's clock, in seconds.
-- The p_seen arrays (empty, or null if nothing was seen) are kept as by quota_keep, but under the lock: a caller's own units must count
-- before it takes more. p_pace and p_burst are those of plugins/core/access/rate.ts, p_pace 0 if there is no rate: a request that comes too
-- fast is refused. The returned debt is the one after the take.
CREATE OR REPLACE FUNCTION public.quota_take(p_subscriptions uuid[], p_units bigint[], p_daily bigint[], p_monthly bigint[], p_zone text, p_offset double precision, p_seen_days date[], p_seen_redis bigint[], p_seen_postgres bigint[], p_least bigint[], p_pace bigint[], p_burst bigint[])
 RETURNS TABLE(place bigint, granted bigint, day date, day_redis bigint, day_postgres bigint, day_refunded bigint, month_redis bigint, month_postgres bigint, month_refunded bigint, debt bigint)
 LANGUAGE plpgsql
AS $function$
#variable_conflict use_column
DECLARE
  wanted record;
  present timestamptz;
  now_us bigint;
  known_us bigint;
  elapsed_us bigint;
  requests bigint;
  room bigint;
BEGIN
  PERFORM set_config('synchronous_commit', 'off', true);
  FOR wanted IN
    SELECT * FROM unnest(p_subscriptions, p_units, p_daily, p_monthly, p_seen_days, p_seen_redis, p_seen_postgres, p_least, p_pace, p_burst)
      WITH ORDINALITY AS each (subscription, units, daily, monthly, seen_day, seen_redis, seen_postgres, least_units, pace, burst, place)
    ORDER BY subscription
  LOOP
    IF wanted.units > 0 THEN
      PERFORM pg_advisory_xact_lock(uuid_hash_extended(wanted.subscription, 0));
    END IF;
    IF wanted.seen_day IS NOT NULL THEN
      PERFORM quota_keep(ARRAY[wanted.subscription], ARRAY[wanted.seen_day], ARRAY[wanted.seen_redis], ARRAY[wanted.seen_postgres]);
    END IF;
    place := wanted.place;
    present := clock_timestamp() + make_interval(secs => p_offset);
    day := (present AT TIME ZONE p_zone)::date;
    SELECT parts.* INTO day_redis, day_postgres, day_refunded, month_redis, month_postgres, month_refunded
      FROM quota_parts(wanted.subscription, quota_take.day) AS parts;
    granted := GREATEST(0, LEAST(
      wanted.units,
      wanted.daily - GREATEST(0, day_redis + day_postgres - day_refunded),
      wanted.monthly - GREATEST(0, month_redis + month_postgres - month_refunded)
    ));
    IF granted < wanted.least_units THEN
      granted := 0;
    END IF;
    debt := NULL;
    IF wanted.pace > 0 THEN
      now_us := (extract(epoch FROM present) * 1000000)::bigint;
      SELECT known.debt, known.at_us INTO debt, known_us FROM rate_debt known WHERE subscription_id = wanted.subscription;
      debt := LEAST(COALESCE(debt, 0), wanted.burst * 60000000);
      elapsed_us := GREATEST(0, now_us - COALESCE(known_us, now_us));
      debt := CASE WHEN elapsed_us > debt / wanted.pace THEN 0 ELSE debt - elapsed_us * wanted.pace END;
      room := wanted.burst - (debt + 59999999) / 60000000;
      requests := CASE WHEN wanted.least_units > 0 THEN LEAST(granted, 1) ELSE granted END;
      IF requests > room THEN
        requests := CASE WHEN wanted.least_units > 0 THEN 0 ELSE room END;
        granted := requests;
      END IF;
      debt := debt + requests * 60000000;
      -- If the clock was set back, the rate starts anew: otherwise the debt would stand until that time comes again.
      IF requests > 0 OR now_us < known_us THEN
        INSERT INTO rate_debt AS known (subscription_id, at_us, debt) VALUES (wanted.subscription, now_us, quota_take.debt)
          ON CONFLICT (subscription_id) DO UPDATE SET at_us = excluded.at_us, debt = excluded.debt;
      END IF;
    END IF;
    IF granted > 0 THEN
      INSERT INTO usage AS known (subscription_id, day, spent_postgres) VALUES (wanted.subscription, quota_take.day, granted)
        ON CONFLICT (subscription_id, day) DO UPDATE SET spent_postgres = known.spent_postgres + excluded.spent_postgres;
      day_postgres := day_postgres + granted;
      month_postgres := month_postgres + granted;
    END IF;
    RETURN NEXT;
  END LOOP;
END $function$;

-- Refuses changes of the log. Two changes are left to the row triggers, which see what the statement trigger cannot: deleting old lines,
-- and removing an erased person from lines, which lasts as long as the setting tollgate.erasing.
CREATE OR REPLACE FUNCTION public.refuse_audit_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF TG_OP = 'DELETE' AND TG_LEVEL = 'STATEMENT' THEN RETURN NULL; END IF;
  IF TG_OP = 'UPDATE' AND TG_LEVEL = 'STATEMENT' AND current_setting('tollgate.erasing', true) = 'on' THEN RETURN NULL; END IF;
  RAISE EXCEPTION 'the audit log is only ever appended to' USING ERRCODE = 'check_violation', CONSTRAINT = 'audit_log_is_append_only';
END $function$;

-- Refuses every change of an invoice, and of a recorded payment.
CREATE OR REPLACE FUNCTION public.refuse_invoice_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  RAISE EXCEPTION 'an invoice stays as it was issued' USING ERRCODE = 'check_violation', CONSTRAINT = 'invoice_is_final';
END $function$;

-- Refuses every change of a closed statement.
CREATE OR REPLACE FUNCTION public.refuse_statement_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  RAISE EXCEPTION 'a closed statement stays as it is' USING ERRCODE = 'check_violation', CONSTRAINT = 'statement_is_final';
END $function$;

-- Removes invoices that are paid from the list of unpaid ones.
CREATE OR REPLACE FUNCTION public.remove_paid_invoices()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
BEGIN
  DELETE FROM invoice_unpaid WHERE invoice_id IN (SELECT invoice_id FROM added);
  RETURN NULL;
END $function$;
REVOKE ALL ON FUNCTION remove_paid_invoices() FROM PUBLIC;

-- Notifies the seller of limits that are used up.
CREATE OR REPLACE FUNCTION public.seller_hears_of_alerts()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
BEGIN
  IF NOT EXISTS (SELECT FROM webhook WHERE customer_id IS NULL) THEN RETURN NULL; END IF;
  PERFORM tell_seller('quota.reached', jsonb_build_object(
    'subscription_id', s.id, 'customer_id', c.id, 'customer', c.email, 'product', s.product_id,
    'window', CASE made.kind WHEN 'quota_daily' THEN 'daily' ELSE 'monthly' END, 'used', made.used, 'limit', made.quota_limit,
    'period', to_char(made.period, CASE made.kind WHEN 'quota_daily' THEN 'YYYY-MM-DD' ELSE 'YYYY-MM' END)
  )) FROM made JOIN customer c ON c.id = made.customer_id JOIN subscription s ON s.id = made.subscription_id
  WHERE made.kind IN ('quota_daily', 'quota_monthly') AND made.percent = 100 AND NOT made.is_included;
  RETURN NULL;
END $function$;
REVOKE ALL ON FUNCTION seller_hears_of_alerts() FROM PUBLIC;

-- Notifies the seller of new customers.
CREATE OR REPLACE FUNCTION public.seller_hears_of_customers()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
BEGIN
  IF NOT EXISTS (SELECT FROM webhook WHERE customer_id IS NULL) THEN RETURN NULL; END IF;
  PERFORM tell_seller('customer.created', jsonb_build_object('customer_id', id, 'customer', email)) FROM made;
  RETURN NULL;
END $function$;
REVOKE ALL ON FUNCTION seller_hears_of_customers() FROM PUBLIC;

-- Notifies the seller when a product begins to fail, and when it works again.
CREATE OR REPLACE FUNCTION public.seller_hears_of_outages()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
BEGIN
  PERFORM tell_seller(
    CASE WHEN NEW.ended_at IS NULL THEN 'product.failing' ELSE 'product.recovered' END,
    jsonb_build_object(
      'product', NEW.product_id, 'began_at', to_json(NEW.began_at), 'ended_at', to_json(NEW.ended_at), 'answered', NEW.answered, 'failed', NEW.failed
    )
  );
  RETURN NULL;
END $function$;
REVOKE ALL ON FUNCTION seller_hears_of_outages() FROM PUBLIC;

-- Notifies the seller of plans that customers request.
CREATE OR REPLACE FUNCTION public.seller_hears_of_requests()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
BEGIN
  IF NOT EXISTS (SELECT FROM webhook WHERE customer_id IS NULL) THEN RETURN NULL; END IF;
  PERFORM tell_seller('subscription.requested', jsonb_build_object(
    'request_id', made.id, 'customer_id', c.id, 'customer', c.email, 'product', made.product_id, 'plan', made.plan_name,
    'price', made.price::text, 'currency', made.currency, 'daily', made.daily, 'monthly', made.monthly
  )) FROM made JOIN customer c ON c.id = made.customer_id;
  RETURN NULL;
END $function$;
REVOKE ALL ON FUNCTION seller_hears_of_requests() FROM PUBLIC;

-- Notifies the seller of closed statements.
CREATE OR REPLACE FUNCTION public.seller_hears_of_statements()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
BEGIN
  IF NOT EXISTS (SELECT FROM webhook WHERE customer_id IS NULL) THEN RETURN NULL; END IF;
  PERFORM tell_seller('statement.ready', jsonb_build_object('customer_id', c.id, 'customer', c.email) || made.content)
    FROM made JOIN customer c ON c.id = made.customer_id;
  RETURN NULL;
END $function$;
REVOKE ALL ON FUNCTION seller_hears_of_statements() FROM PUBLIC;

-- Notifies the seller of suspended customers.
CREATE OR REPLACE FUNCTION public.seller_hears_of_suspensions()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
BEGIN
  IF NOT EXISTS (SELECT FROM webhook WHERE customer_id IS NULL) THEN RETURN NULL; END IF;
  PERFORM tell_seller('customer.suspended', jsonb_build_object('customer_id', c.id, 'customer', c.email, 'reason', made.reason))
    FROM made JOIN customer c ON c.id = made.customer_id;
  RETURN NULL;
END $function$;
REVOKE ALL ON FUNCTION seller_hears_of_suspensions() FROM PUBLIC;

-- Notifies the seller of each term that begins: a change of plan, limits or state, or of the plan's own price and limits.
CREATE OR REPLACE FUNCTION public.seller_hears_of_terms()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
BEGIN
  IF NOT EXISTS (SELECT FROM webhook WHERE customer_id IS NULL) THEN RETURN NULL; END IF;
  PERFORM tell_seller(
    CASE made.state WHEN 'cancelled' THEN 'subscription.cancelled' ELSE 'subscription.changed' END,
    jsonb_build_object(
      'subscription_id', made.subscription_id, 'customer_id', c.id, 'customer', c.email, 'product', made.product_id,
      'before', told_term((
        SELECT t FROM subscription_term t WHERE t.subscription_id = made.subscription_id AND t.id < made.id ORDER BY t.id DESC LIMIT 1
      )),
      'after', told_term(present)
    )
  ) FROM made JOIN customer c ON c.id = made.customer_id JOIN subscription_term present ON present.id = made.id;
  RETURN NULL;
END $function$;
REVOKE ALL ON FUNCTION seller_hears_of_terms() FROM PUBLIC;

-- Adds changes of paid charges to the sums.
CREATE OR REPLACE FUNCTION public.sum_changed_charges()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
BEGIN
  INSERT INTO payment_charge_sum AS known (provider, currency, charged_at, charges, amount, refunded)
  SELECT provider, currency, date_bin('15 minutes', charged_at, 'epoch'), sum(sign), sum(sign * amount), sum(sign * refunded)
  FROM (SELECT 1 AS sign, * FROM added UNION ALL SELECT -1, * FROM gone) AS changed
  WHERE paid_at IS NOT NULL GROUP BY 1, 2, 3 HAVING (sum(sign), sum(sign * amount), sum(sign * refunded)) <> (0, 0, 0) ORDER BY 1, 2, 3
  ON CONFLICT (provider, currency, charged_at) DO UPDATE SET charges = known.charges + excluded.charges,
    amount = known.amount + excluded.amount, refunded = known.refunded + excluded.refunded;
  RETURN NULL;
END $function$;
REVOKE ALL ON FUNCTION sum_changed_charges() FROM PUBLIC;

-- The sum of lists of counts, place by place.
CREATE AGGREGATE sum_counts(bigint[]) (SFUNC = add_counts, STYPE = bigint[]);

-- Adds paid invoices to the sums.
CREATE OR REPLACE FUNCTION public.sum_invoice_payments()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
BEGIN
  -- A credited invoice stays credited. Payments at a provider are added up by their charges.
  PERFORM add_invoice_sum(invoice_id, 'open', -1), add_invoice_sum(invoice_id, 'paid', 1)
    FROM added WHERE NOT EXISTS (SELECT FROM invoice WHERE id = invoice_id AND payment IS NOT NULL OR corrects = invoice_id AND payment IS NULL);
  RETURN NULL;
END $function$;
REVOKE ALL ON FUNCTION sum_invoice_payments() FROM PUBLIC;

-- Adds issued invoices to the sums, and those that a credit note takes back.
CREATE OR REPLACE FUNCTION public.sum_invoices()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
BEGIN
  INSERT INTO invoice_sum AS known (month, currency, due_on, state, invoices, total)
  SELECT month, currency, due_on, 'open', count(*), sum(total) FROM added WHERE kind = 'invoice' AND payment IS NULL
  GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
  ON CONFLICT (month, currency, due_on, state) DO UPDATE
    SET invoices = known.invoices + excluded.invoices, total = known.total + excluded.total;
  PERFORM add_invoice_sum(a.corrects, CASE WHEN p.invoice_id IS NULL THEN 'open' ELSE 'paid' END, -1), add_invoice_sum(a.corrects, 'credited', 1)
    FROM added a LEFT JOIN invoice_payment p ON p.invoice_id = a.corrects WHERE a.kind = 'credit_note' AND a.payment IS NULL;
  RETURN NULL;
END $function$;
REVOKE ALL ON FUNCTION sum_invoices() FROM PUBLIC;

-- Adds new paid charges to the sums.
CREATE OR REPLACE FUNCTION public.sum_payment_charges()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
BEGIN
  INSERT INTO payment_charge_sum AS known (provider, currency, charged_at, charges, amount, refunded)
  SELECT provider, currency, date_bin('15 minutes', charged_at, 'epoch'), count(*), sum(amount), sum(refunded)
  FROM added WHERE paid_at IS NOT NULL GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
  ON CONFLICT (provider, currency, charged_at) DO UPDATE SET charges = known.charges + excluded.charges,
    amount = known.amount + excluded.amount, refunded = known.refunded + excluded.refunded;
  RETURN NULL;
END $function$;
REVOKE ALL ON FUNCTION sum_payment_charges() FROM PUBLIC;

-- Notifies every node that a key changed. "at" is the time of the transaction, by which a node's confirmation names the change. One
-- transaction reports each key once.
CREATE OR REPLACE FUNCTION public.tell_credential_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  PERFORM pg_notify(
    'tollgate_changes',
    json_build_object('credential', COALESCE(NEW.id, OLD.id), 'at', now(), 'hash', told_hash(COALESCE(NEW.hash, OLD.hash)))::text
  );
  RETURN NULL;
END $function$;

-- Notifies every node that a key's products or rules changed, once per statement: a key may have 1,000 rules. The hash is null if the key
-- itself was deleted.
CREATE OR REPLACE FUNCTION public.tell_credential_part_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  PERFORM pg_notify(
    'tollgate_changes',
    json_build_object('credential', credentials.credential_id, 'at', now(), 'hash', told_hash(credential.hash))::text
  )
  FROM (SELECT DISTINCT credential_id FROM changed) AS credentials
  -- OFFSET 0 makes this a look-up for each key: for the 1,000 keys of an import, the planner would otherwise read the whole table while it
  -- is small.
  LEFT JOIN LATERAL (SELECT hash, created_at, xmin FROM credential WHERE id = credentials.credential_id OFFSET 0) AS credential ON true
  -- A key that this transaction made has been reported already.
  WHERE (credential.xmin = pg_current_xact_id()::xid AND credential.created_at = now()) IS NOT TRUE;
  RETURN NULL;
END $function$;

-- Notifies every node that a customer changed.
CREATE OR REPLACE FUNCTION public.tell_customer_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  PERFORM pg_notify('tollgate_changes', json_build_object('customer', OLD.id)::text);
  RETURN NULL;
END $function$;

-- Notifies every node of new keys, once per statement: an import makes 1,000 at once.
CREATE OR REPLACE FUNCTION public.tell_new_credentials()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  PERFORM pg_notify('tollgate_changes', json_build_object('credential', id, 'at', now(), 'hash', told_hash(hash))::text) FROM made;
  RETURN NULL;
END $function$;

-- Notifies every node that a plan changed.
CREATE OR REPLACE FUNCTION public.tell_plan_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  PERFORM pg_notify(
    'tollgate_changes',
    json_build_object('plan', COALESCE(NEW.name, OLD.name), 'product', COALESCE(NEW.product_id, OLD.product_id))::text
  );
  RETURN NULL;
END $function$;

-- Notifies every node that a product changed.
CREATE OR REPLACE FUNCTION public.tell_product_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  PERFORM pg_notify('tollgate_changes', json_build_object('product', COALESCE(NEW.id, OLD.id))::text);
  RETURN NULL;
END $function$;

-- Queues one event for every webhook of the seller that wants it. The event has the same id everywhere.
CREATE OR REPLACE FUNCTION public.tell_seller(p_event text, p_data jsonb)
 RETURNS void
 LANGUAGE sql
AS $function$
  INSERT INTO webhook_delivery (webhook_id, event_id, event, event_at, data)
  SELECT w.id, told.id, p_event, now(), p_data
  FROM (SELECT gen_random_uuid() AS id) AS told, webhook w
  WHERE w.customer_id IS NULL AND w.state = 'active' AND (w.events IS NULL OR p_event = ANY (w.events))
$function$;
REVOKE ALL ON FUNCTION tell_seller(text,jsonb) FROM PUBLIC;

-- Notifies every node that a subscription changed, and whose it is.
CREATE OR REPLACE FUNCTION public.tell_subscription_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF TG_OP <> 'INSERT' THEN
    PERFORM pg_notify('tollgate_changes', json_build_object('subscription', OLD.id, 'customer', OLD.customer_id)::text);
  END IF;
  IF TG_OP <> 'DELETE' THEN
    PERFORM pg_notify('tollgate_changes', json_build_object('subscription', NEW.id, 'customer', NEW.customer_id)::text);
  END IF;
  RETURN NULL;
END $function$;

-- Notifies every node of a suspension, as a change of the subject that it stops.
CREATE OR REPLACE FUNCTION public.tell_suspension_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
DECLARE
  stopped suspension := COALESCE(NEW, OLD);
BEGIN
  IF stopped.credential_id IS NOT NULL THEN
    PERFORM pg_notify('tollgate_changes', json_build_object('credential', id, 'at', now(), 'hash', told_hash(hash))::text)
      FROM credential WHERE id = stopped.credential_id;
  ELSIF stopped.subscription_id IS NOT NULL THEN
    PERFORM pg_notify('tollgate_changes', json_build_object('subscription', id, 'customer', customer_id)::text)
      FROM subscription WHERE id = stopped.subscription_id;
  ELSE
    PERFORM pg_notify('tollgate_changes', json_build_object('customer', stopped.customer_id)::text);
  END IF;
  RETURN NULL;
END $function$;

-- Notifies every node to forget everything that it knows: TRUNCATE names no rows.
CREATE OR REPLACE FUNCTION public.tell_truncate()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  PERFORM pg_notify('tollgate_changes', '{"everything":true}');
  RETURN NULL;
END $function$;

-- The counter of a subscription's test keys: its id with the highest bit of the version set, which no other id here has
-- (plugins/core/access/quota-counter-id.ts).
CREATE OR REPLACE FUNCTION public.test_counter(p_subscription uuid)
 RETURNS uuid
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE STRICT
AS $function$
  SELECT encode(set_bit(uuid_send(p_subscription), 55, 1), 'hex')::uuid
$function$;

-- The first 8 bytes of a key's hash, from which every node knows each key without a query (docs/decisions/0040-known-key-hashes.md). They
-- reveal nothing about a random key of 160 bits.
CREATE OR REPLACE FUNCTION public.told_hash(p_hash bytea)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE
AS $function$
  SELECT encode(substring(p_hash FROM 1 FOR 8), 'hex')
$function$;

-- A subscription's terms in the form of the seller's events. The customer's own cap is not part of them.
CREATE OR REPLACE FUNCTION public.told_term(p subscription_term)
 RETURNS jsonb
 LANGUAGE sql
 IMMUTABLE
AS $function$
  SELECT CASE WHEN p.id IS NOT NULL THEN jsonb_build_object(
    'plan', p.plan_name, 'price', p.price::text, 'currency', p.currency, 'daily', p.daily, 'monthly', p.monthly, 'state', p.state
  ) END
$function$;

-- Withdraws a customer's open requests when the subscription is cancelled: an approval would bring the subscription back, with its price.
CREATE OR REPLACE FUNCTION public.withdraw_plan_requests()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  UPDATE plan_request SET state = 'withdrawn', answered_at = now()
  WHERE customer_id = NEW.customer_id AND product_id = NEW.product_id AND state = 'open';
  RETURN NULL;
END $function$;
