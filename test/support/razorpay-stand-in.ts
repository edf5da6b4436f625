import { createHmac } from 'node:crypto';
import { type AddressInfo } from 'node:net';
import fastify from 'fastify';
import { monthAfter, newId } from '../../services/sandbox/payments/objects';

/** What Razorpay's documentation says of its HTTP, as far as the adapter asks: https://razorpay.com/docs/api/payments/subscriptions */
export const RAZORPAY_KEYS = { keyId: 'rzp_test_of_the_test', keySecret: 'secret of the test', webhookSecret: 'webhook of the test' };

type Json = Record<string, unknown>;
export interface RazorpaySubscription extends Json {
  id: string;
  plan_id: string;
  status: string;
  customer_id: string | null;
  payment_method: string | null;
  current_end: number | null;
  charge_at: number | null;
  start_at: number | null;
  paid_count: number;
  created_at: number;
  notes: Json | [];
}
type Plan = Json & { id: string; item: { amount: number; currency: string } };
export interface SeenByRazorpay {
  readonly method: string;
  readonly path: string;
  readonly query: Json;
  readonly body: Json;
}

class Refused extends Error {
  constructor(
    readonly description: string,
    readonly said: Json = {},
    readonly status = 400,
  ) {
    super(description);
  }
}

const CAPTURED = { entity: 'payment', currency: 'INR', status: 'captured', notes: [] };

/** The seller's account at Razorpay, and what happens there. Each event has a second of its own. */
export class RazorpayAccount {
  readonly plans = new Map<string, Plan>();
  readonly subscriptions = new Map<string, RazorpaySubscription>();
  readonly invoices = new Map<string, Json>();
  readonly refunds: Json[] = [];
  readonly payments = new Map<string, Json & { amount: number; amount_refunded: number }>();
  readonly addOns: (Json & { item: { amount: number } })[] = [];
  readonly seen: SeenByRazorpay[] = [];
  /** Bodies of events, oldest first. */
  events: string[] = [];
  declinesNext = false;
  private readonly ending = new Set<string>();
  /** Plans that begin with the next period, by subscription. */
  private readonly waiting = new Map<string, string>();
  private ahead = 0;
  private last = Math.floor(Date.now() / 1_000);

  second(): number {
    this.last = Math.max(this.last, Math.floor(Date.now() / 1_000) + this.ahead);
    return this.last;
  }

  pass(seconds: number): void {
    this.ahead += seconds;
  }

  need(id: string): RazorpaySubscription {
    const found = this.subscriptions.get(id);
    if (!found) throw new Refused('The id provided does not exist');
    return found;
  }

  tell(event: string, about: Json): void {
    this.last = this.second() + 1;
    const payload = Object.fromEntries(Object.entries(about).map(([name, entity]) => [name, { entity }]));
    const contains = Object.keys(payload);
    this.events.push(JSON.stringify({ entity: 'event', account_id: 'acc_1', event, contains, payload, created_at: this.last }));
  }

  private bill(subscription: RazorpaySubscription, open?: Json): string {
    const id = open === undefined ? newId('inv') : String(open['id']);
    const amount = this.plans.get(subscription.plan_id)?.item.amount;
    const about = { entity: 'invoice', subscription_id: subscription.id, amount, currency: 'INR', short_url: `https://rzp.io/i/${id}` };
    this.invoices.set(id, { id, status: 'issued', issued_at: this.second(), created_at: this.second(), paid_at: null, ...about });
    return id;
  }

  private charge(subscription: RazorpaySubscription, amount = this.plans.get(subscription.plan_id)?.item.amount ?? 0): Json {
    const payment = newId('pay');
    const open = [...this.invoices.values()].find(({ subscription_id: of, status }) => of === subscription.id && status === 'issued');
    const invoice = this.bill(subscription, open);
    Object.assign(this.invoices.get(invoice) ?? {}, { status: 'paid', payment_id: payment, amount, paid_at: this.second() });
    subscription.paid_count += 1;
    const made = { ...CAPTURED, id: payment, amount, invoice_id: invoice, amount_refunded: 0 };
    this.payments.set(payment, made);
    return { ...made };
  }

