import { type Pool, type PoolClient } from 'pg';
import { createCustomer } from '../../../selling/customers/create-customer';
import { type Customer, requireCustomer } from '../../../selling/customers/find-customer';
import { type Actor } from '../../../selling/customers/write-audit';
import { showCustomer } from '../../../selling/suspensions/show-customers';
import { type Database, inTransaction } from '../../../../plugins/stores/postgres/database';
import { runIdempotently, runSellersIdempotently } from '../../../selling/operations/idempotent-operation';
import { createKey } from '../../../selling/keys/create-key';
import { listKeysPage } from '../../../selling/keys/list-keys-page';
import { setKeyState } from '../../../selling/keys/set-key-state';
import { type ImportResult, KeyImport } from '../../../selling/keys/import-keys';
import { type LineWarning, readImportLines, readImportObject } from '../../../selling/keys/import-line';
import { addNote, listNotes } from '../../../selling/operators/customer-notes';
import { type CustomersPageQuery, findCustomers, type ListedCustomer } from '../../../selling/operators/find-customers';
import { updateChangedCustomers } from '../../../selling/operators/update-listing';
import { listLimitTerms, setLimits } from '../../../selling/billing/limit-terms';
import { approvePlanRequest, declinePlanRequest } from '../../../selling/subscriptions/answer-plan-request';
import { listOpenRequests } from '../../../selling/subscriptions/plan-request-view';
import { changeSubscription } from '../../../selling/subscriptions/change-subscription';
import { createSubscription } from '../../../selling/subscriptions/subscribe';
import { viewSubscriptions } from '../../../selling/subscriptions/subscription-view';
import { listAlerts } from '../../../selling/webhooks/alert-view';
import { findPaid } from '../../../selling/paid-plans/paid-subscriptions';
import { type customerEndpoints, type CustomersFilter, type GivenPayment } from '../../contract/operator-customers';
import { toAlert } from '../../customer/alerts/alert-handlers';
import { type Call, type Handlers } from '../../http/bind-endpoint';
import { type DashboardDeps, todayOf } from '../../http/dashboard-deps';
import { csvRecord, readPages } from '../../http/csv';
import { type OperatorCaller } from '../../http/callers';
import { Refusal } from '../../http/refusal';
import { readSubscriptionUse } from '../../customer/plans/subscription-use';
import { pausePayments, resumePayments } from '../../billing/pause-payments';
import { changePaid } from '../../billing/change-payment';
import { inviteCustomer, suspendAndTell } from './customer-letters';
import { toRates } from './home-handlers';

type ListQuery = Omit<CustomersPageQuery, 'limit' | 'after'>;

/** The request as a query for the store. */
function listOf({ search, state, product, sort, direction }: CustomersFilter): ListQuery {
  const list = state !== undefined ? (`state:${state}` as const) : product === undefined ? undefined : (`product:${product}` as const);
  return { search: search?.replaceAll('\0', ''), list, order: sort, isDescending: direction === 'down' };
}

const BATCH = 500;
/** The most lines that a spreadsheet opens. */
const MAX_LINES = 100_000;

const COLUMNS = [
  'email',
  'name',
  'id',
  'customer_since',
  'state',
  'suspended_reason',
  'plans',
  'requests_30_days',
  'growth',
  'run_rate',
  'last_seen',
];

function recordOf({ email, name, id, createdAt, state, suspended, plans, used, growth, rates, lastSeenOn }: ListedCustomer): string {
  const planNames = plans.map(({ product, plan }) => (plan === null ? product : `${product} ${plan}`)).join(', ');
  const prices = toRates(rates).map(({ currency, price }) => `${currency} ${price}`);
  const about = [email, name ?? '', id, new Date(createdAt).toISOString(), state, suspended?.reason ?? ''];
  return csvRecord([...about, planNames, used, growth, prices.join(', '), lastSeenOn ?? '']);
}

/** The requested customers in their order, read a few at a time. */
async function* customerRecords(db: Pool, query: ListQuery): AsyncGenerator<string> {
  yield csvRecord(COLUMNS);
  const pages = readPages((after) => findCustomers(db, { ...query, limit: BATCH, after }), MAX_LINES / BATCH);
  for await (const { customers } of pages) for (const customer of customers) yield recordOf(customer);
}

