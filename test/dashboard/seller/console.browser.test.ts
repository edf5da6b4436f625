import { type Page } from 'playwright-core';
import { billingTerms, type InvoicingTerms } from '../../../plugins/core/catalogue/billing-terms';
import { createCatalogue } from '../../../plugins/core/catalogue/catalogue';
import { createInvoiceBilling } from '../../../services/dashboard/billing/billing-of';
import { applyCatalogue } from '../../../services/selling/catalogue/apply-catalogue';
import { computeStatement } from '../../../services/selling/statements/statement';
import { createOperator } from '../../../services/selling/operators/change-operators';
import { watchOutages } from '../../../services/selling/outages/watch-outages';
import { createKey } from '../../../services/selling/keys/create-key';
import { makeSetUpLink } from '../../../services/dashboard/sign-in/set-up-link';
import { PRODUCTS } from '../../support/catalogue';
import { useOpened } from '../../support/opened';
import { step } from '../../support/step';
import { inaccessible, inaccessibleInBoth } from '../support/axe';
import { openPage, settle, startBrowser, type WatchedPage } from '../support/browser';
import { startPageDashboard } from '../support/page-dashboard';
import { enterPassword, type Entrant, press, setFirstPassword, setUpSecondFactor, signInAgain, signUp } from '../support/entrances';

const OPERATOR = 'ops@tollgate.example';
const CUSTOMER = 'asha@example.com';
const PASSWORD = 'eleven purple rickshaws';
const DECLINED = 'Star is for companies; tell us which one is yours.';
const REASON = 'The invoice of May is unpaid.';
const TERMS = billingTerms.parse({
  provider: 'invoice',
  seller: { name: 'Acme Data', address: ['12 MG Road', 'Bengaluru 560001'], country: 'IN', tax_id: '29AAGCB7383J1Z4' },
  invoices: { from: '2026-01', payment: 'Transfer to account 123, IFSC ACME0001' },
  tax: { gst: { rate: 18, hsn: '998431' } },
}) as InvoicingTerms;

let operator: WatchedPage;
let customer: WatchedPage;

const dashboard = useOpened(() => startPageDashboard());
const browser = useOpened(startBrowser);
beforeAll(async () => {
  operator = await openPage(browser);
  customer = await openPage(browser);
});

const open = async (page: Page, path: string) => {
  await page.goto(dashboard.url + path);
  await settle(page);
};

/** Asks for a plan as if it were given on request, which none of the project's catalogue is. */
async function askForPlan(): Promise<void> {
  await dashboard.pool.query(
    `INSERT INTO plan_request (customer_id, product_id, plan_name, daily, monthly, price, currency)
     SELECT c.id, p.product_id, p.name, p.daily, p.monthly, p.price, p.currency
     FROM customer c, plan p WHERE c.email = $1 AND p.product_id = 'api-ip' AND p.name = 'Star'`,
    [CUSTOMER],
  );
}

/** A call with the customer's key that was refused for the suspension, as the access layer writes it down. */
async function recordRefusal(keyId: string): Promise<void> {
  await dashboard.pool.query(
    `INSERT INTO decision (request_id, at, outcome, products, product, credential_id, customer_id, suspended)
     SELECT 'refused-once', now(), 'subscription_inactive', '{}', 'api-ip', id, customer_id, $2 FROM credential WHERE id = $1`,
    [keyId, REASON],
  );
}

/** The API behind a product is down: a call with the key failed, as the gateway told. */
async function recordOutage(keyId: string): Promise<void> {
  const customerOf = 'SELECT customer_id FROM credential WHERE id = $1';
  const statements = [
    `INSERT INTO decision (request_id, at, outcome, products, product, credential_id, customer_id, masked_key, method, path, status, milliseconds)
     SELECT 'failed-once', now() - interval '2 minutes', 'admitted', '{}', 'api-ip', id, customer_id, 'tg_test…abcd', 'GET', '/ip', 502, 12
     FROM credential WHERE id = $1`,
    `INSERT INTO key_hour (credential_id, day, hour, product_id, admitted, succeeded, rejected, failed, abandoned, took)
     SELECT $1, place.there::date, extract(hour FROM place.there), 'api-ip', 60, 20, 0, 40, 0, '{60}'
     FROM (SELECT now() AT TIME ZONE 'Asia/Kolkata' AS there) AS place`,
    `INSERT INTO customer_day (customer_id, day, product_id, admitted, succeeded, rejected, failed, abandoned, took)
     SELECT (${customerOf}), (now() AT TIME ZONE 'Asia/Kolkata')::date, 'api-ip', 60, 20, 0, 40, 0, '{60}'`,
  ];
  for (const statement of statements) await dashboard.pool.query(statement, [keyId]);
  await watchOutages(dashboard.pool, { timeZone: 'Asia/Kolkata' });
  await dashboard.pool.query(
    `INSERT INTO product_outage (product_id, began_at, failed_at, answered, failed)
     VALUES ('api-ip', now() - interval '3 minutes', now(), 60, 40)`,
  );
}

