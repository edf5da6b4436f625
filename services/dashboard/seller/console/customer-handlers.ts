import { createCustomer } from '../../../selling/customers/create-customer';
import { type Customer, requireCustomer } from '../../../selling/customers/find-customer';
import { showCustomer } from '../../../selling/suspensions/show-customers';
import { type Database } from '../../../../plugins/stores/postgres/database';
import { runIdempotently, runSellersIdempotently } from '../../../selling/operations/idempotent-operation';
import { createKey } from '../../../selling/keys/create-key';
import { listKeysPage } from '../../../selling/keys/list-keys-page';
import { setKeyState } from '../../../selling/keys/set-key-state';
import { addNote, listNotes } from '../../../selling/operators/customer-notes';
import { findCustomers } from '../../../selling/operators/find-customers';
import { updateChangedCustomers } from '../../../selling/operators/update-listing';
import { listLimitTerms, setLimits } from '../../../selling/billing/limit-terms';
import { approvePlanRequest, declinePlanRequest } from '../../../selling/subscriptions/answer-plan-request';
import { listOpenRequests } from '../../../selling/subscriptions/plan-request-view';
import { listAlerts } from '../../../selling/webhooks/alert-view';
import { type customerEndpoints } from '../../contract/operator-customers';
import { toAlert } from '../../customer/alerts/alert-handlers';
import { type Handlers } from '../../http/bind-endpoint';
import { readSubscriptionUse } from '../../customer/plans/subscription-use';
import { pausePayments, resumePayments } from '../../billing/pause-payments';
import { inviteCustomer, suspendAndTell } from './customer-letters';
import { customerRecords, listOf, todayOf } from './customer-list';
import { givePlan, settlePayment } from './give-plan';
import { toRates } from './home-handlers';
import { importForOperator } from './import-for-operator';

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
