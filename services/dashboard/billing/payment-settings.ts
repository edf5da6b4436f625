import { z } from 'zod';
import { urlSetting } from '../../../plugins/core/settings';
import { type PaymentPort } from '../../selling/billing/payment-port';
import { type PaymentPorts } from '../../selling/billing/payments-of';

const secret = (begin: RegExp, example: string) => z.string().regex(begin, `must begin with ${example}`).optional();

/** The keys of payment providers. The catalogue says which provider takes payments. */
export const paymentSettings = z.object({
  /** A restricted key is enough; docs/billing.md lists the permissions that it needs. */
  STRIPE_SECRET_KEY: secret(/^(sk|rk)_/, 'sk_ or rk_'),
  /** Signing secret of the endpoint for events. */
  STRIPE_WEBHOOK_SECRET: secret(/^whsec_/, 'whsec_'),
  RAZORPAY_KEY_ID: secret(/^rzp_(test|live)_/, 'rzp_test_ or rzp_live_'),
  RAZORPAY_KEY_SECRET: z.string().min(1).optional(),
  /** The secret that you chose for the webhook. */
  RAZORPAY_WEBHOOK_SECRET: z.string().min(8, 'must have 8 characters or more').optional(),
  /** The stand-in of `npm start`, and what it signs with. */
  DASHBOARD_PAYMENTS_SANDBOX: urlSetting(['http']).optional(),
  DASHBOARD_PAYMENTS_SANDBOX_SECRET: z.string().min(16).optional(),
});
export type PaymentSettings = z.output<typeof paymentSettings>;

interface Problem {
  readonly path: [keyof PaymentSettings];
  readonly message: string;
}

/** Settings of one provider that need each other. */
const TOGETHER: readonly (readonly (keyof PaymentSettings)[])[] = [
  ['STRIPE_SECRET_KEY', 'STRIPE_WEBHOOK_SECRET'],
  ['RAZORPAY_KEY_ID', 'RAZORPAY_KEY_SECRET', 'RAZORPAY_WEBHOOK_SECRET'],
  ['DASHBOARD_PAYMENTS_SANDBOX', 'DASHBOARD_PAYMENTS_SANDBOX_SECRET'],
];

/** The sandbox gives paid plans for no money, so it is allowed only where mail stays on the machine too. */
export function findPaymentProblems(settings: PaymentSettings & { readonly DASHBOARD_MAIL: 'outbox' | 'smtp' }): Problem[] {
  const problems: Problem[] = [];
  for (const together of TOGETHER) {
    const given = together.find((each) => settings[each] !== undefined);
    const missing = together.filter((each) => settings[each] === undefined);
    if (given !== undefined) for (const each of missing) problems.push({ path: [each], message: `is required with ${given}` });
  }
  if (settings.DASHBOARD_PAYMENTS_SANDBOX !== undefined && settings.DASHBOARD_MAIL !== 'outbox') {
    problems.push({ path: ['DASHBOARD_PAYMENTS_SANDBOX'], message: 'is for npm start only: it gives paid plans for no money' });
  }
  return problems;
}

/** Opens the ports whose keys are given. Packages of the other providers are not loaded. */
export async function openPaymentPorts(settings: PaymentSettings): Promise<PaymentPorts> {
  const { STRIPE_SECRET_KEY: key, STRIPE_WEBHOOK_SECRET: webhook, DASHBOARD_PAYMENTS_SANDBOX: url } = settings;
  const own = settings.DASHBOARD_PAYMENTS_SANDBOX_SECRET;
  const ports: Record<string, PaymentPort> = {};
  if (key !== undefined && webhook !== undefined) {
    const { createStripePort } = await import('./stripe/stripe-port.js');
    ports['stripe'] = createStripePort({ name: 'stripe', secretKey: key, webhookSecret: webhook });
  }
  const { RAZORPAY_KEY_ID: keyId, RAZORPAY_KEY_SECRET: keySecret, RAZORPAY_WEBHOOK_SECRET: webhookSecret } = settings;
  if (keyId !== undefined && keySecret !== undefined && webhookSecret !== undefined) {
    const { createRazorpayPort } = await import('./razorpay/razorpay-port.js');
    ports['razorpay'] = createRazorpayPort({ keyId, keySecret, webhookSecret });
  }
  if (url !== undefined && own !== undefined) {
    const keys = { secretKey: `sk_test_${own}`, webhookSecret: `whsec_${own}` };
    const { createStripePort } = await import('./stripe/stripe-port.js');
    ports['sandbox'] = createStripePort({ name: 'sandbox', ...keys, url });
  }
  return ports;
}
