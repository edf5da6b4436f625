import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readSecrets } from '../../../cli/container/read-secrets';
import {
  findPaymentProblems,
  openPaymentPorts,
  type PaymentSettings,
  paymentSettings,
} from '../../../services/dashboard/billing/payment-settings';

describe('the keys of payment providers', () => {
  const razorpayKeys = { RAZORPAY_KEY_ID: 'rzp_test_1', RAZORPAY_KEY_SECRET: 'secret', RAZORPAY_WEBHOOK_SECRET: 'of the webhook' };
  const stripeKeys = { STRIPE_SECRET_KEY: 'rk_test_1', STRIPE_WEBHOOK_SECRET: 'whsec_1' };
  const problems = (given: PaymentSettings): string[] =>
    findPaymentProblems({ ...given, DASHBOARD_MAIL: 'smtp' }).map(({ path, message }) => `${path[0]} ${message}`);

  it('open the providers that have all of theirs', async () => {
    expect(problems({ ...razorpayKeys, ...stripeKeys })).toEqual([]);
    expect(Object.keys(await openPaymentPorts({ ...razorpayKeys, ...stripeKeys }))).toEqual(['stripe', 'razorpay']);
    expect([await openPaymentPorts({}), problems({})]).toEqual([{}, []]);
  });

  it('may be in files in a container', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tollgate-keys-'));
    const files = Object.entries({ ...razorpayKeys, ...stripeKeys }).map(([name, key]) => {
      writeFileSync(join(folder, name), `${key}\n`);
      return [`${name}_FILE`, join(folder, name)];
    });
    const read = paymentSettings.parse(readSecrets(Object.fromEntries(files) as Record<string, string>));
    rmSync(folder, { recursive: true });
    expect(Object.keys(await openPaymentPorts(read))).toEqual(['stripe', 'razorpay']);
  });

  it('are refused in part, and where one is another’s', () => {
    expect(problems({ RAZORPAY_KEY_ID: 'rzp_test_1' })).toEqual([
      'RAZORPAY_KEY_SECRET is required with RAZORPAY_KEY_ID',
      'RAZORPAY_WEBHOOK_SECRET is required with RAZORPAY_KEY_ID',
    ]);
    expect(problems({ STRIPE_WEBHOOK_SECRET: 'whsec_1' })).toEqual(['STRIPE_SECRET_KEY is required with STRIPE_WEBHOOK_SECRET']);
    const swapped = paymentSettings.safeParse({ ...razorpayKeys, RAZORPAY_KEY_ID: 'secret' });
    expect(swapped.error?.issues.map(({ message }) => message)).toEqual(['must begin with rzp_test_ or rzp_live_']);
  });
});
