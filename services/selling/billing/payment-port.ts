import { type IncomingHttpHeaders } from 'node:http';
import { type GivenFact } from './payment-facts';

/** What a customer is sent to pay for. */
export interface CheckoutWish {
  /** Our id. The provider recognises a repeated request by it, and returns the same page. */
  readonly id: string;
  /** The provider's id of the customer; undefined if the provider does not know the customer yet. */
  readonly account: string | undefined;
  readonly customerId: string;
  /** For the provider's own mails. */
  readonly email: string;
  readonly product: string;
  /** The title that customers read. */
  readonly title: string;
  readonly plan: string;
  /** A month, in the currency's smallest unit. */
  readonly price: number;
  readonly currency: string;
  /** Days before the first charge; 0: none. */
  readonly trialDays: number;
  /** Whether the page takes promotion codes. */
  readonly takesCodes: boolean;
  /** Where the customer returns, paid or not. */
  readonly returnUrl: string;
  readonly cancelUrl: string;
}

export interface CheckoutPage {
  /** The provider's id of the customer; undefined if the provider creates customers when they pay. */
  readonly account?: string | undefined;
  /** The provider's id of the checkout. */
  readonly session: string;
  readonly url: string;
}

/** The outcome of a checkout. */
export interface CheckoutOutcome {
  readonly state: 'open' | 'paid' | 'closed';
  /** The subscription that it began. */
  readonly facts: readonly GivenFact[];
}

/** The content of a provider's event; an event that does not concern us has no facts and no checkout. */
export interface ProviderNews {
  readonly facts: readonly GivenFact[];
  /** Our id of a checkout that ended; the provider is asked for the outcome. */
  readonly checkout?: string | undefined;
}

/** Another plan of the same product, as `plan-change.ts` decided it. */
export interface PlanSwitch {
  /** Our id, new for each change that a customer accepts: a repeated request with it changes nothing twice. */
  readonly id: string;
  /** Title of the product, as customers read it. */
  readonly title: string;
  readonly plan: string;
  /** A month, in the smallest unit of the currency that is paid in. */
  readonly price: number;
  /** `now`: the paid period costs the new price as well, if there is a charge. `next_period`: nothing is charged or credited. */
  readonly begins: 'now' | 'next_period';
  /** What the period costs more; 0: nothing is charged. */
  readonly charge: number;
  /** What was paid for the period, from which the charge was computed. A subscription at another price is not changed. */
  readonly heldPrice: number;
}

/** What a seller takes off the next charges: a share of them, or an amount. */
export interface DiscountWish {
  /** Our id, new for each discount. */
  readonly id: string;
  readonly percent: number | null;
  /** In the currency's smallest unit. */
  readonly amount: number | null;
  readonly currency: string;
  /** How many charges are lower; null: all of them. */
  readonly months: number | null;
  /** Its name on the provider's invoices. */
  readonly name: string;
}

/**
 * `cancel`: it ends with the paid period. `keep`: takes that back. `end`: at once. `switch`: another plan. `stay`: takes back a plan that
 * waits for the next period. `pause`: nothing is charged until `resume`. `discount`: replaces the earlier one; null removes it.
 */
export type SubscriptionChange =
  | { readonly kind: 'cancel' | 'keep' | 'end' | 'stay' | 'pause' | 'resume' }
  | ({ readonly kind: 'switch' } & PlanSwitch)
  | { readonly kind: 'discount'; readonly discount: DiscountWish | null };

/** What a change costs at once, including what the provider adds, such as tax. */
export interface SwitchCost {
  readonly amount: number;
  readonly currency: string;
}

/** What a customer used above the limits of a plan in a past month. */
export interface UseCharge {
  /** Our id, by which it is found at the provider. */
  readonly id: string;
  /** The provider's id of the customer, if known. */
  readonly account: string | undefined;
  /** The text on the invoice. */
  readonly description: string;
  /** In the currency's smallest unit. */
  readonly amount: number;
  readonly currency: string;
  /** The provider may have it already: it was asked before, and its response did not arrive. */
  readonly isAgain: boolean;
}

/** A refund of a payment. */
export interface RefundWish {
  /** Our id, by which the refund is found at the provider: a repeated request refunds nothing twice. */
  readonly id: string;
  /** In the currency's smallest unit. */
  readonly amount: number;
  readonly currency: string;
  /** The provider may have it already: it was asked before, and its response did not arrive. */
  readonly isAgain: boolean;
}

