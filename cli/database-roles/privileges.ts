/** The owner of the schema, used by migrations and the command line. */
export const OWNER_ROLE = 'tollgate_migrate';

/** The processes that stay connected to the database. Each has its own role. */
export const PROCESS_ROLES = ['tollgate_plugin', 'tollgate_dashboard', 'tollgate_service'] as const;
export type ProcessRole = (typeof PROCESS_ROLES)[number];

export const DATABASE_ROLES = [OWNER_ROLE, ...PROCESS_ROLES] as const;
export type DatabaseRole = (typeof DATABASE_ROLES)[number];

/** Privileges in the form of GRANT: `SELECT, INSERT`, `UPDATE (column)`. */
type Privileges = string;

const READ = 'SELECT';
const APPEND = 'SELECT, INSERT';
const KEEP = 'SELECT, INSERT, UPDATE';
const ALL = 'SELECT, INSERT, UPDATE, DELETE';

/**
 * Privileges of each process on each table. A table that is not listed is closed to it. Services are not listed: they give units back
 * through {@link REFUND_FUNCTIONS} and read no table.
 */
export const TABLE_PRIVILEGES: Readonly<Record<Exclude<ProcessRole, 'tollgate_service'>, Readonly<Record<string, Privileges>>>> = {
  tollgate_plugin: {
    customer: 'SELECT (id, display_name)',
    product: READ,
    plan: READ,
    subscription: READ,
    suspension: READ,
    // The plugin server may change only the time of last use, which decides nothing.
    credential: 'SELECT, UPDATE (last_used_at)',
    credential_product: READ,
    whitelist_rule: READ,
    usage: KEEP,
    rate_debt: KEEP,
    quota_refund: 'SELECT, INSERT, DELETE',
    decision: 'SELECT, INSERT, DELETE',
    denial_count: KEEP,
    key_hour: ALL,
    customer_day: ALL,
    gateway_node: ALL,
    change_confirmation: ALL,
  },
  tollgate_dashboard: {
    customer: KEEP,
    customer_limit: READ,
    catalogue_revision: READ,
    product_document: READ,
    product: READ,
    plan: READ,
    subscription: KEEP,
    plan_request: KEEP,
    consent: APPEND,
    // Triggers write terms with the owner's rights. A statement is written once.
    subscription_term: READ,
    statement: APPEND,
    billing_details: KEEP,
    // A trigger numbers invoices with the owner's rights, and the numbers never change.
    invoice_series: READ,
    invoice: APPEND,
    invoice_payment: APPEND,
    payment_account: KEEP,
    checkout: KEEP,
    payment_fact: KEEP,
    payment_charge: KEEP,
    overage_charge: KEEP,
    // Triggers write both with the owner's rights.
    invoice_sum: READ,
    invoice_unpaid: READ,
    payment_charge_sum: READ,
    paid_subscription: KEEP,
    trial: KEEP,
    plan_preview: ALL,
    payment_check: ALL,
    statement_billed: 'SELECT, INSERT, DELETE',
    suspension: ALL,
    credential: KEEP,
    credential_product: ALL,
    credential_tag: ALL,
    whitelist_rule: ALL,
    audit_log: APPEND,
    decision: READ,
    denial_count: READ,
    key_hour: READ,
    customer_day: READ,
    // For the log, which shows the requests that were given back.
    quota_refund: READ,
    usage: READ,
    gateway_node: READ,
    change_confirmation: READ,
    auth_user: ALL,
    auth_session: ALL,
    auth_account: ALL,
    auth_verification: ALL,
    auth_rate_limit: ALL,
    auth_two_factor: ALL,
    auth_passkey: ALL,
    member: ALL,
    invitation: ALL,
    email_change: ALL,
    // The database sets the time of the request, so that nobody can shorten the grace period.
    account_deletion: 'SELECT, INSERT (customer_id, user_id, keys, subscriptions), DELETE',
    person_deletion: 'SELECT, INSERT (user_id), DELETE',
    // Only the command line adds and removes operators.
    operator: READ,
    customer_note: APPEND,
    subscription_limit_term: ALL,
    seller_token: KEEP,
    seller_submission: ALL,
    customer_listing: ALL,
    customer_changed: 'SELECT, DELETE',
    business_figures: KEEP,
    product_day: ALL,
    product_answers: ALL,
    product_pulse: ALL,
    product_outage: ALL,
    status_subscription: ALL,
    outbox: ALL,
    outbox_mail: ALL,
    submission: ALL,
    alert: ALL,
    webhook: ALL,
    webhook_delivery: ALL,
    admin_token: KEEP,
    alert_preference: KEEP,
    alert_threshold: ALL,
  },
};

/** Functions that run with the owner's rights, so that their callers need no privileges on the tables of counts. */
export const REFUND_FUNCTIONS = ['quota_give_back', 'quota_sync', 'quota_forget_refunds'] as const;
export const REFUND_ROLES: readonly ProcessRole[] = ['tollgate_plugin', 'tollgate_service'];

/** Functions with the owner's rights, for the processes to which gateways report responses. */
export const ANSWER_FUNCTIONS = ['note_answers', 'note_requests'] as const;
export const ANSWER_ROLES: readonly ProcessRole[] = ['tollgate_plugin'];

/** Functions with the owner's rights, for the process that deletes old lines. Only that process may delete lines of the audit log. */
export const PRUNING_FUNCTIONS = ['audit_forget'] as const;
export const PRUNING_ROLES: readonly ProcessRole[] = ['tollgate_plugin'];

/**
 * Functions with the owner's rights, for the process that erases accounts after their grace period. The functions themselves check that the
 * period is over.
 */
export const ERASING_FUNCTIONS = ['erase_account', 'erase_person'] as const;
export const ERASING_ROLES: readonly ProcessRole[] = ['tollgate_dashboard'];
