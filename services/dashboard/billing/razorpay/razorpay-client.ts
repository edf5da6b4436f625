import Razorpay from 'razorpay';
import { z } from 'zod';
import { answerClock } from '../answer-clock';
import { NOTES } from './razorpay-facts';
import { PaymentFailed, ProviderAway, ProviderRefused } from '../../../selling/billing/payment-port';

export interface RazorpayOptions {
  readonly keyId: string;
  readonly keySecret: string;
  /** Signing secret of the webhook. */
  readonly webhookSecret: string;
  /** Replaces https://api.razorpay.com, for a stand-in. */
  readonly url?: string | undefined;
}

/** A person is waiting. The SDK itself would wait for ever. */
const TIMEOUT_MS = 10_000;

/** The SDK's own HTTP client (axios), which has what the SDK has no settings for. */
interface Inner {
  readonly defaults: { timeout?: number; baseURL?: string };
  readonly interceptors: {
    readonly request: { use(asking: (request: Asking) => Asking): void };
    readonly response: { use(seen: (answer: Inspected) => Inspected): void };
  };
}
interface Asking {
  readonly data?: { readonly notes?: Readonly<Record<string, string>> };
  readonly headers: Record<string, unknown>;
}
interface Inspected {
  readonly data: unknown;
  readonly headers: Readonly<Record<string, unknown>>;
}

/** What the SDK throws for an error response. Without a response, it throws a TypeError. */
const refusal = z.object({
  statusCode: z.coerce.number(),
  error: z.object({ description: z.string().nullish(), step: z.string().nullish(), reason: z.string().nullish() }).nullish(),
});

/**
 * https://razorpay.com/docs/errors: `step` and `reason` mark a payment's own failure. Wrong keys, server errors and too many requests are
 * not the request's fault.
 */
function errorOf(cause: unknown): Error {
  const { data } = refusal.safeParse(cause);
  if (!data || data.statusCode >= 500 || data.statusCode === 429) return new ProviderAway('Razorpay cannot be reached', { cause });
  const said = data.error?.description ?? `status ${data.statusCode}`;
  if (/^payment_/.test(data.error?.step ?? '')) return new PaymentFailed(said, { cause });
  return new ProviderRefused(said, { cause });
}

/** Razorpay's response, with its time by Razorpay's own clock in seconds since 1970. */
export interface RazorpayAnswer<T> {
  readonly value: T;
  readonly at: number;
}

export interface RazorpayClient {
  readonly sdk: Razorpay;
  /** @throws ProviderAway, ProviderRefused, PaymentFailed */
  readonly asked: <S extends z.ZodType>(work: Promise<unknown>, answer: S) => Promise<RazorpayAnswer<z.output<S>>>;
}

export function connectRazorpay({ keyId, keySecret, url }: RazorpayOptions): RazorpayClient {
  const sdk = new Razorpay({ key_id: keyId, key_secret: keySecret });
  const { rq } = sdk.api as unknown as { readonly rq: Inner };
  rq.defaults.timeout = TIMEOUT_MS;
  if (url !== undefined) rq.defaults.baseURL = url;
  // https://razorpay.com/docs/api/refunds/normal-refunds-idempotent; the SDK has no way to send it.
  rq.interceptors.request.use((request) => {
    const id = request.data?.notes?.[NOTES.refund];
    if (id !== undefined) request.headers['X-Refund-Idempotency'] = id;
    return request;
  });
  const dates = new WeakMap<object, string>();
  rq.interceptors.response.use((answer) => {
    const date = answer.headers['date'];
    if (typeof answer.data === 'object' && answer.data !== null && typeof date === 'string') dates.set(answer.data, date);
    return answer;
  });
  const timeOf = answerClock();
  return {
    sdk,
    async asked(work, answer) {
      const given = await work.catch((cause: unknown) => {
        throw errorOf(cause);
      });
      const parsed = answer.safeParse(given);
      if (!parsed.success) throw new ProviderRefused('Razorpay answered what its documentation does not say', { cause: parsed.error });
      return { value: parsed.data, at: timeOf(typeof given === 'object' && given !== null ? dates.get(given) : undefined) };
    },
  };
}
