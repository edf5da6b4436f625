import { type IncomingHttpHeaders } from 'node:http';
import { type GivenFact } from './payment-facts';

/** What a customer is sent to pay for. */
export interface CheckoutWish {
  /** Ours. The provider recognises a wish that is sent again by it, and answers with the same page. */
  readonly id: string;
  /** The provider's id of the customer; undefined for one that it does not know yet. */
  readonly account: string | undefined;
  readonly customerId: string;
  /** For the provider's own mails. */
  readonly email: string;
  readonly product: string;
  /** As customers read it. */
  readonly title: string;
  readonly plan: string;
  /** A month, in the currency's smallest unit. */
  readonly price: number;
  readonly currency: string;
  /** Before the first charge; 0: none. */
  readonly trialDays: number;
  /** Whether the page takes promotion codes. */
  readonly takesCodes: boolean;
  /** Where the customer comes back to, paid or not. */
  readonly returnUrl: string;
  readonly cancelUrl: string;
}

export interface CheckoutPage {
  /** The provider's id of the customer; undefined where it makes customers itself when they pay. */
  readonly account?: string | undefined;
  /** The provider's id of the checkout. */
  readonly session: string;
  readonly url: string;
}

/** What came of a checkout. */
export interface CheckoutOutcome {
  readonly state: 'open' | 'paid' | 'closed';
  /** The subscription that it began. */
  readonly facts: readonly GivenFact[];
}

/** What an event of a provider says; nothing of what we need to know is no fact and no checkout. */
export interface ProviderNews {
  readonly facts: readonly GivenFact[];
  /** Our id of a checkout that came to an end; the provider is asked to which. */
  readonly checkout?: string | undefined;
}

/** Another plan of the same product, as `plan-change.ts` decided it. */
export interface PlanSwitch {
  /** Ours, and new for each change that a customer accepts: a request that is sent again with it changes nothing twice. */
  readonly id: string;
  /** Title of the product, as customers read it. */
  readonly title: string;
  readonly plan: string;
  /** A month, in the currency's smallest unit; the currency is the one that is paid in. */
  readonly price: number;
  /** `now`: the period that is paid costs the new price as well, if there is a charge. `next_period`: nothing is charged or credited. */
  readonly begins: 'now' | 'next_period';
  /** What the period costs more; 0: nothing is charged. */
  readonly charge: number;
  /** What the period is paid for, from which the charge was reckoned. A subscription at another price is not changed. */
  readonly heldPrice: number;
}

/** What a seller takes off the next charges: a share of them, or an amount. */
export interface DiscountWish {
  /** Ours, and new for each one that is given. */
  readonly id: string;
  readonly percent: number | null;
  /** In the currency's smallest unit. */
  readonly amount: number | null;
  readonly currency: string;
  /** How many charges are lower; null: each one is. */
  readonly months: number | null;
  /** As the provider's invoices call it. */
  readonly name: string;
}

/**
 * `cancel`: it ends with the period that is paid. `keep`: that is taken back. `end`: at once. `switch`: another plan. `stay`: a plan that waits
 * for the next period is taken back. `pause`: nothing is charged until `resume`. `discount`: in place of the one before; null: none any more.
 */
export type SubscriptionChange =
  | { readonly kind: 'cancel' | 'keep' | 'end' | 'stay' | 'pause' | 'resume' }
  | ({ readonly kind: 'switch' } & PlanSwitch)
  | { readonly kind: 'discount'; readonly discount: DiscountWish | null };

/** What a change costs at once, with what the provider adds, such as tax. */
export interface SwitchCost {
  readonly amount: number;
  readonly currency: string;
}

/** What a customer used above the limits of a plan in a month that is over. */
export interface UseCharge {
  /** Ours, by which it is found at the provider. */
  readonly id: string;
  /** The provider's id of the customer, where we know it. */
  readonly account: string | undefined;
  /** As it stands on the invoice. */
  readonly description: string;
  /** In the currency's smallest unit. */
  readonly amount: number;
  readonly currency: string;
  /** The provider may have it already: it was asked before, and its answer did not arrive. */
  readonly isAgain: boolean;
}