  /** The customer agreed on the hosted page; one with a trial is charged when that is over. */
  pay(id: string, method = 'card'): RazorpaySubscription {
    const subscription = this.need(id);
    Object.assign(subscription, { customer_id: newId('cust'), payment_method: method });
    if (subscription.start_at !== null) {
      Object.assign(subscription, { status: 'authenticated', charge_at: subscription.start_at });
      this.tell('subscription.authenticated', { subscription });
      return subscription;
    }
    const end = monthAfter(this.second());
    Object.assign(subscription, { status: 'active', current_start: this.second(), current_end: end, charge_at: end });
    const payment = this.charge(subscription);
    this.tell('subscription.activated', { subscription, payment });
    this.tell('subscription.charged', { subscription, payment });
    return subscription;
  }

  renew(id: string, isPaid: boolean): void {
    const subscription = this.need(id);
    if (subscription.status === 'paused') return;
    if (this.ending.has(id)) return this.end(id);
    const next = this.waiting.get(id);
    if (next !== undefined) Object.assign(subscription, { plan_id: next, has_scheduled_changes: false });
    this.waiting.delete(id);
    const end = monthAfter(subscription.current_end ?? this.second());
    Object.assign(subscription, { status: isPaid ? 'active' : 'pending', current_end: end, charge_at: end });
    if (isPaid) {
      const due = this.addOns.filter(({ subscription_id: of, invoice_id: invoice }) => of === id && invoice === null);
      const price = this.plans.get(subscription.plan_id)?.item.amount ?? 0;
      const payment = this.charge(
        subscription,
        due.reduce((sum, { item }) => sum + item.amount, price),
      );
      for (const each of due) each['invoice_id'] = payment['invoice_id'];
      const lines = due.map(({ item }) => ({ type: 'addon', quantity: 1, ...item }));
      Object.assign(this.invoices.get(String(payment['invoice_id'])) ?? {}, {
        line_items: [{ type: 'plan', description: null, amount: price }, ...lines],
      });
      this.tell('subscription.charged', { subscription, payment });
    } else {
      this.bill(subscription);
      this.tell('subscription.pending', { subscription });
    }
  }

  recover(id: string): void {
    const subscription = this.need(id);
    subscription.status = 'active';
    this.tell('subscription.activated', { subscription });
    this.tell('subscription.charged', { subscription, payment: this.charge(subscription) });
  }

  /** Of what an operator does in the dashboard of Razorpay. */
  become(id: string, status: 'paused' | 'halted' | 'active' | 'completed'): void {
    const subscription = this.need(id);
    subscription.status = status;
    this.tell(`subscription.${status === 'active' ? 'resumed' : status}`, { subscription });
  }

  pause(id: string): RazorpaySubscription {
    const subscription = this.need(id);
    if (subscription.status !== 'active') throw new Refused(`Subscription is not pausable in ${subscription.status} status.`);
    this.become(id, 'paused');
    return subscription;
  }

  resume(id: string): RazorpaySubscription {
    const subscription = this.need(id);
    if (subscription.status !== 'paused') throw new Refused(`Subscription is not resumable in ${subscription.status} status.`);
    this.become(id, 'active');
    return subscription;
  }

  end(id: string): void {
    const subscription = this.need(id);
    Object.assign(subscription, { status: 'cancelled', ended_at: this.second(), charge_at: null });
    this.tell('subscription.cancelled', { subscription });
  }

  refund(id: string): void {
    const [invoice] = [...this.invoices.values()].filter(({ subscription_id: of }) => of === id);
    this.giveBack(String(invoice?.['payment_id']), { amount: 49_900 });
  }

  /** The same key again is the same refund. */
  giveBack(id: string, { amount: wanted, notes = [] }: Json, key?: string): Json {
    const payment = this.payments.get(id);
    const known = this.refunds.find((each) => key !== undefined && each['key'] === key);
    if (known) return known;
    const amount = Number(wanted);
    if (!payment || amount > payment.amount - payment.amount_refunded) {
      throw new Refused('The total refund amount is greater than the refund payment amount');
    }
    payment.amount_refunded += amount;
    const about = { entity: 'refund', amount, payment_id: id, status: 'processed', created_at: this.second(), notes };
    const refund = { id: newId('rfnd'), ...about, ...(key !== undefined && { key }) };
    this.refunds.push(refund);
    this.tell('refund.processed', { refund, payment: { ...payment } });
    return refund;
  }

