import { type Pool } from 'pg';
import { type Clock } from '../../../../plugins/core/ports';
import { type AttemptOutcome, claimDelivery, type ClaimedDelivery, settleDelivery } from '../../../selling/webhooks/claim-deliveries';
import { GuardedFetch } from '../../../kit/upstream/guarded-fetch';
import { type Log } from '../../../kit/log';
import { repeat, type RepeatedWork } from '../../../kit/repeat';
import { FetchRefused, type FetchRefusal } from '../../../kit/upstream/pinned-connector';
import { createWebhookMessage } from './webhook-message';

export interface WebhookSenderOptions {
  readonly db: Pool;
  readonly clock: Clock;
  readonly log: Log;
  /** Quota time zone, for the sentences in events. */
  readonly timeZone: string;
  /** Seconds before the second and later attempts. After the last one, a delivery has failed. */
  readonly retrySeconds: readonly number[];
  /** Allows receivers on private addresses and any port. */
  readonly allowPrivate: boolean;
  /** Milliseconds between two looks at the queue. Default 1 s. */
  readonly pollMs?: number;
  /** Replaces the client made from `allowPrivate`, for tests. It is closed with the sender. */
  readonly fetch?: GuardedFetch;
}

const ATTEMPT_MS = 5_000;
/** Longer than an attempt and the statement that records it. */
const LEASE_MS = 30_000;
const MAX_AT_ONCE = 20;
/** At most this many attempts to one webhook at a time, so that a slow or busy receiver leaves room for others. */
const MAX_TO_ONE = 2;

/** One text for an unknown name and for a name of our network, so that customers cannot learn which names the network has. */
const REASONS: Partial<Readonly<Record<FetchRefusal, string>>> = {
  host_unknown: 'the host has no public address',
  address_refused: 'the host has no public address',
  timeout: 'no answer within 5 s',
  unreachable: 'no connection, or it broke',
  url_invalid: 'the URL may not be called',
  scheme_refused: 'the URL may not be called',
  userinfo_refused: 'the URL may not be called',
  port_refused: 'the URL may not be called',
};

type Attempt = Omit<AttemptOutcome, 'retryMs'>;

/** Anything but 2xx is a failure. A redirect is one too, because no customer entered its target. */
async function attempt(
  fetch: GuardedFetch,
  url: string,
  message: { headers: Readonly<Record<string, string>>; body: string },
): Promise<Attempt> {
  try {
    const { status } = await fetch.fetch(url, { method: 'POST', ...message, maxRedirects: 0, timeoutMs: ATTEMPT_MS, ignoreBody: true });
    return { isDelivered: status >= 200 && status < 300, status, error: null };
  } catch (error) {
    const reason = error instanceof FetchRefused ? REASONS[error.reason] : undefined;
    return { isDelivered: false, status: null, error: reason ?? 'no answer that could be read' };
  }
}

/**
 * Sends deliveries that are due, and records the results, until it is closed. Several processes may send: one of them claims each delivery.
 */
export class WebhookSender {
  private readonly fetch: GuardedFetch;
  /** Whoever can add a seller's webhook runs the installation, and may name internal systems. */
  private readonly sellersFetch: GuardedFetch;
  private readonly claiming: RepeatedWork;
  /** Running attempts, with their webhooks. */
  private readonly running = new Map<Promise<void>, string>();
  private closed = false;

  constructor(private readonly options: WebhookSenderOptions) {
    const { allowPrivate, log, pollMs = 1_000 } = options;
    const userAgent = 'Tollgate-Webhooks/1.0';
    this.fetch = options.fetch ?? new GuardedFetch({ allowPrivate, userAgent });
    this.sellersFetch = new GuardedFetch({ allowPrivate: true, userAgent });
    this.claiming = repeat(() => this.claim(), {
      everyMs: pollMs,
      onError: (err) => log.warn({ err }, 'waiting webhooks could not be read'),
    });
  }

  /** Takes nothing new and waits for running attempts. Never throws. */
  async close(): Promise<void> {
    this.closed = true;
    await this.claiming.close();
    await Promise.all(this.running.keys());
    await Promise.all([this.fetch.close(), this.sellersFetch.close()]);
  }

  private async claim(): Promise<void> {
    while (!this.closed && this.running.size < MAX_AT_ONCE) {
      const under = [...this.running.values()];
      const busy = [...new Set(under)].filter((each) => under.filter((other) => other === each).length >= MAX_TO_ONE);
      const delivery = await claimDelivery(this.options.db, { leaseMs: LEASE_MS, busy });
      if (!delivery) return;
      this.start(delivery);
    }
  }

  /** An attempt that is not recorded is repeated when its lease ends. */
  private start(delivery: ClaimedDelivery): void {
    const work = this.deliver(delivery)
      .catch((err: unknown) => this.options.log.warn({ err, delivery: delivery.item.subject }, 'a delivery could not be recorded'))
      .finally(() => {
        this.running.delete(work);
        // Other deliveries for this receiver need not wait for the next turn.
        this.claiming.run();
      });
    this.running.set(work, delivery.webhookId);
  }

  private async deliver(delivery: ClaimedDelivery): Promise<void> {
    const { db, clock, timeZone, retrySeconds } = this.options;
    const { item, url, isSellers } = delivery;
    const fetch = isSellers ? this.sellersFetch : this.fetch;
    const outcome = await attempt(fetch, url, createWebhookMessage(delivery, { timeZone, nowMs: clock.now() }));
    const pause = retrySeconds[item.attempts - 1];
    await settleDelivery(db, delivery, { ...outcome, retryMs: pause === undefined ? undefined : pause * 1_000 });
  }
}
