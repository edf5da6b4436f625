import { Pool } from 'pg';
import { type Browser, type Page } from 'playwright-core';
import { eventually } from '../support/eventually';
import { step } from '../support/step';
import { startInstance, type RunningInstance } from '../support/system/instance';
import { inaccessible } from './support/axe';
import { openPage, settle, startBrowser, type WatchedPage } from './support/browser';
import { enterPassword, type Entrant, press, setFirstPassword, setUpSecondFactor, signInAgain, signUp } from './support/entrances';

const OPERATOR = 'ops@tollgate.example';
const CUSTOMER = 'asha@example.com';
const PASSWORD = 'eleven purple rickshaws';
const DECLINED = 'Star is for companies; tell us which one is yours.';
const REASON = 'The invoice of May is unpaid.';

let instance: RunningInstance;
let browser: Browser;
let operator: WatchedPage;
let customer: WatchedPage;

beforeAll(async () => {
  instance = await startInstance();
  browser = await startBrowser();
  operator = await openPage(browser);
  customer = await openPage(browser);
});
afterAll(async () => {
  await browser?.close();
  await instance?.stop();
});

const open = async (page: Page, path: string) => {
  await page.goto(`${instance.dashboard}${path}`);
  await settle(page);
};

async function call(key: string): Promise<{ status: number; code: string | undefined }> {
  const response = await fetch(`${instance.gateway}/ip?ip=8.8.8.8`, { headers: { 'X-API-Key': key } });
  const { code } = (await response.json()) as { code?: string };
  return { status: response.status, code };
}

/** Asks for a plan as if it were given on request, which none of the project's catalogue is. */
async function askForPlan(): Promise<void> {
  const database = new Pool({ connectionString: instance.databaseUrl });
  await database.query(
    `INSERT INTO plan_request (customer_id, product_id, plan_name, daily, monthly, price, currency)
     SELECT c.id, p.product_id, p.name, p.daily, p.monthly, p.price, p.currency
     FROM customer c, plan p WHERE c.email = $1 AND p.product_id = 'api-ip' AND p.name = 'Star'`,
    [CUSTOMER],
  );
  await database.end();
}

/** What axe finds on a page of the console, in both schemes. */
async function faultsOf(page: Page, path: string): Promise<string[]> {
  await open(page, path);
  const faults: string[] = [];
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    faults.push(...(await inaccessible(page)).map((fault) => `${path} ${colorScheme}: ${fault}`));
  }
  return faults;
}

test('an operator sets the account up, suspends a customer, who is refused and reads why, and restores', async () => {
  let secret = '';
  let key = '';
  let customerPath = '';
  const entrant: Entrant = { page: operator.page, dashboard: instance.dashboard, email: OPERATOR, password: PASSWORD };

  await step('is made by the command line, and sets a password by the link', async () => {
    const { stdout } = await instance.cli('operator', 'create', '--email', OPERATOR, '--json');
    const { link } = JSON.parse(stdout) as { link: string };
    expect(link.startsWith(`${instance.dashboard}/`)).toBe(true);
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
    await signUp({ ...customer, dashboard: instance.dashboard, email: CUSTOMER, password: PASSWORD });
    const made = await instance.cli('key', 'create', '--customer', CUSTOMER, '--products', 'api-ip', '--mode', 'test', '--json');
    ({ key } = JSON.parse(made.stdout) as { key: string });
    expect((await call(key)).status).toBe(200);
    const { page } = operator;
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
    for (const colorScheme of ['dark', 'light'] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await inaccessible(page)).toEqual([]);
    }
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

  await step('suspends, and the customer is refused and reads why', async () => {
    const { page } = operator;
    await press(page, 'Suspend');
    await page.getByLabel('Reason').fill(REASON);
    await page.getByRole('dialog').getByRole('button', { name: 'Suspend', exact: true }).click();
    await page.getByText('Suspended by the provider').waitFor();
    await eventually(async () => (await call(key)).code === 'subscription_inactive');
    await open(customer.page, '/keys');
    await customer.page.getByText(REASON).waitFor();
  });

  await step('sees the refusal, and what the customer sees, to read only', async () => {
    const { page } = operator;
    await page.getByRole('link', { name: 'subscription_inactive' }).first().click();
    await page.getByText('How to fix it').waitFor();
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

  await step('restores, and the customer is admitted', async () => {
    const { page } = operator;
    await press(page, 'Restore');
    await page.getByRole('dialog').getByRole('button', { name: 'Restore', exact: true }).click();
    await page.getByText('Suspended by the provider').waitFor({ state: 'detached' });
    await eventually(async () => (await call(key)).status === 200);
    await open(customer.page, '/audit');
    await customer.page.getByText('Account restored by the provider').waitFor();
  });

  await step('is shown nothing that axe finds, in either scheme', async () => {
    const paths = ['/operator/customers', customerPath, '/operator/requests', '/operator/products', '/operator/nodes', '/operator/audit'];
    const faults: string[] = [];
    for (const path of [...paths, '/operator/account']) faults.push(...(await faultsOf(operator.page, path)));
    expect(faults).toEqual([]);
  });

  expect([operator.complaints, customer.complaints]).toEqual([[], []]);
});
