import { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { INTENT, type Ledger } from './ledger';
import { type Coupon, type Invoice, type InvoiceItem, newId, type StripeSession, shortInvoice, type StripeSubscription } from './objects';
import { type FormValue, readForm, textAt, textsAt } from './read-form';

/** One request as received, for tests. */
export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly form: Readonly<Record<string, FormValue>>;
  readonly idempotencyKey: string | undefined;
}

export interface StripeApiOptions {
  readonly ledger: Ledger;
  readonly secretKey: string;
  readonly url: () => string;
  readonly onRequest?: ((request: SeenRequest) => void) | undefined;
}

/** An error in Stripe's form. https://docs.stripe.com/api/errors */
class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly type: string,
    message: string,
    readonly code?: string,
  ) {
    super(message);
  }

  /** The member at fault. */
  param?: string;
}

const missing = (what: string, id: string): ApiError =>
  new ApiError(404, 'invalid_request_error', `No such ${what}: '${id}'`, 'resource_missing');
/** For a customer named by a member instead of the path. */
const missingCustomer = (id: string): ApiError =>
  Object.assign(new ApiError(400, 'invalid_request_error', `No such customer: '${id}'`, 'resource_missing'), { param: 'customer' });

type Form = Readonly<Record<string, FormValue>>;
type Act = (call: { readonly id: string; readonly form: Form; readonly query: Readonly<Record<string, FormValue>> }) => object;

function need(form: Form, ...names: readonly (string | number)[]): string {
  const text = textAt(form, ...names);
  if (text === undefined) {
    const name = names.map((each, index) => (index === 0 ? String(each) : `[${each}]`)).join('');
    throw new ApiError(400, 'invalid_request_error', `Missing required param: ${name}.`, 'parameter_missing');
  }
  return text;
}

function openSession({ ledger, url }: StripeApiOptions, form: Form): StripeSession {
  const account = need(form, 'customer');
  if (!ledger.books.customers[account]) throw missingCustomer(account);
  if (need(form, 'mode') !== 'subscription') throw new ApiError(400, 'invalid_request_error', 'only subscriptions are sold here');
  const amount = Number(need(form, 'line_items', 0, 'price_data', 'unit_amount'));
  if (!Number.isSafeInteger(amount) || amount < 0) throw new ApiError(400, 'invalid_request_error', 'Invalid integer: unit_amount');
  need(form, 'line_items', 0, 'price_data', 'recurring', 'interval');
  const id = newId('cs_test');
  const now = ledger.second();
  const session: StripeSession = {
    id,
    object: 'checkout.session',
    mode: 'subscription',
    status: 'open',
    payment_status: 'unpaid',
    customer: account,
    client_reference_id: textAt(form, 'client_reference_id') ?? null,
    success_url: need(form, 'success_url'),
    cancel_url: textAt(form, 'cancel_url') ?? need(form, 'success_url'),
    url: `${url()}/pay/${id}`,
    subscription: null,
    expires_at: now + 86_400,
    created: now,
    wish: {
      name: need(form, 'line_items', 0, 'price_data', 'product_data', 'name'),
      currency: need(form, 'line_items', 0, 'price_data', 'currency'),
      amount,
      trialDays: Number(textAt(form, 'subscription_data', 'trial_period_days') ?? '0'),
      metadata: textsAt(form, 'subscription_data', 'metadata'),
      takesCodes: textAt(form, 'allow_promotion_codes') === 'true',
    },
  };
  ledger.books.sessions[id] = session;
  return session;
}

function makeCoupon({ ledger }: StripeApiOptions, form: Form): Coupon {
  const numberOf = (name: string): number | null => (textAt(form, name) === undefined ? null : Number(textAt(form, name)));
  const [percent, amount, months] = [numberOf('percent_off'), numberOf('amount_off'), numberOf('duration_in_months')];
  const duration = need(form, 'duration');
  const isOne = (percent === null) !== (amount === null) && (amount === null || textAt(form, 'currency') !== undefined);
  if (!isOne || (duration === 'repeating') !== (months !== null) || (percent ?? 1) > 100) {
    throw new ApiError(400, 'invalid_request_error', 'A coupon has a percent_off or an amount_off with its currency, and a duration.');
  }
  const id = newId('coupon');
  return (ledger.books.coupons[id] = {
    id,
    object: 'coupon',
    name: textAt(form, 'name') ?? null,
    percent_off: percent,
    amount_off: amount,
    currency: textAt(form, 'currency') ?? null,
    duration: duration === 'forever' ? 'forever' : 'repeating',
    duration_in_months: months,
    created: ledger.second(),
  });
}

