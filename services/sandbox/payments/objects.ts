import { randomBytes } from 'node:crypto';

/** Stripe's objects, with the members that are documented and used. Times are seconds since 1970. */
export interface StripeCustomer {
  id: string;
  object: 'customer';
  email: string | null;
  metadata: Record<string, string>;
}

export interface Price {
  id: string;
  object: 'price';
  currency: string;
  unit_amount: number;
  product: string;
  recurring: { interval: 'month'; interval_count: 1 };
}

export interface Coupon {
  id: string;
  object: 'coupon';
  name: string | null;
  percent_off: number | null;
  amount_off: number | null;
  currency: string | null;
  duration: 'forever' | 'repeating';
  duration_in_months: number | null;
  created: number;
}

export interface StripeSubscription {
  id: string;
  object: 'subscription';
  customer: string;
  status: 'trialing' | 'active' | 'past_due' | 'canceled';
  metadata: Record<string, string>;
  cancel_at_period_end: boolean;
  cancel_at: number | null;
  canceled_at: number | null;
  ended_at: number | null;
  created: number;
  currency: string;
  latest_invoice: string | null;
  pause_collection: { behavior: 'void'; resumes_at: null } | null;
  /** Ids of discounts. */
  discounts: string[];
  /** Only in the sandbox: the coupon, and when it ends. */
  coupon: { id: string; end: number | null } | null;
  items: {
    object: 'list';
    has_more: false;
    data: [
      { id: string; object: 'subscription_item'; price: Price; quantity: 1; current_period_start: number; current_period_end: number },
    ];
  };
}

export interface Invoice {
  id: string;
  object: 'invoice';
  customer: string;
  currency: string;
  status: 'open' | 'paid' | 'void';
  amount_due: number;
  amount_paid: number;
  /** Only in the sandbox: the amount refunded. */
  refunded: number;
  attempted: boolean;
  attempt_count: number;
  status_transitions: { finalized_at: number; paid_at: number | null };
  next_payment_attempt: number | null;
  hosted_invoice_url: string;
  created: number;
  billing_reason: string;
  /** Only in the sandbox: without the plan's own line, which no program reads. */
  lines: { object: 'list'; has_more: boolean; data: StripeInvoiceLine[] };
  parent: { type: 'subscription_details'; subscription_details: { subscription: string; metadata: Record<string, string> } };
}

export interface StripeInvoiceLine {
  id: string;
  object: 'line_item';
  amount: number;
  currency: string;
  description: string | null;
  metadata: Record<string, string>;
}

export interface InvoiceItem {
  id: string;
  object: 'invoiceitem';
  customer: string;
  /** The subscription whose next invoice includes it. */
  subscription: string;
  amount: number;
  currency: string;
  description: string | null;
  metadata: Record<string, string>;
  /** Whether a discount of the invoice applies to it too. */
  discountable: boolean;
  /** Null until that invoice exists. */
  invoice: string | null;
  date: number;
}

export interface StripeRefund {
  id: string;
  object: 'refund';
  amount: number;
  currency: string;
  payment_intent: string;
  metadata: Record<string, string>;
  created: number;
  /** Only in the sandbox: the invoice to which it belongs. */
  invoice: string;
}

export interface StripeSession {
  id: string;
  object: 'checkout.session';
  mode: 'subscription';
  status: 'open' | 'complete' | 'expired';
  payment_status: 'unpaid' | 'paid' | 'no_payment_required';
  customer: string;
  client_reference_id: string | null;
  success_url: string;
  cancel_url: string;
  url: string | null;
  subscription: string | null;
  expires_at: number;
  created: number;
  /** Only in the sandbox: the purchase. */
  wish: {
    name: string;
    currency: string;
    amount: number;
    trialDays: number;
    metadata: Record<string, string>;
    takesCodes: boolean;
  };
}

export interface Event {
  id: string;
  object: 'event';
  type: string;
  created: number;
  livemode: false;
  api_version: string;
  data: { object: unknown };
}

/** The stand-in's whole state, kept in a file so that it survives a restart. */
export interface Books {
  customers: Record<string, StripeCustomer>;
  sessions: Record<string, StripeSession>;
  subscriptions: Record<string, StripeSubscription>;
  invoices: Record<string, Invoice>;
  items: Record<string, InvoiceItem>;
  refunds: Record<string, StripeRefund>;
  coupons: Record<string, Coupon>;
  /** Requests and their responses, by idempotency key. */
  answers: Record<string, { asked: string; status: number; body: string }>;
  /** Events that are not delivered yet. */
  waiting: { event: Event; attempts: number; dueMs: number }[];
  /** The last time issued: the stand-in's own clock. */
  lastSecond: number;
}

/** An invoice as it is in events and lists: with at most ten lines. https://docs.stripe.com/api/invoices/object#invoice_object-lines */
export function shortInvoice(invoice: Invoice): Invoice {
  const { data } = invoice.lines;
  return { ...invoice, lines: { object: 'list', has_more: data.length > 10, data: data.slice(0, 10) } };
}

export function emptyBooks(): Books {
  return {
    customers: {},
    sessions: {},
    subscriptions: {},
    invoices: {},
    items: {},
    refunds: {},
    coupons: {},
    answers: {},
    waiting: [],
    lastSecond: 0,
  };
}

export const newId = (kind: string): string => `${kind}_${randomBytes(12).toString('hex')}`;

/** The same day of the next month, or that month's last day. */
export function monthAfter(seconds: number): number {
  const from = new Date(seconds * 1_000);
  const to = new Date(from);
  to.setUTCDate(1);
  to.setUTCMonth(to.getUTCMonth() + 1);
  const days = new Date(Date.UTC(to.getUTCFullYear(), to.getUTCMonth() + 1, 0)).getUTCDate();
  to.setUTCDate(Math.min(from.getUTCDate(), days));
  return to.getTime() / 1_000;
}
