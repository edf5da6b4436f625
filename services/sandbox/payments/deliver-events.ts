import { createHmac } from 'node:crypto';
import { type Ledger } from './ledger';

/** Receives an event in Stripe's form. @returns the status of its response */
export type SendEvent = (body: string, headers: Readonly<Record<string, string>>) => Promise<number>;

/** `t=…,v1=…`, HMAC-SHA256 over `t.body`. https://docs.stripe.com/webhooks#verify-manually */
export function signEvent(body: string, secret: string, atSeconds: number): string {
  return `t=${atSeconds},v1=${createHmac('sha256', secret).update(`${atSeconds}.${body}`).digest('hex')}`;
}

/** POSTs events to an address. */
export function sendTo(url: string): SendEvent {
  return async (body, headers) => {
    const answer = await fetch(url, { method: 'POST', body, headers, signal: AbortSignal.timeout(10_000) });
    await answer.arrayBuffer();
    return answer.status;
  };
}

const FIRST_RETRY_MS = 1_000;
const MAX_RETRY_MS = 60_000;

/** Delivers waiting events in order, repeating each until the endpoint accepts it. Stripe does so for three days. */
export function deliverEvents(
  ledger: Ledger,
  { send, secret }: { send: SendEvent; secret: string },
): { close(): Promise<void>; flush(): Promise<void> } {
  let working: Promise<void> | undefined;
  let isClosed = false;

  async function deliver(): Promise<void> {
    for (;;) {
      const next = ledger.books.waiting.find(({ dueMs }) => dueMs <= Date.now());
      if (!next || isClosed) return;
      const body = JSON.stringify(next.event);
      const headers = { 'content-type': 'application/json', 'stripe-signature': signEvent(body, secret, ledger.second()) };
      const status = await send(body, headers).catch(() => 0);
      if (status >= 200 && status < 300) ledger.books.waiting = ledger.books.waiting.filter((each) => each !== next);
      else {
        next.attempts += 1;
        next.dueMs = Date.now() + Math.min(MAX_RETRY_MS, FIRST_RETRY_MS * 2 ** (next.attempts - 1));
      }
      ledger.keep();
    }
  }

  const flush = (): Promise<void> => (working ??= deliver().finally(() => (working = undefined)));
  ledger.onEvent = () => void setImmediate(() => void flush());
  const timer = setInterval(() => void flush(), FIRST_RETRY_MS).unref();
  return {
    flush,
    async close() {
      isClosed = true;
      clearInterval(timer);
      await working;
    },
  };
}
