import { type IncomingHttpHeaders } from 'node:http';
import { type GivenFact } from '../../../../plugins/stores/postgres/billing/payment-facts';

/** What a customer is sent to pay for. */
export interface CheckoutWish {
  /** Ours. The provider recognises a wish that is sent again by it, and answers with the same page. */
  readonly id: string;
  /** The provider's id of the customer. */
  readonly account: string;
  readonly customerId: string;
  readonly product: string;
  /** As customers read it. */
  readonly title: string;
  readonly plan: string;
  /** A month, in the currency's smallest unit. */
  readonly price: number;
  readonly currency: string;
  /** Where the customer comes back to, paid or not. */
  readonly returnUrl: string;
  readonly cancelUrl: string;
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

/** A change of a subscription: its end with the period that is paid, or the end of that. */
export type PaidChange = { readonly kind: 'cancel' } | { readonly kind: 'keep' };

/**
 * Who takes payments. Cards, addresses and money stay with it; what comes back are ids, amounts and states. Amounts are whole units of the
 * currency's smallest part. Each operation may be sent again after an error without doing anything twice.
 * @throws ProviderAway when the provider cannot be reached or fails; ProviderRefused when it refuses
 */
export interface PaymentPort {
  readonly name: 'stripe' | 'sandbox';
  /** @returns the provider's id of a new customer of ours */
  openAccount(customer: { readonly id: string; readonly email: string }): Promise<string>;
  openCheckout(wish: CheckoutWish): Promise<{ readonly session: string; readonly url: string }>;
  /** What came of a checkout, or that it is closed now, so that nobody can pay by it any more. */
  settleCheckout(session: string, act: 'look' | 'close'): Promise<CheckoutOutcome>;
  /** How the provider has a subscription at this moment, as a fact; none where it knows no such subscription. */
  look(subscription: string): Promise<readonly GivenFact[]>;
  change(subscription: string, change: PaidChange): Promise<readonly GivenFact[]>;
  /** The provider's own page of a customer's cards and invoices. */
  openPortal(account: string, returnUrl: string): Promise<{ readonly url: string }>;
  /** An event as it was sent. @throws EventRefused when its signature or its age are not right */
  readEvent(body: Buffer, headers: IncomingHttpHeaders, nowMs: number): ProviderNews;
}

/** The provider did not answer, or said that it cannot now. */
export class ProviderAway extends Error {
  override readonly name = 'ProviderAway';
}

/** The provider says no, and will again. */
export class ProviderRefused extends Error {
  override readonly name = 'ProviderRefused';
}

/** Not from the provider, or too old to be believed. */
export class EventRefused extends Error {
  override readonly name = 'EventRefused';
}

/** Older events are refused, so that one that was overheard cannot be sent again. */
export const EVENT_AGE_SECONDS = 300;