/**
 * Takes payments. Cards, addresses and money stay with the provider; only ids, amounts and states come back. Amounts are in the currency's
 * smallest unit. Each operation may be repeated after an error without doing anything twice.
 * @throws ProviderAway if the provider cannot be reached or fails; ProviderRefused if it refuses
 */
export interface PaymentPort {
  readonly name: 'stripe' | 'razorpay' | 'sandbox';
  /** Whether its payment page leads the customer back to us. */
  readonly leadsBack: boolean;
  /** Whether a cancellation cannot be taken back. */
  readonly isCancelFinal: boolean;
  /** Whether it can charge a given sum at once, so that a more expensive plan can begin within a period. */
  readonly chargesAtOnce: boolean;
  /** Whether it supports a discount from a seller for one subscription. */
  readonly takesDiscounts: boolean;
  /** The provider's payment page; the first one also creates the provider's customer. */
  openCheckout(wish: CheckoutWish): Promise<CheckoutPage>;
  /** The outcome of a checkout, or that it is closed now, so that nobody can pay through it any more. */
  settleCheckout(session: string, act: 'look' | 'close'): Promise<CheckoutOutcome>;
  /**
   * The present state of one subscription, by the provider's id; or all of ours, including those ended in the last weeks, and after them
   * the charges and refunds since a time, in seconds since 1970.
   */
  listFacts(of: string | { readonly since: number }): AsyncIterable<GivenFact>;
  /**
   * What another plan would cost now; changes nothing.
   * @throws ChangeRefused
   */
  previewChange(subscription: string, wish: PlanSwitch): Promise<SwitchCost>;
  /**
   * Changes a subscription; a switch changes the plan only if its charge is paid. Returns the subscription's new state, read again, because
   * a provider's stored response to a repeated request may be outdated.
   * @throws ChangeRefused, PaymentFailed
   */
  changeSubscription(subscription: string, change: SubscriptionChange): Promise<readonly GivenFact[]>;
  /**
   * Retries the charge of an owed invoice, if the provider lets a seller do so. Two requests within a minute are one try.
   * @throws ChangeRefused if nothing is owed any more, PaymentFailed
   */
  chargeAgain?(invoice: string, nowMs: number): Promise<readonly GivenFact[]>;
  /**
   * Refunds an invoice, or a part of it. Returns the state read again, as after a change.
   * @throws ChangeRefused, also for more than is left of it
   */
  refund(invoice: string, wish: RefundWish): Promise<readonly GivenFact[]>;
  /** Finds what paid an invoice, if events do not say; undefined if no payment did, as with the customer's balance. Waits at most 2 s. */
  findPayment?(invoice: string): Promise<string | undefined>;
  /**
   * Adds a charge to the next invoice of a subscription that goes on.
   * @returns the provider's id of it
   */
  chargeUse(subscription: string, use: UseCharge): Promise<string>;
  /** The provider's page for a customer's cards and invoices, if it has one. */
  openPortal?(account: string, returnUrl: string): Promise<{ readonly url: string }>;
  /**
   * Parses an event as it was sent.
   * @throws EventRefused if its signature or its age is wrong
   */
  readEvent(body: Buffer, headers: IncomingHttpHeaders, nowMs: number): Promise<ProviderNews>;
}

/** The provider did not respond, or said that it cannot now. */
export class ProviderAway extends Error {
  override readonly name = 'ProviderAway';
}

/** The provider refuses, and would refuse again. */
export class ProviderRefused extends Error {
  override readonly name: string = 'ProviderRefused';
}

/** The provider does not support this for this subscription, for example another plan for one that is not paid by card. */
export class ChangeRefused extends ProviderRefused {
  override readonly name = 'ChangeRefused';
}

/** The card was declined, or its bank requires authentication; nothing was changed. */
export class PaymentFailed extends Error {
  override readonly name = 'PaymentFailed';
}

/** Not from the provider, or too old to be trusted. */
export class EventRefused extends Error {
  override readonly name = 'EventRefused';
}

/** Older events are refused, so that an intercepted event cannot be replayed. */
export const EVENT_AGE_SECONDS = 300;