/** What is to go back of a payment. */
export interface RefundWish {
  /** Ours, by which it is found at the provider: sent again, it gives nothing back twice. */
  readonly id: string;
  /** In the currency's smallest unit. */
  readonly amount: number;
  readonly currency: string;
  /** The provider may have it already: it was asked before, and its answer did not arrive. */
  readonly isAgain: boolean;
}

/**
 * Who takes payments. Cards, addresses and money stay with it; what comes back are ids, amounts and states. Amounts are whole units of the
 * currency's smallest part. Each operation may be sent again after an error without doing anything twice.
 * @throws ProviderAway when the provider cannot be reached or fails; ProviderRefused when it refuses
 */
export interface PaymentPort {
  readonly name: 'stripe' | 'razorpay' | 'sandbox';
  /** Whether its page to pay on leads the customer back to us. */
  readonly leadsBack: boolean;
  /** Whether a cancellation cannot be taken back. */
  readonly isCancelFinal: boolean;
  /** Whether it charges a sum that we name at once, so that a dearer plan can begin within a period. */
  readonly chargesAtOnce: boolean;
  /** Whether it takes a discount from a seller for one subscription. */
  readonly takesDiscounts: boolean;
  /** The provider's page to pay on, for a customer of the provider's that is made with the first one. */
  openCheckout(wish: CheckoutWish): Promise<CheckoutPage>;
  /** What came of a checkout, or that it is closed now, so that nobody can pay by it any more. */
  settleCheckout(session: string, act: 'look' | 'close'): Promise<CheckoutOutcome>;
  /**
   * How the provider has one subscription now, by its id; or all of ours, ended ones of the last weeks too, and after them what
   * was charged and given back since a time, in seconds since 1970.
   */
  listFacts(of: string | { readonly since: number }): AsyncIterable<GivenFact>;
  /** What another plan would cost now; nothing is changed. @throws ChangeRefused */
  previewChange(subscription: string, wish: PlanSwitch): Promise<SwitchCost>;
  /**
   * A switch changes the plan only if its charge is paid. The answer is how the subscription is afterwards, asked anew: an answer that a
   * provider gives once more to a request that was sent again is none.
   * @throws ChangeRefused, PaymentFailed
   */
  changeSubscription(subscription: string, change: SubscriptionChange): Promise<readonly GivenFact[]>;
  /**
   * Charges an invoice that is owed once more, where the provider lets a seller do so. Asked twice in a minute, it tries once.
   * @throws ChangeRefused where nothing is owed any more, PaymentFailed
   */
  chargeAgain?(invoice: string, nowMs: number): Promise<readonly GivenFact[]>;
  /**
   * Gives back what was paid of an invoice, or a part of that. The answer is asked anew, as after a change.
   * @throws ChangeRefused, also for more than is left of it
   */
  refund(invoice: string, wish: RefundWish): Promise<readonly GivenFact[]>;
  /**
   * Finds what paid its invoice, if events do not say it; undefined if no payment did, as with the customer's balance. The wait is bounded
   * to 2 s.
   */
  findPayment?(invoice: string): Promise<string | undefined>;
  /** Puts it on the next invoice of a subscription that goes on. @returns the provider's id of it */
  chargeUse(subscription: string, use: UseCharge): Promise<string>;
  /** The provider's own page of a customer's cards and invoices, where it has one. */
  openPortal?(account: string, returnUrl: string): Promise<{ readonly url: string }>;
  /** An event as it was sent. @throws EventRefused when its signature or its age are not right */
  readEvent(body: Buffer, headers: IncomingHttpHeaders, nowMs: number): Promise<ProviderNews>;
}

/** The provider did not answer, or said that it cannot now. */
export class ProviderAway extends Error {
  override readonly name = 'ProviderAway';
}

/** The provider says no, and will again. */
export class ProviderRefused extends Error {
  override readonly name: string = 'ProviderRefused';
}

/** The provider does not do this to this subscription, such as another plan for one that is not paid by card. */
export class ChangeRefused extends ProviderRefused {
  override readonly name = 'ChangeRefused';
}

/** The card was declined, or its bank wants to ask; nothing was changed. */
export class PaymentFailed extends Error {
  override readonly name = 'PaymentFailed';
}

/** Not from the provider, or too old to be believed. */
export class EventRefused extends Error {
  override readonly name = 'EventRefused';
}

/** Older events are refused, so that one that was overheard cannot be sent again. */
export const EVENT_AGE_SECONDS = 300;
