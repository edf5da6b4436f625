import { type PaymentPort } from '../../../services/selling/billing/payment-port';
import { createRazorpayPort } from '../../../services/dashboard/billing/razorpay/razorpay-port';
import { createStripePort } from '../../../services/dashboard/billing/stripe/stripe-port';
import { signEvent } from '../../../services/sandbox/payments/deliver-events';
import { type StripeSubscription } from '../../../services/sandbox/payments/objects';
import { startPaymentsSandbox } from '../../../services/sandbox/payments/start-payments-sandbox';
import { RAZORPAY_KEYS, signForRazorpay, startRazorpayStandIn } from '../../support/razorpay-stand-in';
import { PAYMENT_KEYS } from './paying-dashboard';

/** A request of an adapter, as the provider's documentation writes it. */
export interface Asked {
  readonly request: string;
  readonly fields: unknown;
  /** The idempotency header; undefined where none came. */
  readonly key: string | undefined;
}

/** A provider with one adapter before it, and what can happen there. */
export interface PaymentStage {
  readonly port: PaymentPort;
  /** The same with a key that the provider does not know. */
  readonly unknown: PaymentPort;
  /** What was asked since this was last taken. */
  asked(): Asked[];
  /** Bodies of events since they were last taken. */
  events(): string[];
  sign(body: string, of?: { readonly secret?: string; readonly at?: number }): Record<string, string>;
  /** Pays on the page of a checkout. @returns the subscription */
  pay(session: string): string;
  renew(subscription: string, isPaid: boolean): void;
  recover(subscription: string): void;
  end(subscription: string): void;
  refund(subscription: string): void;
  /** Deletes a customer there. */
  remove(account: string): void;
  /** Time passes there. */
  pass(seconds: number): void;
  /** Its clock, in Unix seconds. */
  second(): number;
  /** The next charge of a change is declined. */
  decline(): void;
  close(): Promise<void>;
}

/** By Stripe's HTTP, as `npm start` has it. */
export async function startStripeStage(): Promise<PaymentStage> {
  let seen: Asked[] = [];
  let aheadMs = 0;
  const provider = await startPaymentsSandbox({
    port: 0,
    ...PAYMENT_KEYS,
    now: () => Date.now() + aheadMs,
    send: () => Promise.resolve(503),
    onRequest: ({ method, path, form, idempotencyKey: key }) => void seen.push({ request: `${method} ${path}`, fields: form, key }),
  });
  const { ledger } = provider;
  const { books } = ledger;
  const one = (id: string): StripeSubscription => {
    const found = books.subscriptions[id];
    if (!found) throw new Error(`no subscription ${id}`);
    return found;
  };
  const portOf = (keys: typeof PAYMENT_KEYS) => createStripePort({ name: 'stripe', ...keys, url: provider.url });
  return {
    port: portOf(PAYMENT_KEYS),
    unknown: portOf({ ...PAYMENT_KEYS, secretKey: 'sk_test_of_another' }),
    asked: () => ([, seen] = [seen, [] as Asked[]])[0],
    events() {
      const told = books.waiting.map(({ event }) => JSON.stringify(event));
      books.waiting = [];
      return told;
    },
    sign: (body, { secret = PAYMENT_KEYS.webhookSecret, at = Date.now() / 1_000 } = {}) => ({
      'stripe-signature': signEvent(body, secret, Math.floor(at)),
    }),
    pay(session) {
      const found = books.sessions[session];
      if (!found) throw new Error(`no session ${session}`);
      return ledger.pay(found).id;
    },
    renew: (id, isPaid) => ledger.renew(one(id), isPaid),
    recover: (id) => ledger.recover(one(id)),
    end: (id) => ledger.end(one(id)),
    refund: (id) => ledger.refund(one(id)),
    remove: (account) => ledger.removeCustomer(account),
    pass: (seconds) => void (aheadMs += seconds * 1_000),
    second: () => ledger.second(),
    decline: () => void (ledger.declinesNext = true),
    close: () => provider.close(),
  };
}

export async function startRazorpayStage(): Promise<PaymentStage> {
  const standIn = await startRazorpayStandIn();
  const { url, account } = standIn;
  return {
    port: createRazorpayPort({ ...RAZORPAY_KEYS, url }),
    unknown: createRazorpayPort({ ...RAZORPAY_KEYS, keySecret: 'of another', url }),
    asked: () =>
      account.seen.splice(0).map(({ method, path, query, body }) => ({
        request: `${method} ${path}`,
        fields: method === 'GET' ? query : body,
        key: undefined,
      })),
    events: () => account.events.splice(0),
    sign: (body, { secret } = {}) => ({ 'x-razorpay-signature': signForRazorpay(body, secret), 'x-razorpay-event-id': 'evt_1' }),
    pay: (session) => account.pay(session).id,
    renew: (id, isPaid) => account.renew(id, isPaid),
    recover: (id) => account.recover(id),
    end: (id) => account.end(id),
    refund: (id) => account.refund(id),
    // It makes customers itself, and is told of none.
    remove: () => undefined,
    pass: (seconds) => account.pass(seconds),
    second: () => account.second(),
    decline: () => void (account.declinesNext = true),
    close: () => standIn.close(),
  };
}