function pauseOrDiscount(ledger: Ledger, subscription: StripeSubscription, form: Form): void {
  if (textAt(form, 'pause_collection') === '') subscription.pause_collection = null;
  if (textAt(form, 'pause_collection', 'behavior') === 'void') subscription.pause_collection = { behavior: 'void', resumes_at: null };
  if (textAt(form, 'discounts') === '') ledger.discount(subscription, undefined);
  const coupon = textAt(form, 'discounts', 0, 'coupon');
  if (coupon === undefined) return;
  const found = ledger.books.coupons[coupon];
  if (!found) throw missing('coupon', coupon);
  ledger.discount(subscription, found);
}

function change(subscription: StripeSubscription, form: Form): void {
  const cancel = textAt(form, 'cancel_at_period_end');
  if (cancel !== undefined) {
    const [item] = subscription.items.data;
    subscription.cancel_at_period_end = cancel === 'true';
    subscription.cancel_at = cancel === 'true' ? item.current_period_end : null;
  }
  const noted = { ...subscription.metadata, ...textsAt(form, 'metadata') };
  subscription.metadata = Object.fromEntries(Object.entries(noted).filter(([, text]) => text !== ''));
}

/** Stripe accepts a time within the current period. */
function prorationDate(subscription: StripeSubscription, form: Form, ...within: readonly string[]): number {
  const at = Number(need(form, ...within, 'proration_date'));
  const [{ current_period_start: start, current_period_end: end }] = subscription.items.data;
  if (at >= start && at <= end) return at;
  throw new ApiError(400, 'invalid_request_error', 'The proration date must be within the current period.');
}

/** A page of a list, newest first, in Stripe's form. https://docs.stripe.com/api/pagination */
function listed<T extends { readonly id: string; readonly created: number }>(url: string, all: readonly T[], query: Form): object {
  const since = Number(textAt(query, 'created', 'gte') ?? '0');
  const found = all.filter(({ created }) => created >= since).toSorted((a, b) => b.created - a.created);
  const from = found.findIndex(({ id }) => id === textAt(query, 'starting_after')) + 1;
  const data = found.slice(from, from + Number(textAt(query, 'limit') ?? '10'));
  return { object: 'list', url, has_more: from + data.length < found.length, data };
}

