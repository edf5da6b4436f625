import { type Pool } from 'pg';
import { type Clock } from '../../../../plugins/core/ports';
import {
  type AttemptOutcome,
  claimDeliveries,
  type ClaimedDelivery,
  settleDelivery,
} from '../../../../plugins/stores/postgres/webhooks/claim-deliveries';
import { createGuardedFetch, type GuardedFetch } from '../../../kit/upstream/guarded-fetch';
import { type Log } from '../../../kit/log';
import { FetchRefused, type FetchRefusal } from '../../../kit/upstream/pinned-connector';
import { createWebhookMessage } from './webhook-message';

export interface WebhookSenderOptions {
  readonly db: Pool;
  readonly clock: Clock;
  readonly log: Log;
  /** Quota time zone, for the sentences in events. */
  readonly timeZone: string;
  /** Pauses before the second attempt and those after it; then a delivery has failed. */
  readonly retrySeconds: readonly number[];
  /** Receivers on private addresses and any port. */
  readonly allowPrivate: boolean;
  /** How often the queue is asked. Default 1 s. */
  readonly pollMs?: number;
  /** In place of one that is made of `allowPrivate`, for tests. It is closed with the sender. */
  readonly fetch?: GuardedFetch;
}

export interface WebhookSender {
  /** Takes nothing new and waits for attempts that run. Never throws. */
  close(): Promise<void>;
}

const ATTEMPT_MS = 5_000;
/** An attempt and the statement that records it, with time to spare. */
const LEASE_MS = 30_000;
const MOST_AT_ONCE = 20;

/** One text for a name that is unknown and one that is ours: which names our network knows is nobody's business. */
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

type Attempt = Pick<AttemptOutcome, 'isDelivered' | 'status' | 'error'>;

/** Anything but 2xx is a failure; a redirect too, since what is behind it was entered by nobody. */
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

/** Sends deliveries that are due, and records how that went. Several processes may send: each delivery is claimed by one. */
export function startWebhookSender(options: WebhookSenderOptions): WebhookSender {
  const { db, clock, log, timeZone, retrySeconds, allowPrivate, pollMs = 1_000 } = options;
  const fetch = options.fetch ?? createGuardedFetch({ allowPrivate, userAgent: 'Tollgate-Webhooks/1.0' });
  /** Attempts that run → to which webhook. */
  const running = new Map<Promise<void>, string>();
  let polling: Promise<void> | undefined;
  let closed = false;

  async function deliver(delivery: ClaimedDelivery): Promise<void> {
    const { deliveryId, attempts, url } = delivery;
    const outcome = await attempt(fetch, url, createWebhookMessage(delivery, { timeZone, nowMs: clock.now() }));
    const pause = retrySeconds[attempts - 1];
    await settleDelivery(db, { deliveryId, attempts, ...outcome, retryMs: pause === undefined ? undefined : pause * 1_000 });
  }

  /** What is not recorded is attempted again when its lease ends. */
  function start(delivery: ClaimedDelivery): void {
    const work = deliver(delivery)
      .catch((err: unknown) => log.warn({ err, delivery: delivery.deliveryId }, 'a delivery could not be recorded'))
      .finally(() => {
        running.delete(work);
        // Whatever else waits for this receiver need not wait for the next turn.
        poll();
      });
    running.set(work, delivery.webhookId);
  }

  async function claim(): Promise<void> {
    const room = MOST_AT_ONCE - running.size;
    if (closed || room <= 0) return;
    const busy = [...new Set(running.values())];
    for (const delivery of await claimDeliveries(db, { most: room, leaseMs: LEASE_MS, busy })) start(delivery);
  }

  function poll(): void {
    if (closed) return;
    polling ??= claim()
      .catch((err: unknown) => log.warn({ err }, 'waiting webhooks could not be read'))
      .finally(() => (polling = undefined));
  }

  const timer = setInterval(poll, pollMs);
  timer.unref();
  return {
    async close() {
      closed = true;
      clearInterval(timer);
      await polling;
      await Promise.all(running.keys());
      await fetch.close();
    },
  };
}
