import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import {
  type Books,
  type Coupon,
  emptyBooks,
  type Event,
  type Invoice,
  type InvoiceItem,
  type StripeInvoiceLine,
  monthAfter,
  newId,
  type StripeRefund,
  type StripeSession,
  shortInvoice,
  type StripeSubscription,
} from './objects';

export interface LedgerOptions {
  /** Path of its file. Without one, the books are only in memory. */
  readonly file?: string | undefined;
  /** Address of the hosted pages. */
  readonly url: () => string;
  readonly now?: () => number;
}

const API_VERSION = '2026-10-28.endive';
const DAY = 86_400;
/** Each invoice is paid by one payment, which has its id. */
export const INTENT = 'pi_';

/** Reads books of earlier versions too, whose invoices had fewer members. */
function readBooks(file: string): Books {
  const books = { ...emptyBooks(), ...(JSON.parse(readFileSync(file, 'utf8')) as Books) };
  for (const each of Object.values(books.invoices)) {
    const moments = { finalized_at: each.created, paid_at: each.status === 'paid' ? each.created : null };
    const lines = { object: 'list', has_more: false, data: [] };
    books.invoices[each.id] = Object.assign({ attempted: true, status_transitions: moments, lines }, each);
  }
  for (const each of Object.values(books.subscriptions)) {
    books.subscriptions[each.id] = Object.assign({ pause_collection: null, discounts: [], coupon: null }, each);
  }
  return books;
}

/** The provider's side: each act changes its books and leaves events to deliver, as Stripe's documentation describes them. */
export class Ledger {
  readonly books: Books;
  onEvent: () => void = () => undefined;
  /** For tests: the next charge of a saved card is declined. */
  declinesNext = false;

  constructor(private readonly options: LedgerOptions) {
    const { file } = options;
    this.books = file !== undefined && existsSync(file) ? readBooks(file) : emptyBooks();
  }

  /** The next second of the provider's own clock, so that no two events have the same time. */
  second(): number {
    const now = Math.floor((this.options.now ?? Date.now)() / 1_000);
    this.books.lastSecond = Math.max(now, this.books.lastSecond);
    return this.books.lastSecond;
  }

  keep(): void {
    const { file } = this.options;
    if (file === undefined) return;
    writeFileSync(`${file}.draft`, JSON.stringify(this.books), { mode: 0o600 });
    renameSync(`${file}.draft`, file);
  }

  tell(type: string, object: object): void {
    const created = Math.max(this.second(), this.books.lastSecond + 1);
    this.books.lastSecond = created;
    const data = { object: structuredClone(object) };
    const event: Event = { id: newId('evt'), object: 'event', type, created, livemode: false, api_version: API_VERSION, data };
    this.books.waiting.push({ event, attempts: 0, dueMs: 0 });
    this.onEvent();
  }

  private bill(
    subscription: StripeSubscription,
    { amount, isPaid, reason, items = [] }: { amount: number; isPaid: boolean; reason: string; items?: readonly InvoiceItem[] },
  ): Invoice {
    const id = newId('in');
    const lineOf = ({ description, metadata, ...item }: InvoiceItem): StripeInvoiceLine => ({
      id: newId('il'),
      object: 'line_item',
      amount: item.amount,
      currency: item.currency,
      description,
      metadata,
    });
    const invoice: Invoice = {
      id,
      object: 'invoice',
      customer: subscription.customer,
      currency: subscription.currency,
      status: isPaid ? 'paid' : 'open',
      amount_due: amount,
      amount_paid: isPaid ? amount : 0,
      refunded: 0,
      attempted: true,
      attempt_count: 1,
      status_transitions: { finalized_at: this.second(), paid_at: isPaid ? this.second() : null },
      next_payment_attempt: isPaid ? null : this.second() + 3 * DAY,
      hosted_invoice_url: `${this.options.url()}/invoices/${id}`,
      created: this.second(),
      billing_reason: reason,
      lines: { object: 'list', has_more: false, data: items.map(lineOf) },
      parent: { type: 'subscription_details', subscription_details: { subscription: subscription.id, metadata: subscription.metadata } },
    };
    this.books.invoices[id] = invoice;
    subscription.latest_invoice = id;
    return invoice;
  }

