import Stripe from 'stripe';
import { PaymentFailed, ProviderAway, ProviderRefused } from '../../../selling/billing/payment-port';

export interface StripeOptions {
  /** `sandbox` talks to the stand-in of `npm start`. */
  readonly name: 'stripe' | 'sandbox';
  readonly secretKey: string;
  readonly webhookSecret: string;
  /** Replaces https://api.stripe.com, for a stand-in. */
  readonly url?: string | undefined;
}

/** A person is waiting. Stripe's own default is 80 s. */
const TIMEOUT_MS = 10_000;
/** Retries, each with the same idempotency key. */
const RETRIES = 1;

export function connect({ secretKey, url }: StripeOptions): Stripe {
  const place = url === undefined ? undefined : new URL(url);
  return new Stripe(secretKey, {
    timeout: TIMEOUT_MS,
    maxNetworkRetries: RETRIES,
    telemetry: false,
    ...(place && { host: place.hostname, port: place.port, protocol: place.protocol === 'http:' ? 'http' : 'https' }),
  });
}

/** Whether asking again later may help. */
function isAway(error: unknown): boolean {
  const { errors } = Stripe;
  return (
    error instanceof errors.StripeConnectionError || error instanceof errors.StripeAPIError || error instanceof errors.StripeRateLimitError
  );
}

/**
 * Whether the object that a request's parameter names no longer exists at the provider.
 * https://docs.stripe.com/error-codes#resource-missing
 */
export function lacks(error: unknown, member: string): boolean {
  const { cause } = error instanceof ProviderRefused ? error : {};
  return cause instanceof Stripe.errors.StripeInvalidRequestError && cause.code === 'resource_missing' && cause.param === member;
}

/** @throws PaymentFailed, ProviderAway, ProviderRefused */
export async function asked<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (cause) {
    if (cause instanceof Stripe.errors.StripeCardError) throw new PaymentFailed(cause.message, { cause });
    if (isAway(cause)) throw new ProviderAway('Stripe cannot be reached', { cause });
    throw new ProviderRefused(cause instanceof Error ? cause.message : 'Stripe refused', { cause });
  }
}

/** Stripe's maximum. */
const PAGE = 100;

type Listed<T> = Stripe.Response<Stripe.ApiList<T>>;

/**
 * All entries of a list, page by page.
 * @param ask gets the cursor of the page
 */
export async function* pagesOf<T extends { readonly id?: string }>(
  ask: (page: { readonly limit: number; readonly starting_after?: string }) => Promise<Listed<T>>,
): AsyncGenerator<Listed<T>> {
  for (let after: string | undefined; ;) {
    const page = await asked(ask({ limit: PAGE, ...(after !== undefined && { starting_after: after }) }));
    yield page;
    after = page.data.at(-1)?.id;
    if (!page.has_more || after === undefined) return;
  }
}