interface GivenPlan {
  readonly customer: string;
  readonly product: string;
  /** Null: the base limits. */
  readonly plan: string | null;
  /** What happens to a payment for another plan; undefined: then the plan is not given. */
  readonly payment: GivenPayment | undefined;
  readonly actor: Actor;
}

/**
 * Puts a customer on a plan, even one that is given on request, and subscribes the customer to the product if needed.
 * @throws OperationRefused `customer_unknown` and what the operations refuse, such as `plan_paid`; Refusal of the payment provider, after
 * the plan is given: it can be given again
 */
async function givePlan(deps: DashboardDeps, given: GivenPlan): Promise<void> {
  const { customerId } = await give(deps, given);
  await settlePayment(deps, { ...given, customerId });
}

/** Settles the payment of a customer who was given another plan. */
async function settlePayment(
  deps: DashboardDeps,
  { customerId, product, payment, actor }: Pick<GivenPlan, 'product' | 'payment' | 'actor'> & { readonly customerId: string },
): Promise<void> {
  if (payment === undefined || payment === 'goes_on') return;
  const paid = await findPaid(deps.db, customerId, product);
  if (!paid) return;
  const kind = payment === 'ends_now' ? 'end' : 'cancel';
  await changePaid(paid, { change: { kind }, actor, details: { plan: paid.plan } }, deps);
}

function give({ db }: DashboardDeps, { customer, product, plan, payment, actor }: GivenPlan): Promise<{ customerId: string }> {
  const paymentGoesOn = payment !== undefined;
  return inTransaction(db, async (client: PoolClient) => {
    const { id: customerId } = await requireCustomer(client, customer);
    // Operators who give plans at the same time take turns.
    await client.query('SELECT 1 FROM customer WHERE id = $1 FOR NO KEY UPDATE', [customerId]);
    const owned = await viewSubscriptions(client, customerId);
    const present = owned.find((each) => each.product === product && each.state !== 'cancelled');
    if (present) await changeSubscription(client, { id: present.id, customerId, plan, consent: false, paymentGoesOn, actor });
    else {
      const wanted = { customer: customerId, product, consent: false, keepsLimits: true, paymentGoesOn, actor };
      await createSubscription(client, plan === null ? wanted : { ...wanted, plan });
    }
    return { customerId };
  });
}

/** Scopes for what an import may do besides storing keys. */
const MORE_SCOPES = ['customers:write', 'subscriptions:write'];

function requireScopes({ scopes }: OperatorCaller): void {
  const missing = scopes ? MORE_SCOPES.filter((scope) => !scopes.has(scope)) : [];
  if (missing.length === 0) return;
  const detail = `An import creates customers and subscriptions: this token needs the scopes ${MORE_SCOPES.join(' and ')} too.`;
  throw new Refusal('scope_missing', { detail, members: { scopes: missing } });
}

/**
 * Imports keys in one transaction, except refused ones.
 * @throws Refusal 403 `scope_missing`
 */
async function importForOperator(
  { body, caller }: Call<'POST /operator/keys/import'>,
  { db, clock, timeZone }: DashboardDeps,
): Promise<ImportResult & { readonly warnings: readonly LineWarning[] }> {
  requireScopes(caller);
  const { products, plan, showsLastFour: shows, dryRun: isTrial } = body;
  const lines = body.keys.map((value, index) => readImportObject(index + 1, value));
  const { keys, refused, warnings } = readImportLines(lines, { products, plan, shows, nowMs: clock.now(), timeZone });
  const result = await new KeyImport(db, { actor: caller.actor, isTrial }).add(keys);
  return { ...result, refused: [...refused, ...result.refused].sort((a, b) => a.line - b.line), warnings };
}

const MAX_ALERTS = 10;