  /** The customer paid on the hosted page. */
  pay(session: StripeSession): StripeSubscription {
    const known = session.subscription === null ? undefined : this.books.subscriptions[session.subscription];
    if (known) return known;
    const now = this.second();
    const { wish } = session;
    const isTrial = wish.trialDays > 0;
    const price = {
      id: newId('price'),
      object: 'price' as const,
      currency: wish.currency,
      unit_amount: wish.amount,
      product: newId('prod'),
      recurring: { interval: 'month' as const, interval_count: 1 as const },
    };
    const end = isTrial ? now + wish.trialDays * DAY : monthAfter(now);
    const item = { id: newId('si'), object: 'subscription_item' as const, price, quantity: 1 as const };
    const subscription: StripeSubscription = {
      id: newId('sub'),
      object: 'subscription',
      customer: session.customer,
      status: isTrial ? 'trialing' : 'active',
      metadata: { ...wish.metadata },
      cancel_at_period_end: false,
      cancel_at: null,
      canceled_at: null,
      ended_at: null,
      created: now,
      currency: wish.currency,
      latest_invoice: null,
      pause_collection: null,
      discounts: [],
      coupon: null,
      items: { object: 'list', has_more: false, data: [{ ...item, current_period_start: now, current_period_end: end }] },
    };
    this.books.subscriptions[subscription.id] = subscription;
    const invoice = this.bill(subscription, { amount: isTrial ? 0 : wish.amount, isPaid: true, reason: 'subscription_create' });
    Object.assign(session, { status: 'complete', payment_status: 'paid', subscription: subscription.id, url: null });
    this.tell('customer.subscription.created', subscription);
    this.tell('invoice.paid', shortInvoice(invoice));
    this.tell('checkout.session.completed', session);
    this.keep();
    return subscription;
  }

  expire(session: StripeSession): void {
    if (session.status !== 'open') return;
    Object.assign(session, { status: 'expired', url: null });
    this.tell('checkout.session.expired', session);
    this.keep();
  }

  /** The period ends: the next one is charged, or the subscription ends if that was requested. */
  renew(subscription: StripeSubscription, isPaid: boolean): void {
    if (subscription.status === 'canceled') return;
    if (subscription.cancel_at_period_end) return this.end(subscription);
    const [item] = subscription.items.data;
    item.current_period_start = item.current_period_end;
    item.current_period_end = monthAfter(item.current_period_end);
    const items = Object.values(this.books.items).filter((each) => each.subscription === subscription.id && each.invoice === null);
    const sumOf = (all: readonly InvoiceItem[]): number => all.reduce((sum, each) => sum + each.amount, 0);
    const off = this.discounted(
      subscription,
      item.price.unit_amount + sumOf(items.filter(({ discountable }) => discountable)),
      item.current_period_start,
    );
    const amount = off + sumOf(items.filter(({ discountable }) => !discountable));
    const invoice = this.bill(subscription, { amount, isPaid, reason: 'subscription_cycle', items });
    for (const each of items) each.invoice = invoice.id;
    if (subscription.pause_collection !== null) {
      Object.assign(invoice, { status: 'void', amount_paid: 0, attempted: false });
      return this.changed(subscription);
    }
    subscription.status = isPaid ? 'active' : 'past_due';
    this.tell(isPaid ? 'invoice.paid' : 'invoice.payment_failed', shortInvoice(invoice));
    this.tell('customer.subscription.updated', subscription);
    this.keep();
  }

  /** Takes a coupon off an amount charged at a given time. An expired coupon is forgotten. */
  private discounted(subscription: StripeSubscription, amount: number, at: number): number {
    const { coupon: given } = subscription;
    if (given !== null && given.end !== null && at >= given.end) Object.assign(subscription, { coupon: null, discounts: [] });
    const coupon = subscription.coupon === null ? undefined : this.books.coupons[subscription.coupon.id];
    if (!coupon) return amount;
    return Math.max(0, amount - (coupon.amount_off ?? Math.round((amount * (coupon.percent_off ?? 0)) / 100)));
  }

  /** Applies a coupon from now on for its months; undefined removes it. */
  discount(subscription: StripeSubscription, coupon: Coupon | undefined): void {
    if (!coupon) return void Object.assign(subscription, { coupon: null, discounts: [] });
    let end = Math.max(this.second(), subscription.items.data[0].current_period_start);
    for (let month = 0; month < (coupon.duration_in_months ?? 0); month++) end = monthAfter(end);
    Object.assign(subscription, { coupon: { id: coupon.id, end: coupon.duration === 'forever' ? null : end }, discounts: [newId('di')] });
  }