/** Cells and choices of a page that show a product's id. A seller types ids where the catalogue is shown as its file has it. */
async function idsShown(page: Page, path: string): Promise<readonly string[]> {
  await open(page, path);
  const cells = page.locator('table:not([aria-label*="atalogue"]) :is(td, th), option');
  await cells.filter({ hasText: 'IP lookup' }).first().waitFor({ state: 'attached' });
  return cells.filter({ hasText: 'api-ip' }).allTextContents();
}

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

it('an operator sets the account up, answers who asks for a plan, suspends a customer, who reads why, and restores', async () => {
  let secret = '';
  let keyId = '';
  let customerPath = '';
  const entrant: Entrant = { page: operator.page, dashboard: dashboard.url, email: OPERATOR, password: PASSWORD };

  await step('sets a password by the link', async () => {
    const { id } = await createOperator(dashboard.pool, { email: OPERATOR, actor: 'test' });
    const { link } = await makeSetUpLink(dashboard.pool, { userId: id, url: dashboard.url });
    await setFirstPassword(entrant, link);
  });

  await step('is led from the first sign-in to the second factor, and nowhere else', async () => {
    const { page } = operator;
    await enterPassword(entrant);
    await page.getByRole('heading', { name: 'Set up your second factor' }).waitFor();
    await open(page, '/operator/audit');
    await page.getByRole('heading', { name: 'Set up your second factor' }).waitFor();
    secret = await setUpSecondFactor(entrant);
  });

  await step('signs out, and in again with both', () => signInAgain(entrant, secret));

  await step('finds a customer by the last four characters of a key', async () => {
    await signUp({ ...customer, dashboard: dashboard.url, email: CUSTOMER, password: PASSWORD });
    const made = await createKey(dashboard.pool, { customer: CUSTOMER, products: ['api-ip'], mode: 'test', actor: 'test' });
    const { key } = made;
    keyId = made.id;
    const { page } = operator;
    await open(page, '/operator/customers');
    await page.getByPlaceholder('Email, key ID or last four characters').fill(key);
    await page.getByRole('link', { name: CUSTOMER }).click();
    await page.getByRole('heading', { name: CUSTOMER }).waitFor();
    expect(page.url()).not.toContain(key);
    customerPath = new URL(page.url()).pathname;
  });

  await step('declines a plan with a reason that it has to give, and the customer reads it', async () => {
    await askForPlan();
    const { page } = operator;
    await open(page, '/operator/customers');
    await press(page, `Decline Star for ${CUSTOMER}`);
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Decline', exact: true }).click();
    await dialog.getByText('Say why.').waitFor();
    expect(await inaccessibleInBoth(page)).toEqual([]);
    await dialog.getByLabel('Reason').fill(DECLINED);
    await dialog.getByRole('button', { name: 'Decline', exact: true }).click();
    await page.getByRole('heading', { name: 'Requested plans' }).waitFor({ state: 'detached' });
    await open(customer.page, '/plans');
    await customer.page.getByText('Star was declined').waitFor();
    await customer.page.getByText(DECLINED).waitFor();
  });

  await step('approves a plan that the customer asked for', async () => {
    await askForPlan();
    const { page } = operator;
    await open(page, '/operator/customers');
    await page.getByRole('heading', { name: 'Requested plans' }).waitFor();
    expect(await inaccessible(page)).toEqual([]);
    await press(page, `Approve Star for ${CUSTOMER}`);
    await page.getByRole('dialog').getByRole('button', { name: 'Approve', exact: true }).click();
    await page.getByRole('heading', { name: 'Requested plans' }).waitFor({ state: 'detached' });
    await open(page, customerPath);
    await page.getByRole('cell', { name: 'Star', exact: true }).waitFor();
  });

  await step('gives the customer a price and a rate of its own with a reason, and the customer reads them', async () => {
    const { page } = operator;
    await press(page, 'Price and limits of IP lookup');
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Price a month').fill('250.00');
    await dialog.getByLabel('Daily limit').fill('5000');
    await dialog.getByLabel('Requests', { exact: true }).fill('10');
    await dialog.getByLabel('At once').fill('20');
    await dialog.getByLabel('Reason').fill('A partner.');
    expect(await inaccessible(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Set terms' }).click();
    await page.getByText('at ₹250.00').waitFor();
    await open(customer.page, '/plans');
    await customer.page
      .getByText(
        'Your own price, ₹250.00 a month, and limits, and rate, 10 requests a second, bursts of 20 on Star, in place of the plan’s.',
      )
      .waitFor();
    await press(customer.page, 'Change IP lookup to Free');
    await customer.page.getByText('Your own limits are for Star: they do not come along, and count again if you come back.').waitFor();
    await press(customer.page, 'Cancel');
  });

  await step('keeps a list of customers by name', async () => {
    const { page } = operator;
    await open(page, '/operator/customers?state=active');
    await press(page, 'Save this view');
    await page.getByRole('dialog').getByLabel('Name').fill('Who pays');
    await press(page, 'Save view');
    await open(page, '/operator/customers');
    await page.getByRole('link', { name: 'Who pays' }).click();
    await page.waitForURL(/state=active/);
    await open(page, customerPath);
  });

  await step('suspends, and the customer reads why', async () => {
    const { page } = operator;
    await press(page, 'Suspend');
    await page.getByLabel('Reason').fill(REASON);
    await page.getByRole('dialog').getByRole('button', { name: 'Suspend', exact: true }).click();
    await page.getByText('Suspended by the seller', { exact: true }).waitFor();
    await recordRefusal(keyId);
    await open(customer.page, '/keys');
    await customer.page.getByText(REASON).waitFor();
  });

  await step('sees the refusal, and what the customer sees, to read only', async () => {
    const { page } = operator;
    await page.getByRole('link', { name: 'subscription_inactive' }).first().click();
    await page.getByText('How to fix it', { exact: true }).waitFor();
    await open(page, customerPath);
    const [viewing] = await Promise.all([
      page.context().waitForEvent('page'),
      page.getByRole('link', { name: 'See what they see' }).click(),
    ]);
    await viewing.getByText('You see what the customer sees').waitFor();
    await viewing.getByText(REASON).waitFor();
    await viewing.getByRole('button', { name: 'Back to the console' }).click();
    await viewing.getByRole('heading', { name: CUSTOMER }).waitFor();
    await viewing.close();
  });

  await step('is told that a product fails, and so is the customer whose request failed, until it is over', async () => {
    const { page } = operator;
    await recordOutage(keyId);
    await open(page, '/operator/products');
    await page.getByText('IP lookup is failing').waitFor();
    await page.getByRole('table', { name: 'Answers by product' }).getByText('40 (66.67%)').first().waitFor();
    await page.getByRole('link', { name: 'Failed requests' }).click();
    await page.getByRole('cell', { name: '502' }).waitFor();
    expect(await page.getByRole('link', { name: 'subscription_inactive' }).count()).toBe(0);
    await open(customer.page, '/');
    await customer.page.getByText('IP lookup is failing').waitFor();
    await dashboard.pool.query('UPDATE product_outage SET ended_at = now()');
    await open(customer.page, '/');
    await customer.page.getByText('IP lookup has recovered').waitFor();
    await customer.page.getByRole('link', { name: 'Your failed requests' }).click();
    await customer.page.getByRole('cell', { name: '502' }).waitFor();
  });

  await step('reads the titles of products, as the customer does', async () => {
    for (const path of ['/operator/requests', customerPath]) {
      expect([path, await idsShown(operator.page, path)]).toEqual([path, []]);
    }
    expect(await idsShown(customer.page, '/requests')).toEqual([]);
  });

  await step('restores, and the customer reads it', async () => {
    const { page } = operator;
    await open(page, customerPath);
    await press(page, 'Restore');
    await page.getByRole('dialog').getByRole('button', { name: 'Restore', exact: true }).click();
    await page.getByText('Suspended by the seller', { exact: true }).waitFor({ state: 'detached' });
    await open(customer.page, '/audit');
    await customer.page.getByText('Account restored by the seller').waitFor();
  });

  expect([operator.complaints, customer.complaints]).toEqual([[], []]);
});

it('the customer says to whom invoices are made out and reads them; the seller marks one paid and credits it', async () => {
  await step('the customer has no billing page before the catalogue bills', async () => {
    await open(customer.page, '/');
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
    const { page } = operator;
    await open(page, '/operator');
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

  expect([operator.complaints, customer.complaints]).toEqual([[], []]);
});