/** The paths of Stripe's API that the adapter uses. https://docs.stripe.com/api */
function actsOf(options: StripeApiOptions): Readonly<Record<string, Act>> {
  const { ledger, url } = options;
  const sessionOf = (id: string): StripeSession => {
    const session = ledger.books.sessions[id];
    if (!session) throw missing('checkout session', id);
    if (session.status === 'open' && session.expires_at <= ledger.second()) ledger.expire(session);
    return session;
  };
  const subscriptionOf = (id: string): StripeSubscription => {
    const found = ledger.books.subscriptions[id];
    if (!found) throw missing('subscription', id);
    return found;
  };
  const invoiceOf = (id: string): Invoice => {
    const found = ledger.books.invoices[id];
    if (!found) throw missing('invoice', id);
    return found;
  };
  const takeDecline = (): boolean => {
    const isDeclined = ledger.declinesNext;
    ledger.declinesNext = false;
    return isDeclined;
  };
  const declined = (): ApiError => new ApiError(402, 'card_error', 'Your card was declined.', 'card_declined');
  return {
    'POST /v1/customers': ({ form }) => {
      const id = newId('cus');
      return (ledger.books.customers[id] = {
        id,
        object: 'customer',
        email: textAt(form, 'email') ?? null,
        metadata: textsAt(form, 'metadata'),
      });
    },
    'POST /v1/checkout/sessions': ({ form }) => openSession(options, form),
    'GET /v1/checkout/sessions/:id': ({ id, query }) => {
      const session = sessionOf(id);
      const isExpanded = textAt(query, 'expand', 0) === 'subscription';
      return isExpanded && session.subscription !== null ? { ...session, subscription: subscriptionOf(session.subscription) } : session;
    },
    'POST /v1/checkout/sessions/:id/expire': ({ id }) => {
      const session = sessionOf(id);
      if (session.status !== 'open') throw new ApiError(400, 'invalid_request_error', `This Session is ${session.status}.`);
      ledger.expire(session);
      return session;
    },
    'GET /v1/subscriptions': ({ query }) => listed('/v1/subscriptions', Object.values(ledger.books.subscriptions), query),
    'GET /v1/subscriptions/:id': ({ id }) => subscriptionOf(id),
    'POST /v1/subscriptions/:id': ({ id, form }) => {
      const subscription = subscriptionOf(id);
      if (subscription.status === 'canceled') throw missing('subscription', id);
      const amount = textAt(form, 'items', 0, 'price_data', 'unit_amount');
      if (amount !== undefined) {
        const behaviour = textAt(form, 'proration_behavior');
        const isNow = behaviour === 'always_invoice';
        if (behaviour !== 'none' && !(isNow && textAt(form, 'payment_behavior') === 'error_if_incomplete'))
          throw new ApiError(400, 'invalid_request_error', 'not done here');
        const at = isNow ? prorationDate(subscription, form) : undefined;
        const isPaid = !isNow || !takeDecline();
        if (!ledger.switch(subscription, { amount: Number(amount), at, isPaid })) {
          throw declined();
        }
      }
      pauseOrDiscount(ledger, subscription, form);
      change(subscription, form);
      ledger.changed(subscription);
      return subscription;
    },
    'POST /v1/coupons': ({ form }) => makeCoupon(options, form),
    'GET /v1/invoices': ({ query }) => listed('/v1/invoices', Object.values(ledger.books.invoices).map(shortInvoice), query),
    'GET /v1/invoices/:id': ({ id }) => shortInvoice(invoiceOf(id)),
    'GET /v1/invoices/:id/lines': ({ id, query }) => {
      const all = invoiceOf(id).lines.data.map((each) => ({ ...each, created: 0 }));
      return listed(`/v1/invoices/${id}/lines`, all, query);
    },
    'POST /v1/invoices/:id/pay': ({ id }) => {
      const invoice = invoiceOf(id);
      if (invoice.status !== 'open') throw new ApiError(400, 'invalid_request_error', `Invoice is already ${invoice.status}`);
      if (takeDecline()) throw declined();
      ledger.settle(invoice);
      return invoice;
    },
    'GET /v1/refunds': ({ query }) => {
      const intent = textAt(query, 'payment_intent');
      const found = Object.values(ledger.books.refunds).filter((each) => intent === undefined || each.payment_intent === intent);
      const all = found.map((each) => ({ ...each, charge: ledger.chargeOf(invoiceOf(each.invoice)) }));
      return listed('/v1/refunds', all, query);
    },
    'POST /v1/refunds': ({ form }) => {
      const invoice = invoiceOf(need(form, 'payment_intent').slice(INTENT.length));
      const refund = ledger.giveBack(invoice, Number(need(form, 'amount')), textsAt(form, 'metadata'));
      if (!refund) throw new ApiError(400, 'invalid_request_error', 'Refund amount is greater than unrefunded amount on charge.');
      return refund;
    },
    'POST /v1/invoiceitems': ({ form }) => {
      const subscription = subscriptionOf(need(form, 'subscription'));
      const customer = need(form, 'customer');
      const amount = Number(need(form, 'amount'));
      const currency = need(form, 'currency');
      if (subscription.customer !== customer || subscription.status === 'canceled') throw missing('subscription', subscription.id);
      if (currency !== subscription.currency || !Number.isSafeInteger(amount))
        throw new ApiError(400, 'invalid_request_error', 'The currency or the amount is not right for this subscription.');
      const facts = { description: textAt(form, 'description') ?? null, metadata: textsAt(form, 'metadata') };
      const discountable = textAt(form, 'discountable') !== 'false';
      const item: InvoiceItem = {
        id: newId('ii'),
        object: 'invoiceitem',
        ...{ customer, subscription: subscription.id, amount, currency, ...facts, discountable, invoice: null, date: ledger.second() },
      };
      return (ledger.books.items[item.id] = item);
    },
    'GET /v1/invoiceitems': ({ query }) => {
      const all = Object.values(ledger.books.items).filter(({ customer }) => customer === textAt(query, 'customer'));
      return listed(
        '/v1/invoiceitems',
        all.map((each) => ({ ...each, created: each.date })),
        query,
      );
    },
    'GET /v1/invoice_payments': ({ query }) => {
      const intent = textAt(query, 'payment', 'payment_intent') ?? `${INTENT}${textAt(query, 'invoice') ?? ''}`;
      const found = ledger.books.invoices[intent.slice(INTENT.length)];
      const invoice = found?.status === 'paid' ? found : undefined;
      const isExpanded = textAt(query, 'expand', 0) === 'data.invoice';
      const payment = { type: 'payment_intent', payment_intent: intent };
      const data = invoice ? [{ id: newId('inpay'), object: 'invoice_payment', invoice: isExpanded ? invoice : invoice.id, payment }] : [];
      return { object: 'list', url: '/v1/invoice_payments', has_more: false, data };
    },
    'POST /v1/invoices/create_preview': ({ form }) => {
      const subscription = subscriptionOf(need(form, 'subscription'));
      const amount = Number(need(form, 'subscription_details', 'items', 0, 'price_data', 'unit_amount'));
      const total = ledger.proration(subscription, { amount, at: prorationDate(subscription, form, 'subscription_details') });
      return { object: 'invoice', subscription: subscription.id, currency: subscription.currency, total, amount_due: Math.max(total, 0) };
    },
    'DELETE /v1/subscriptions/:id': ({ id }) => {
      const subscription = subscriptionOf(id);
      if (subscription.status === 'canceled') throw missing('subscription', id);
      ledger.end(subscription);
      return subscription;
    },
    'POST /v1/billing_portal/sessions': ({ form }) => {
      const account = need(form, 'customer');
      if (!ledger.books.customers[account]) throw missingCustomer(account);
      const back = textAt(form, 'return_url') ?? '';
      const page = `${url()}/portal/${account}?back=${encodeURIComponent(back)}`;
      return { id: newId('bps'), object: 'billing_portal.session', customer: account, return_url: back, url: page };
    },
  };
}

