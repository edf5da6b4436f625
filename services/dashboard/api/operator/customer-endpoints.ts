import { z } from 'zod';
import { createCustomer } from '../../../../plugins/stores/postgres/customers/create-customer';
import { type CustomerSummary, showCustomer } from '../../../../plugins/stores/postgres/customers/show-customers';
import { listKeysPage } from '../../../../plugins/stores/postgres/keys/list-keys-page';
import { addNote, listNotes } from '../../../../plugins/stores/postgres/operators/customer-notes';
import { findCustomers } from '../../../../plugins/stores/postgres/operators/find-customers';
import { listLimitTerms } from '../../../../plugins/stores/postgres/operators/limit-terms';
import { listAlerts } from '../../../../plugins/stores/postgres/webhooks/alert-view';
import { emptyReply } from '../../../kit/service/reply';
import { id } from '../../contract/fields';
import {
  addNoteBody,
  createCustomerBody,
  customerDetails,
  customerKeyPage,
  customerKeysQuery,
  customerPage,
  listCustomersQuery,
  listedCustomer,
  type ListedCustomer,
} from '../../contract/operator-customers';
import { describeAlert } from '../alerts/alert-endpoints';
import { describeListedKey } from '../keys/describe-key';
import { readSubscriptionUse } from '../plans/subscription-use';
import { defineOperatorEndpoint, type OperatorEndpoint } from './define-operator-endpoint';

const params = z.object({ id });
const MOST_ALERTS = 10;

function describeCustomer({ id: customerId, email, name, createdAt, suspended }: CustomerSummary): ListedCustomer {
  return { id: customerId, email, name, createdAt: createdAt.toISOString(), ...(suspended && { suspended }) };
}

const list = defineOperatorEndpoint({
  method: 'GET',
  path: '/operator/customers',
  query: listCustomersQuery,
  answer: customerPage,
  handler: async ({ query }, { db }) => {
    const { customers, next } = await findCustomers(db, query);
    return { customers: customers.map(describeCustomer), next: next ?? null };
  },
});

const create = defineOperatorEndpoint({
  method: 'POST',
  path: '/operator/customers',
  body: createCustomerBody,
  answer: listedCustomer,
  handler: async ({ body: { email }, caller: { actor } }, { db }) =>
    describeCustomer({ ...(await createCustomer(db, { email, actor })), suspended: null, name: null }),
});

const show = defineOperatorEndpoint({
  method: 'GET',
  path: '/operator/customers/:id',
  params,
  answer: customerDetails,
  handler: async ({ params: { id: customerId } }, { db, clock, timeZone }) => {
    const found = await showCustomer(db, { customer: customerId });
    const [subscriptions, limitTerms, notes, { alerts }] = await Promise.all([
      readSubscriptionUse(db, { customerId, timeZone, nowMs: clock.now() }),
      listLimitTerms(db, customerId),
      listNotes(db, customerId),
      listAlerts(db, { customerId, limit: MOST_ALERTS }),
    ]);
    return {
      ...describeCustomer(found),
      keys: found.keys,
      subscriptions,
      limitTerms: limitTerms.map((term) => ({ ...term, endsAt: term.endsAt?.toISOString() ?? null })),
      notes: notes.map((note) => ({ ...note, at: note.at.toISOString() })),
      alerts: alerts.map((alert) => describeAlert(alert, timeZone)),
    };
  },
});

const keys = defineOperatorEndpoint({
  method: 'GET',
  path: '/operator/customers/:id/keys',
  params,
  query: customerKeysQuery,
  answer: customerKeyPage,
  handler: async ({ params: { id: customerId }, query }, { db }) => {
    const page = await listKeysPage(db, { ...query, customerId, count: true });
    return { keys: page.keys.map(describeListedKey), next: page.next ?? null, total: page.total ?? 0 };
  },
});

const writeNote = defineOperatorEndpoint({
  method: 'POST',
  path: '/operator/customers/:id/notes',
  params,
  body: addNoteBody,
  handler: async ({ params: { id: customer }, body: { text }, caller: { email: author, actor } }, { db }) => {
    await addNote(db, { customer, text, author, actor });
    return emptyReply(204);
  },
});

/** Customers, and everything about one of them. */
export const customerEndpoints: readonly OperatorEndpoint[] = [list, create, show, keys, writeNote];
