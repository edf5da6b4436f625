import { type AddressInfo } from 'node:net';
import fastify from 'fastify';
import { NO_JSON_SCHEMAS } from '../../kit/no-json-schemas';
import { deliverEvents, type SendEvent } from './deliver-events';
import { addHostedPages } from './hosted-pages';
import { Ledger } from './ledger';
import { addStripeApi, type SeenRequest } from './stripe-api';

export interface PaymentsSandboxOptions {
  readonly host?: string;
  /** 0 lets the system choose. */
  readonly port: number;
  /** `sk_test_…`: the key of the API. */
  readonly secretKey: string;
  /** `whsec_…`: the key that signs events. */
  readonly webhookSecret: string;
  readonly send: SendEvent;
  /** Path of its books. Without one, they are only in memory. */
  readonly file?: string | undefined;
  readonly now?: () => number;
  readonly onRequest?: (request: SeenRequest) => void;
}

export interface PaymentsSandbox {
  readonly url: string;
  readonly port: number;
  readonly ledger: Ledger;
  /** Delivers the waiting events that are due. */
  flush(): Promise<void>;
  close(): Promise<void>;
}

const BODY_LIMIT_BYTES = 1_048_576;

/**
 * A stand-in for a payment provider: Stripe's documented HTTP API, signed events, and hosted pages on which to pay, be declined or leave.
 */
export async function startPaymentsSandbox(options: PaymentsSandboxOptions): Promise<PaymentsSandbox> {
  const { host = '127.0.0.1', port, secretKey, webhookSecret, send, file, now, onRequest } = options;
  const app = fastify({ ...NO_JSON_SCHEMAS, bodyLimit: BODY_LIMIT_BYTES, forceCloseConnections: true });
  let base = '';
  const url = (): string => base;
  const ledger = new Ledger({ file, url, ...(now && { now }) });
  app.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, (_request, body, done) => done(null, body));
  app.get('/', (_request, reply) => reply.send({ sandbox: 'payments' }));
  addStripeApi(app, { ledger, secretKey, url, onRequest });
  addHostedPages(app, ledger);
  await app.listen({ host, port });
  const address = app.server.address() as AddressInfo;
  base = `http://${host}:${address.port}`;
  const delivery = deliverEvents(ledger, { send, secret: webhookSecret });
  return {
    url: base,
    port: address.port,
    ledger,
    flush: () => delivery.flush(),
    async close() {
      await delivery.close();
      await app.close();
    },
  };
}