/** The response to an act. A declined card is a response too, which the same key gets again. */
function answerOf(work: () => object): { status: number; body: string } {
  try {
    return { status: 200, body: JSON.stringify(work()) };
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 402) throw error;
    return { status: error.status, body: JSON.stringify(errorBody(error)) };
  }
}

const errorBody = ({ type, message, code, param }: ApiError): object => ({ error: { type, message, code, param } });

/**
 * The same key with the same request gets the same response; with another request it is refused.
 * https://docs.stripe.com/api/idempotent_requests
 */
function once(
  ledger: Ledger,
  { key, asked }: { key: string | undefined; asked: string },
  work: () => object,
): { status: number; body: string } {
  const before = key === undefined ? undefined : ledger.books.answers[key];
  if (before && before.asked !== asked) {
    throw new ApiError(400, 'idempotency_error', 'Keys for idempotent requests can only be used with the same parameters.');
  }
  if (before) return before;
  const answer = { asked, ...answerOf(work) };
  if (key !== undefined) ledger.books.answers[key] = answer;
  ledger.keep();
  return answer;
}

function fail(reply: FastifyReply, error: unknown): FastifyReply {
  const known = error instanceof ApiError ? error : new ApiError(400, 'invalid_request_error', String(error));
  return reply.code(known.status).send(errorBody(known));
}

/** Adds Stripe's HTTP API, as far as it is used. */
export function addStripeApi(app: FastifyInstance, options: StripeApiOptions): void {
  const { ledger, secretKey, onRequest } = options;
  for (const [name, act] of Object.entries(actsOf(options))) {
    const [method = '', url = ''] = name.split(' ');
    app.route({
      method,
      url,
      exposeHeadRoute: false,
      handler: (request: FastifyRequest, reply) => {
        // The provider's own clock, which differs from ours.
        reply.header('date', new Date(ledger.second() * 1_000).toUTCString()).header('request-id', newId('req'));
        if (request.headers.authorization !== `Bearer ${secretKey}`) {
          return fail(reply, new ApiError(401, 'invalid_request_error', 'Invalid API Key provided'));
        }
        try {
          const isGet = method === 'GET';
          const text = typeof request.body === 'string' ? request.body : '';
          const form = readForm(text);
          const key = request.headers['idempotency-key'];
          const idempotencyKey = typeof key === 'string' ? key : undefined;
          const [path = '', query = ''] = request.url.split('?');
          onRequest?.({ method, path, form: isGet ? readForm(query) : form, idempotencyKey });
          const { id = '' } = request.params as { id?: string };
          const asked = `${path}?${text}`;
          const run = (): object => act({ id, form, query: readForm(query) });
          const { status, body } = isGet ? answerOf(run) : once(ledger, { key: idempotencyKey, asked }, run);
          return reply.code(status).type('application/json').send(body);
        } catch (error) {
          return fail(reply, error);
        }
      },
    });
  }
}
