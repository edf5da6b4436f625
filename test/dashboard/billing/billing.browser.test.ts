import { type Browser, type Page } from 'playwright-core';
import { billingTerms, type InvoicingTerms } from '../../../plugins/core/catalogue/billing-terms';
import { createCatalogue } from '../../../plugins/core/catalogue/catalogue';
import { applyCatalogue } from '../../../services/selling/catalogue/apply-catalogue';
import { createInvoiceBilling } from '../../../services/dashboard/billing/billing-of';
import { createOperator } from '../../../services/selling/operators/change-operators';
import { makeSetUpLink } from '../../../services/dashboard/sign-in/set-up-link';
import { computeStatement } from '../../../services/selling/statements/statement';
import { PRODUCTS } from '../../support/catalogue';
import { step } from '../../support/step';
import { openPage, settle, startBrowser, type WatchedPage } from '../support/browser';
import { enterPassword, press, setFirstPassword, setUpSecondFactor, signInAgain, signUp } from '../support/entrances';
import { type PageDashboard, startPageDashboard } from '../support/page-dashboard';

const CUSTOMER = 'asha@example.com';
const OPERATOR = 'ops@tollgate.example';
const PASSWORD = 'eleven purple rickshaws';
const TERMS = billingTerms.parse({
  provider: 'invoice',
  seller: { name: 'Acme Data', address: ['12 MG Road', 'Bengaluru 560001'], country: 'IN', tax_id: '29AAGCB7383J1Z4' },
  invoices: { from: '2026-01', payment: 'Transfer to account 123, IFSC ACME0001' },
  tax: { gst: { rate: 18, hsn: '998431' } },
}) as InvoicingTerms;

let dashboard: PageDashboard;
let browser: Browser;
let customer: WatchedPage;
let operator: WatchedPage;
beforeAll(async () => {
  [dashboard, browser] = await Promise.all([startPageDashboard(), startBrowser()]);
  [customer, operator] = [await openPage(browser), await openPage(browser)];
});
afterAll(async () => {
  await browser?.close();
  await dashboard?.close();
});

const open = async (page: Page, path: string): Promise<void> => {
  await page.goto(dashboard.url + path);
  await settle(page);
};

/** A month on Star, closed, and invoiced as the dashboard does each minute. */
async function issueInvoice(month: string): Promise<void> {
  const days = { fromDay: `${month}-01`, toDay: `${month}-31` };
  const plan = { product: 'api-ip', plan: 'Star', price: '499.00', currency: 'INR', daily: 10, monthly: 100 };
  const content = computeStatement(
    month,
    [{ subscriptionId: 's', ...plan, overage: null, isActive: true, isPaidInAdvance: false, ...days }],
    [],
  );
  await dashboard.pool.query('INSERT INTO statement (customer_id, month, content) SELECT id, $2, $3 FROM customer WHERE email = $1', [
    CUSTOMER,
    `${month}-01`,
    JSON.stringify(content),
  ]);
  const catalogue = createCatalogue(PRODUCTS, { billing: TERMS });
  const onFailure = (): never => {
    throw new Error('not invoiced');
  };
  const today = new Date().toISOString().slice(0, 10);
  await createInvoiceBilling(dashboard.pool, { terms: TERMS, catalogue }).issueInvoices({ today, onFailure });
}

it('a customer says to whom invoices are made out and reads them; the seller marks one paid and credits it', async () => {
  await step('the customer has no billing page before the catalogue bills', async () => {
    await signUp({ ...customer, dashboard: dashboard.url, email: CUSTOMER, password: PASSWORD });
    await settle(customer.page);
    expect(await customer.page.getByRole('link', { name: 'Billing' }).count()).toBe(0);
    await applyCatalogue(dashboard.pool, createCatalogue(PRODUCTS, { billing: TERMS }), { actor: 'test' });
  });

  await step('fills in the details, and is told what is wrong with a tax number', async () => {
    const { page } = customer;
    await open(page, '/');
    await page.getByRole('link', { name: 'Billing' }).click();
    await page.getByText('To be paid now: nothing.').waitFor();
    await page.getByLabel('Legal name').fill('Asha Traders');
    await page.getByLabel('Address').fill('1 Church Street\nPune 411001');
    await page.getByLabel('Country').fill('in');
    await page.getByLabel('Tax number').fill('27AAPFU0939F1ZW');
    await press(page, 'Save details');
    await page.getByText('is not a GSTIN').waitFor();
    await page.getByLabel('Tax number').fill('27AAPFU0939F1ZV');
    await press(page, 'Save details');
    await page.getByText('made out to these details').waitFor();
  });

  await step('reads an invoice', async () => {
    await issueInvoice('2026-03');
    const { page } = customer;
    await open(page, '/billing');
    await page.getByText('To be paid now: ₹588.82.').waitFor();
    await page.getByRole('link', { name: 'INV-000001' }).click();
    await page.getByText('Place of supply: Maharashtra (27).').waitFor();
    await page.getByText('IGST 18 %').waitFor();
    const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('link', { name: 'Download PDF' }).click()]);
    expect(download.suggestedFilename()).toBe('INV-000001.pdf');
  });

  await step('the seller finds it under its month', async () => {
    const entrant = { page: operator.page, dashboard: dashboard.url, email: OPERATOR, password: PASSWORD };
    const { id } = await createOperator(dashboard.pool, { email: OPERATOR, actor: 'test' });
    await setFirstPassword(entrant, (await makeSetUpLink(dashboard.pool, { userId: id, url: dashboard.url })).link);
    await enterPassword(entrant);
    await operator.page.getByRole('heading', { name: 'Set up your second factor' }).waitFor();
    await signInAgain(entrant, await setUpSecondFactor(entrant));
    const { page } = operator;
    await page.getByRole('link', { name: 'Billing' }).click();
    await page.getByRole('link', { name: 'March 2026, INR' }).click();
    await page.getByRole('heading', { name: 'Invoices: March 2026, INR' }).waitFor();
    await page.getByRole('link', { name: 'INV-000001' }).click();
  });

  await step('marks it as paid, and the customer reads so', async () => {
    const { page } = operator;
    await press(page, 'Mark as paid');
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Reference').fill('UTR 42');
    await dialog.getByRole('button', { name: 'Mark as paid' }).click();
    await page.getByText('(UTR 42)').waitFor();
    await open(customer.page, '/billing');
    await customer.page.getByText('To be paid now: nothing.').waitFor();
  });

  await step('credits it with a reason', async () => {
    const { page } = operator;
    await press(page, 'Credit');
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Reason').fill('The plan was wrong.');
    await dialog.getByRole('button', { name: 'Credit invoice' }).click();
    await page.getByText('Cancelled by credit note CN-000001.').waitFor();
    await open(customer.page, '/billing');
    await customer.page.getByRole('link', { name: 'CN-000001' }).click();
    await customer.page.getByText('Cancels invoice INV-000001: The plan was wrong.').waitFor();
  });

  expect([customer.complaints, operator.complaints]).toEqual([[], []]);
});
