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
import { invoicePdf } from '../../../services/dashboard/billing/invoice-pdf';
import { pdfText } from '../support/pdf-text';

type Invoice = Parameters<typeof invoicePdf>[0];

const seller = { name: 'Acme Data', address: ['12 MG Road'], country: 'IN', taxId: '29AAGCB7383J1Z4', email: null };
const line = { title: 'IP lookup, plan Star', days: 30, daysInMonth: 30, used: 0, price: '499.00', surcharge: '0.00', amount: '499.00' };
const NOTE: Invoice = {
  id: '00000000-0000-4000-8000-000000000001',
  number: 'CN-000001',
  kind: 'credit_note',
  customerId: '00000000-0000-4000-8000-000000000002',
  buyer: 'Asha Traders',
  month: '2026-03',
  currency: 'INR',
  total: '588.82',
  issuedOn: '2026-04-03',
  dueOn: '2026-04-03',
  state: 'issued',
  paidOn: null,
  reference: null,
  credit: 'INV-000001',
  paidThrough: null,
  seller,
  buyerDetails: { ...seller, name: 'Asha Traders', email: 'asha@example.com' },
  lines: [line],
  net: '499.00',
  taxes: [{ name: 'IGST', percent: '18', amount: '89.82' }],
  placeOfSupply: null,
  serviceCode: null,
  notes: [],
  payment: null,
  reason: 'goodwill',
};
const textOf = async (invoice: Invoice): Promise<string> => pdfText(Buffer.from(await invoicePdf(invoice)));
const plain = (text: string): string => text.replaceAll(/\s/g, '');

describe('a printed invoice', () => {
  it('is found by letters that its font joins', async () => {
    const text = await textOf({ ...NOTE, payment: 'pi_6142feff3a', notes: ['Staff offices'] });
    expect(text).toContain('Staff offices');
    expect(text).toContain('Payment: pi_6142feff3a');
  });

  /** As a product's title, an address of the account or a reason may have it. */
  it.each([
    ['turns what follows around', 'Acme \u202E28.885 \u202C', 'Acme 28.885'],
    ['isolates what follows', '\u2066total 0.00\u2069', 'total 0.00'],
    ['has no width', 'Ac\u200Bme\u00AD\uFEFF', 'Ac me'],
    ['begins lines', 'Acme\r\nTotal INR\u20280.00', 'Acme Total INR 0.00'],
    ['is for machines', 'Acme\0\x1B[31m\x7F', 'Acme [31m'],
  ])('has no sign that %s', async (_what, given, printed) => {
    const buyerDetails = { ...NOTE.buyerDetails, name: given, email: `${given}@example.com` };
    const invoice = { ...NOTE, buyerDetails, lines: [{ ...line, title: given }], reason: given, notes: [given] };
    const text = await textOf(invoice);
    expect(text).not.toMatch(/\p{Cf}|[^\P{Cc}\n]/u);
    expect(text.split(printed).length - 1).toBe(5);
    expect(text).not.toContain('?');
  });

  it.each([
    [30, true],
    [0, false],
  ])('has columns of a month only where a line has days of it: %s', async (days, has) => {
    expect((await textOf({ ...NOTE, lines: [{ ...line, days }] })).includes('Surcharge')).toBe(has);
  });

  it('has all of what is as long as it may be, within its pages', async () => {
    const wide = 'W'.repeat(200);
    const address = Array.from({ length: 6 }, (_, place) => `${place}${'M'.repeat(99)}`);
    const buyerDetails = { ...NOTE.buyerDetails, name: wide, address };
    const lines = Array.from({ length: 40 }, (_, place) => ({ ...line, title: `${place}${'T'.repeat(150)}` }));
    const text = plain(await textOf({ ...NOTE, buyerDetails, lines, reason: 'R'.repeat(500) }));
    for (const part of [wide, ...address, ...lines.map(({ title }) => title), 'R'.repeat(500), '588.82']) expect(text).toContain(part);
  });
});

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
