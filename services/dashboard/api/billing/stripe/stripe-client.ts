import Stripe from 'stripe';
import { PaymentFailed, ProviderAway, ProviderRefused } from '../payment-port';

export interface StripeOptions {
  /** `sandbox` speaks to the stand-in of `npm start`. */
  readonly name: 'stripe' | 'sandbox';
  readonly secretKey: string;
  readonly webhookSecret: string;
  /** In place of https://api.stripe.com, for a stand-in. */
  readonly url?: string | undefined;
}

/** A person waits. Stripe's own default is 80 s. */
const TIMEOUT_MS = 10_000;
/** Each with the same idempotency key. */
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