  /** The open invoice is paid now. */
  recover(subscription: StripeSubscription): void {
    const open = Object.values(this.books.invoices).find(
      ({ parent, status }) => status === 'open' && parent.subscription_details.subscription === subscription.id,
    );
    if (open) this.settle(open);
  }

  /** An open invoice is paid now. */
  settle(invoice: Invoice): void {
    const subscription = this.books.subscriptions[invoice.parent.subscription_details.subscription];
    Object.assign(invoice, { status: 'paid', amount_paid: invoice.amount_due, next_payment_attempt: null });
    invoice.status_transitions.paid_at = this.second();
    this.tell('invoice.paid', shortInvoice(invoice));
    if (subscription && subscription.status !== 'canceled') {
      subscription.status = 'active';
      this.tell('customer.subscription.updated', subscription);
    }
    this.keep();
  }

  /** The charge that paid an invoice. */
  chargeOf({ id, customer, currency, amount_paid: amount, refunded }: Invoice) {
    const ids = { id: `ch_${id}`, payment_intent: `${INTENT}${id}` };
    return { ...ids, object: 'charge', customer, currency, amount, amount_refunded: refunded, refunded: refunded === amount };
  }

  /** The seller deletes a customer at the provider: its subscriptions end, and its id becomes invalid. */
  removeCustomer(id: string): void {
    for (const each of Object.values(this.books.subscriptions)) if (each.customer === id) this.end(each);
    delete this.books.customers[id];
    this.keep();
  }

  /** The seller refunds the whole last payment. */
  refund({ latest_invoice: id }: StripeSubscription): void {
    const invoice = id === null ? undefined : this.books.invoices[id];
    if (invoice) this.giveBack(invoice, invoice.amount_paid - invoice.refunded);
  }

  /** @returns undefined if less than this is left of the payment */
  giveBack(invoice: Invoice, amount: number, metadata: Record<string, string> = {}): StripeRefund | undefined {
    if (amount <= 0 || amount > invoice.amount_paid - invoice.refunded) return undefined;
    invoice.refunded += amount;
    const { id, currency } = invoice;
    const of = { payment_intent: `${INTENT}${id}`, invoice: id };
    const refund: StripeRefund = { id: newId('re'), object: 'refund', amount, currency, ...of, metadata, created: this.second() };
    this.books.refunds[refund.id] = refund;
    this.tell('charge.refunded', this.chargeOf(invoice));
    this.keep();
    return refund;
  }

  /** How much more the rest of the period costs from a time on, by the second, rounded half up; negative if it costs less. */
  proration(subscription: StripeSubscription, { amount, at }: { amount: number; at: number }): number {
    const [item] = subscription.items.data;
    const { current_period_start: start, current_period_end: end } = item;
    if (subscription.status === 'trialing') return 0;
    const share = (price: number): number => Math.round((price * (end - at)) / (end - start));
    const due = share(amount) - share(item.price.unit_amount);
    return due > 0 ? this.discounted(subscription, due, this.second()) : due;
  }

  /**
   * Switches to the next price, with an invoice for the difference if that is to be charged at once.
   * @returns false if the card was declined; nothing is changed then
   */
  switch(subscription: StripeSubscription, { amount, at, isPaid }: { amount: number; at: number | undefined; isPaid: boolean }): boolean {
    const due = at === undefined ? 0 : this.proration(subscription, { amount, at });
    if (due > 0 && !isPaid) return false;
    const [item] = subscription.items.data;
    item.price = { ...item.price, id: newId('price'), unit_amount: amount };
    if (at === undefined) return true;
    const invoice = this.bill(subscription, { amount: Math.max(due, 0), isPaid: true, reason: 'subscription_update' });
    this.tell('invoice.paid', shortInvoice(invoice));
    return true;
  }

  end(subscription: StripeSubscription): void {
    if (subscription.status === 'canceled') return;
    const now = this.second();
    Object.assign(subscription, { status: 'canceled', ended_at: now, canceled_at: now });
    this.tell('customer.subscription.deleted', subscription);
    this.keep();
  }

  changed(subscription: StripeSubscription): void {
    this.tell('customer.subscription.updated', subscription);
    this.keep();
  }
}
