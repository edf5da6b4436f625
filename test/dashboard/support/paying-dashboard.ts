import { type PaymentPort } from '../../../services/selling/billing/payment-port';
import { createStripePort } from '../../../services/dashboard/billing/stripe/stripe-port';
import { type PaymentPorts } from '../../../services/selling/billing/payments-of';
import { writePaymentMails } from '../../../services/dashboard/billing/payment-mails';
import { startPayments } from '../../../services/dashboard/billing/start-payments';
import { type PaymentsSandbox, startPaymentsSandbox } from '../../../services/sandbox/payments/start-payments-sandbox';
import { type SeenRequest } from '../../../services/sandbox/payments/stripe-api';
import { type FaultProxy, openFaultProxy } from '../../support/faults/fault-proxy';
import { type DashboardOptions, startDashboard, type TestDashboard } from './dashboard';
import { startMailing } from './mailing';

/** With what the stand-in and the dashboard know each other. */
export const PAYMENT_KEYS = { secretKey: 'sk_test_of_the_test', webhookSecret: 'whsec_of_the_test' };

export interface PayingDashboard extends TestDashboard {
  readonly provider: PaymentsSandbox;
  /** As the dashboard asks it. */
  readonly port: PaymentPort;
  /** The way from the dashboard to the provider. */
  readonly line: FaultProxy;
  /** What the adapter asked, oldest first. */
  readonly seen: SeenRequest[];
  /** Events as they were sent. */
  readonly sent: { body: string; headers: Readonly<Record<string, string>> }[];
  /** Whether the endpoint takes events; one that does not loses none, as the provider sends them again. */
  hear(hears: boolean): void;
  /** Has the work look now. */
  poke(): void;
  /** Until all that was said is acted upon. */
  acted(): Promise<void>;
  /** Until it is mailed as well. */
  settled(): Promise<void>;
}

interface PayingOptions extends DashboardOptions {
  /** Providers beside the sandbox. */
  readonly also?: PaymentPorts;
  /** The provider's clock. */
  readonly providerNow?: () => number;
  /** In place of the adapter's port, for faults. */
  readonly wrap?: (port: PaymentPort) => PaymentPort;
}

/** A dashboard with a payment provider beside it, which tells it what happens. */
export async function startPayingDashboard({
  providerNow,
  also = {},
  wrap = (port) => port,
  ...options
}: PayingOptions = {}): Promise<PayingDashboard> {
  const seen: SeenRequest[] = [];
  const sent: PayingDashboard['sent'] = [];
  const state = { hears: true };
  let deliver = async (_body: string, _headers: Readonly<Record<string, string>>): Promise<number> => 503;
  const provider = await startPaymentsSandbox({
    port: 0,
    ...PAYMENT_KEYS,
    ...(providerNow && { now: providerNow }),
    onRequest: (request) => void seen.push(request),
    send: async (body, headers) => {
      sent.push({ body, headers });
      return state.hears ? deliver(body, headers) : 503;
    },
  });
  const line = await openFaultProxy(provider.url);
  const port = wrap(createStripePort({ name: 'sandbox', ...PAYMENT_KEYS, url: line.url }));
  let work: ReturnType<typeof startPayments> | undefined;
  const dashboard = await startDashboard({
    ...options,
    payments: (tools) => (work = startPayments({ ...tools, ports: { ...also, sandbox: port }, everyMs: 600_000 })),
  });
  const { db, mails } = dashboard;
  const mailing = startMailing(db, { send: (mail) => void mails.push(mail), write: { payment: writePaymentMails }, everyMs: 600_000 });
  deliver = async (body, headers) => {
    const answer = await dashboard.app.inject({ method: 'POST', url: '/api/payments/sandbox/events', payload: body, headers });
    return answer.statusCode;
  };
  const close = dashboard.close.bind(dashboard);
  const acted = async (): Promise<void> => {
    await provider.flush();
    await work?.settled();
  };
  return Object.assign(dashboard, {
    provider,
    port,
    line,
    seen,
    sent,
    hear: (hears: boolean) => void (state.hears = hears),
    poke: () => work?.poke(),
    acted,
    async settled() {
      await acted();
      await mailing.look();
    },
    close: async () => {
      await line.close();
      await provider.close();
      await work?.close();
      await mailing.close();
      await close();
    },
  });
}
