import { Client, Pool } from 'pg';
import { signEvent } from '../../../services/sandbox/payments/deliver-events';
import { type Session } from '../../../services/sandbox/payments/objects';
import { askForPaymentCheck } from '../../../services/selling/billing/payment-checks';
import { runsEveryScene } from '../../support/scenes';
import { PRODUCT, useFaultyPayments } from '../support/faulty-payments';
import { startOtherNode } from '../support/other-node';
import { PAYMENT_KEYS } from '../support/paying-dashboard';

const { dashboard, clock, loseEvents } = useFaultyPayments();

// The nightly comparison is over before: it keeps what it is told as facts of its own.
beforeAll(async () => {
  await askForPaymentCheck(dashboard().pool);
  dashboard().poke();
  await dashboard().settled();
});

const headersOf = (body: string, at = clock.now() / 1_000) => ({
  'content-type': 'application/json',
  'stripe-signature': signEvent(body, PAYMENT_KEYS.webhookSecret, Math.floor(at)),
});
const PATH = '/api/payments/sandbox/events';

/** Somebody's checkout at the provider, without its page. */
function sessionFor(customerId: string): Session {
  const metadata = { tollgate_customer: customerId, tollgate_product: PRODUCT, tollgate_plan: 'Star' };
  const wish = { name: 'IP', currency: 'inr', amount: 49_900, trialDays: 0, metadata, takesCodes: false };
  const ids = { id: `cs_${customerId}`, customer: `cus_${customerId}`, client_reference_id: null };
  return { ...ids, object: 'checkout.session', mode: 'subscription', status: 'open', wish } as unknown as Session;
}

/** Customers who pay and whose plan renews, none of which the dashboard has heard. @returns the events, of which each is sent twice */
async function unheardOf(count: number, renewals: number): Promise<{ bodies: string[]; ids: string[] }> {
  const { ledger } = dashboard().provider;
  await dashboard().provider.flush();
  loseEvents();
  const { rows } = await dashboard().pool.query<{ id: string }>(
    "INSERT INTO customer (email) SELECT gen_random_uuid() || '@example.com' FROM generate_series(1, $1) RETURNING id",
    [count],
  );
  for (const { id } of rows) {
    const subscription = ledger.pay(sessionFor(id));
    for (let month = 0; month < renewals; month++) ledger.renew(subscription, month % 3 !== 1 || month === renewals - 1);
  }
  const bodies = ledger.books.waiting.map(({ event }) => JSON.stringify(event));
  ledger.books.waiting = [];
  return { bodies, ids: rows.map(({ id }) => id) };
}

async function standing(ids: readonly string[]) {
  const { rows } = await dashboard().pool.query(
    `SELECT count(*)::integer AS plans, count(*) FILTER (WHERE p.status = 'active')::integer AS active,
     (SELECT count(*)::integer FROM payment_fact f WHERE f.paid_subscription = ANY (array_agg(p.reference))) AS facts,
     (SELECT count(*)::integer FROM payment_fact f WHERE f.paid_subscription = ANY (array_agg(p.reference)) AND applied_at IS NULL) AS waiting,
     (SELECT count(*)::integer FROM audit_log WHERE actor = 'payments' AND action LIKE 'subscription.%'
        AND subject_id IN (SELECT id::text FROM subscription WHERE customer_id = ANY ($1))) AS changes
   FROM paid_subscription p WHERE customer_id = ANY ($1) AND entitlement = 'plan'`,
    [ids],
  );
  return rows[0];
}

it('events of an hour in which the endpoint was down count once each when they come at once, in few queries and small parts', async () => {
  // 3,600 events, of which `npm test` sends a fifth: more than one part all the same.
  const customers = runsEveryScene ? 240 : 48;
  const { bodies, ids } = await unheardOf(customers, 6);
  expect(bodies).toHaveLength(15 * customers);
  const each = jest.spyOn(Client.prototype, 'query');
  const reads = jest.spyOn(Pool.prototype, 'query');
  const answers = await Promise.all(
    bodies.toReversed().map((payload) => dashboard().app.inject({ method: 'POST', url: PATH, payload, headers: headersOf(payload) })),
  );
  expect(new Set(answers.map(({ statusCode }) => statusCode))).toEqual(new Set([204]));
  await dashboard().acted();
  const queries = each.mock.calls.length;
  const results = (await Promise.all(reads.mock.results.map(({ value }) => value as unknown))) as ({ rows?: unknown[] } | undefined)[];
  const largest = Math.max(...results.map((result) => result?.rows?.length ?? 0));
  each.mockRestore();
  reads.mockRestore();
  // The end of a checkout is no fact of a subscription.
  const facts = bodies.length - customers;
  expect(await standing(ids)).toEqual({ plans: customers, active: customers, facts, waiting: 0, changes: customers });
  // Two to store each; what they come to is worked out for whole subscriptions.
  expect(queries).toBeLessThan(4 * bodies.length);
  expect([largest > 0, largest <= 500]).toEqual([true, true]);
});

it('events that are delivered to two nodes at the same time count once', async () => {
  const { bodies, ids } = await unheardOf(8, 3);
  const other = startOtherNode({ databaseUrl: dashboard().databaseUrl, ports: { sandbox: dashboard().port }, clock });
  const both = [other.app, dashboard().app];
  const answers = await Promise.all(
    [...bodies, ...bodies.toReversed()].flatMap((payload) =>
      both.map((node) => node.inject({ method: 'POST', url: PATH, payload, headers: headersOf(payload) })),
    ),
  );
  expect(new Set(answers.map(({ statusCode }) => statusCode))).toEqual(new Set([204]));
  await other.settled();
  await dashboard().settled();
  expect(await standing(ids)).toEqual({ plans: 8, active: 8, facts: bodies.length - 8, waiting: 0, changes: 8 });
  const { rows } = await dashboard().pool.query<{ email: string }>('SELECT email FROM customer WHERE id = ANY ($1)', [ids]);
  const receipts = dashboard().mails.filter(({ to, subject }) => rows.some(({ email }) => email === to) && subject.startsWith('Receipt'));
  // The first payment and two renewals of each; one fails and is passed over by the next.
  expect(receipts).toHaveLength(8 * 3);
  await other.close();
});