  create(body: Json): RazorpaySubscription {
    if (!this.plans.has(String(body['plan_id'])) || typeof body['total_count'] !== 'number') throw new Refused('The plan id is invalid');
    const id = newId('sub');
    const none = { customer_id: null, payment_method: null, current_start: null, current_end: null, ended_at: null, start_at: null };
    const state = { status: 'created', paid_count: 0, created_at: this.second(), short_url: `https://rzp.io/i/${id}`, charge_at: null };
    const made = { quantity: 1, notes: [], ...none, ...body, ...state, id, entity: 'subscription' } as unknown as RazorpaySubscription;
    this.subscriptions.set(id, made);
    return made;
  }

  update(id: string, body: Json): RazorpaySubscription {
    const subscription = this.need(id);
    if (subscription.payment_method === 'upi') throw new Refused('subscriptions cannot be updated when payment mode is UPI');
    if (!['active', 'authenticated'].includes(subscription.status))
      throw new Refused("Can't update Subscription when Subscription is not in Authenticated or Active state");
    if (this.declinesNext) {
      this.declinesNext = false;
      throw new Refused('Payment failed', { step: 'payment_authorization', reason: 'payment_failed' });
    }
    if (body['schedule_change_at'] === 'cycle_end') {
      this.waiting.set(id, String(body['plan_id']));
      subscription['has_scheduled_changes'] = true;
    } else this.changeNow(subscription, String(body['plan_id']));
    this.tell('subscription.updated', { subscription });
    return subscription;
  }

  /** The difference for the rest of the period, which Razorpay reckons itself; less is refunded. A trial has paid nothing. */
  private changeNow(subscription: RazorpaySubscription, plan: string): void {
    const priceOf = (id: string): number => this.plans.get(id)?.item.amount ?? 0;
    const start = Number(subscription['current_start']);
    const left = ((subscription.current_end ?? 0) - this.second()) / ((subscription.current_end ?? 0) - start);
    const due = Math.round((priceOf(plan) - priceOf(subscription.plan_id)) * left);
    subscription.plan_id = plan;
    if (subscription.status === 'active' && due > 0) this.charge(subscription, due);
  }

  /** As it will be with the next period. */
  pending(id: string): Json {
    const next = this.waiting.get(id);
    if (next === undefined) throw new Refused('The subscription has no scheduled changes');
    return { ...this.need(id), plan_id: next };
  }

  stay(id: string): RazorpaySubscription {
    if (!this.waiting.delete(id)) throw new Refused('The subscription has no scheduled changes');
    const subscription = this.need(id);
    subscription['has_scheduled_changes'] = false;
    this.tell('subscription.updated', { subscription });
    return subscription;
  }

  cancel(id: string, atCycleEnd: boolean): RazorpaySubscription {
    const subscription = this.need(id);
    if (['cancelled', 'expired', 'completed'].includes(subscription.status))
      throw new Refused(`Subscription is not cancellable in ${subscription.status} status.`, { field: 'status' });
    if (atCycleEnd && subscription.status !== 'active')
      throw new Refused('Subscription cannot be cancelled since no billing cycle is going on');
    // What Razorpay answers is as before: it does not say that the end was asked for.
    if (atCycleEnd) this.ending.add(id);
    else this.end(id);
    return subscription;
  }

  addTo(id: string, body: Json): Json {
    if (this.need(id).status !== 'active') throw new Refused('Add-ons can be created only for active subscriptions');
    const item = body['item'] as { amount: number };
    const made = { id: newId('ao'), entity: 'addon', item, quantity: body['quantity'], created_at: this.second(), subscription_id: id };
    this.addOns.push({ ...made, invoice_id: null });
    return made;
  }

  makePlan(body: Json): Json {
    const plan = { notes: [], ...body, id: newId('plan'), entity: 'plan' } as unknown as Plan;
    this.plans.set(plan.id, plan);
    return plan;
  }
}

const page = (all: Iterable<Json>, query: Json): Json => {
  const isWanted = (each: Json): boolean =>
    ['plan_id', 'subscription_id', 'payment_id'].every((name) => [undefined, each[name]].includes(query[name]));
  const found = [...all].reverse().filter(isWanted);
  const skip = Number(query['skip'] ?? 0);
  const items = found.slice(skip, skip + Math.min(100, Number(query['count'])));
  return { entity: 'collection', count: items.length, items };
};