/** Customers, and everything about one of them. Each act of an operator is one transaction, including its line of the audit log. */
export const customerHandlers: Handlers<typeof customerEndpoints> = {
  'GET /operator/customers': async ({ query: { after, limit, ...filter } }, deps) => {
    await updateChangedCustomers(deps.db, todayOf(deps));
    const { customers, next } = await findCustomers(deps.db, { ...listOf(filter), after, limit });
    return { customers: customers.map((each) => ({ ...each, rates: toRates(each.rates) })), next: next ?? null };
  },

  'GET /operator/customers.csv': async ({ query }, deps) => {
    const today = todayOf(deps);
    await updateChangedCustomers(deps.db, today);
    return { filename: `tollgate-customers-${today}.csv`, content: customerRecords(deps.db, listOf(query)) };
  },

  'POST /operator/customers': async ({ body: { email, submission, invite }, caller: { actor } }, deps) => {
    const { db } = deps;
    const create = (client: Database): Promise<Customer> => createCustomer(client, { email, actor });
    const made = await (submission === undefined ? create(db) : runSellersIdempotently(db, submission, create));
    if (invite) inviteCustomer(made.email, deps);
    return { ...made, suspended: null, name: null };
  },

  'GET /operator/customers/:id': async ({ params: { id: customerId } }, { db, clock, timeZone }) => {
    const found = await showCustomer(db, { customer: customerId });
    const [subscriptions, limitTerms, notes, { alerts }] = await Promise.all([
      readSubscriptionUse(db, { customerId, timeZone, nowMs: clock.now() }),
      listLimitTerms(db, customerId),
      listNotes(db, customerId),
      listAlerts(db, { customerId, limit: MAX_ALERTS }),
    ]);
    return { ...found, subscriptions, limitTerms, notes, alerts: alerts.map((alert) => toAlert(alert, timeZone)) };
  },

  'GET /operator/customers/:id/keys': async ({ params: { id: customerId }, query }, { db }) => {
    const { keys, next, total } = await listKeysPage(db, { ...query, customerId, count: true });
    return { keys, next: next ?? null, total: total ?? 0 };
  },

  'POST /operator/customers/:id/notes': async ({ params: { id: customer }, body: { text }, caller: { email: author, actor } }, { db }) => {
    await addNote(db, { customer, text, author, actor });
  },

  'POST /operator/customers/:id/keys': async ({ params, body: { submission, ...wanted }, caller: { actor } }, { db }) => {
    const { id: customerId } = await requireCustomer(db, params.id);
    const { key: secret, id } = await runIdempotently(db, { customerId, submission }, (client) =>
      createKey(client, { ...wanted, customer: customerId, actor, keepsLimits: true }),
    );
    return { secret, id };
  },

  'POST /operator/keys/import': importForOperator,

  'POST /operator/keys/:id/revoke': async ({ params: { id }, caller: { actor } }, { db }) => {
    await setKeyState(db, { id, state: 'revoked', actor });
  },

  'POST /operator/suspensions': async ({ body: { pausePayment, ...body }, caller: { actor } }, deps) => {
    const owner = await suspendAndTell({ ...body, actor }, deps);
    if (!owner || body.kind === 'key') return;
    const { customerId, product } = owner;
    if (body.reason === null) await resumePayments({ customerId, actor }, deps);
    else if (pausePayment) await pausePayments({ customerId, product, actor }, deps);
  },

  'PUT /operator/customers/:id/plan': ({ params: { id: customer }, body, caller: { actor } }, deps) =>
    givePlan(deps, { ...body, payment: body.payment, customer, actor }),

  'PUT /operator/subscriptions/:id/limits': async ({ params: { id }, body, caller: { actor, email: setBy } }, { db }) => {
    await setLimits(db, { ...body, id, actor, setBy });
  },

  'GET /operator/plan-requests': async ({ query: { customer: customerId, after, limit } }, { db }) => {
    const { requests, next } = await listOpenRequests(db, { customerId, after, limit });
    return { requests, next: next ?? null };
  },

  'POST /operator/plan-requests/:id/approve': async ({ params: { id }, body: { payment }, caller: { actor } }, deps) => {
    const { customerId, product } = await approvePlanRequest(deps.db, { id, actor, paymentGoesOn: payment !== undefined });
    await settlePayment(deps, { customerId, product, payment, actor });
  },

  'POST /operator/plan-requests/:id/decline': async ({ params: { id }, body: { reason }, caller: { actor } }, { db }) => {
    await declinePlanRequest(db, { id, reason, actor });
  },
};