/** What Razorpay signs events with. https://razorpay.com/docs/webhooks/validate-test */
export const signForRazorpay = (body: string, secret = RAZORPAY_KEYS.webhookSecret): string =>
  createHmac('sha256', secret).update(body).digest('hex');

/** A stand-in of Razorpay's HTTP, for tests alone. */
export async function startRazorpayStandIn(): Promise<{ url: string; account: RazorpayAccount; close(): Promise<void> }> {
  const account = new RazorpayAccount();
  const app = fastify({ forceCloseConnections: true });
  // The SDK cancels at once by a POST without a body.
  app.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, (_request, _body, done) => done(null, {}));
  const wanted = `Basic ${Buffer.from(`${RAZORPAY_KEYS.keyId}:${RAZORPAY_KEYS.keySecret}`).toString('base64')}`;
  type Call = { readonly id: string; readonly body: Json; readonly query: Json; readonly key: string | undefined };
  const acts: Readonly<Record<string, (call: Call) => object>> = {
    'POST /v1/plans': ({ body }) => account.makePlan(body),
    'GET /v1/plans': ({ query }) => page(account.plans.values(), query),
    'GET /v1/plans/:id': ({ id }) => account.plans.get(id) ?? account.need(id),
    'POST /v1/subscriptions': ({ body }) => account.create(body),
    'GET /v1/subscriptions': ({ query }) => page(account.subscriptions.values(), query),
    'GET /v1/subscriptions/:id': ({ id }) => account.need(id),
    'PATCH /v1/subscriptions/:id': ({ id, body }) => account.update(id, body),
    'GET /v1/subscriptions/:id/retrieve_scheduled_changes': ({ id }) => account.pending(id),
    'POST /v1/subscriptions/:id/cancel_scheduled_changes': ({ id }) => account.stay(id),
    'POST /v1/subscriptions/:id/cancel': ({ id, body }) => account.cancel(id, body['cancel_at_cycle_end'] === 1),
    'POST /v1/subscriptions/:id/pause': ({ id }) => account.pause(id),
    'POST /v1/subscriptions/:id/resume': ({ id }) => account.resume(id),
    'POST /v1/subscriptions/:id/addons': ({ id, body }) => account.addTo(id, body),
    'GET /v1/addons': ({ query }) => page(account.addOns, query),
    'GET /v1/invoices': ({ query }) => page(account.invoices.values(), query),
    'GET /v1/invoices/:id': ({ id }) => account.invoices.get(id) ?? account.need(id),
    'GET /v1/refunds': ({ query }) => page(account.refunds, query),
    'GET /v1/payments/:id': ({ id }) => account.payments.get(id) ?? account.need(id),
    'GET /v1/payments/:id/refunds': ({ id, query }) => page(account.refunds, { ...query, payment_id: id }),
    'POST /v1/payments/:id/refund': ({ id, body, key }) => account.giveBack(id, body, key),
  };
  for (const [name, act] of Object.entries(acts)) {
    const [method = '', url = ''] = name.split(' ');
    app.route({
      method,
      url,
      exposeHeadRoute: false,
      handler: ({ headers, params, query, body, url: asked }, reply) => {
        reply.header('date', new Date(account.second() * 1_000).toUTCString());
        const key = headers['x-refund-idempotency'];
        const given = { body: (body ?? {}) as Json, query: query as Json };
        const call = { id: (params as { id?: string }).id ?? '', ...given, key: typeof key === 'string' ? key : undefined };
        account.seen.push({ method, path: asked.split('?')[0] ?? '', query: call.query, body: call.body });
        try {
          if (headers.authorization !== wanted) throw new Refused('The api key provided is invalid', {}, 401);
          return reply.send(act(call));
        } catch (error) {
          if (!(error instanceof Refused)) throw error;
          return reply.code(error.status).send({ error: { code: 'BAD_REQUEST_ERROR', description: error.description, ...error.said } });
        }
      },
    });
  }
  await app.listen({ host: '127.0.0.1', port: 0 });
  return { url: `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`, account, close: () => app.close() };
}
