import { readFileSync, writeFileSync } from 'node:fs';
import { type Browser, type Page } from 'playwright-core';
import { findFreePorts } from '../../../cli/postgres/free-port';
import { type StatementView } from '../../../services/dashboard/contract/statements';
import { eventually } from '../../support/eventually';
import { closeConnections, send } from '../../support/http';
import { expectMeasured } from '../../support/measured';
import { inTestAll } from '../../support/scenes';
import { step } from '../../support/step';
import { startInstance, type RunningInstance } from '../../support/system/instance';
import { runOn } from '../../support/system/run-on';
import { ownCatalogue, type OwnCatalogue } from '../../support/system/own-catalogue';
import { startPythonApi, writePythonApi } from '../../support/system/python-api';
import { openPage, settle, startBrowser, type WatchedPage } from '../support/browser';
import { enterPassword, type Entrant, press, setFirstPassword, setUpSecondFactor, signInAgain, signUp } from '../support/entrances';
import { openedForTests } from '../../support/opened';

const PASSWORD = 'eleven purple rickshaws';
const OPERATOR = 'ops@tollgate.example';
const CUSTOMER = 'asha@example.com';
const REASON = 'The invoice of May is unpaid.';
const MONTHLY_PRICE = 310;
const GOLD = `plans:
      - { name: Gold, daily: 5000, monthly: 90000, price: '${MONTHLY_PRICE}.00', currency: EUR, approval: request }`;

let own: OwnCatalogue;
let instance: RunningInstance;
let browser: Browser;
let operator: WatchedPage;
let customer: WatchedPage;
let stopUpstream: (() => void) | undefined;
const opened = openedForTests();

beforeAll(async () => {
  own = ownCatalogue();
  void opened.keep(Promise.resolve(own), (each) => each.remove());
  instance = await opened.keep(startInstance(own.env), (each) => each.stop());
  browser = await opened.keep(startBrowser(), (each) => each.close());
  operator = await openPage(browser);
  customer = await openPage(browser);
});
afterAll(() => {
  stopUpstream?.();
  closeConnections();
});

/** Presses the button of a dialog, which may be called as the one that opened it. */
const confirm = (page: Page, name: string) => page.getByRole('dialog').getByRole('button', { name, exact: true }).click();
const go = (page: Page, name: string) => page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name, exact: true }).click();

/** Runs a command that must succeed. */
async function tollgate(...words: string[]): Promise<string> {
  const { code, stdout, stderr } = await runOn(instance, ...words);
  if (code !== 0) throw new Error(stderr);
  return stdout;
}

interface Answer {
  readonly status: number;
  readonly code: string | undefined;
}

async function call(key: string): Promise<Answer> {
  const response = await send(`${instance.gateway}/weather/pune`, { headers: { 'X-API-Key': key } });
  return { status: response.status, code: response.json().code };
}

/** Calls until it is refused for the suspension. @returns milliseconds from now to the sending of the last call that was served */
async function lastServed(key: string): Promise<number> {
  const start = performance.now();
  let last = 0;
  await eventually(async () => {
    const sentAt = performance.now();
    const { status, code } = await call(key);
    if (status === 200) last = sentAt - start;
    return code === 'subscription_inactive';
  });
  return last;
}

/** The price of some days of a month, rounded half up; such prices have two decimals. */
function share({ days, daysInMonth }: { readonly days: number; readonly daysInMonth: number }): string {
  return (Math.round((MONTHLY_PRICE * 100 * days) / daysInMonth) / 100).toFixed(2);
}

// In `npm test` test/docs/your-api.system.test.ts sells such an API and adds its statement up, and console.browser.test.ts approves, suspends and restores.
inTestAll(
  'a seller puts an API in Python on sale, approves who asks for it, suspends and restores, and the statement adds up',
  async () => {
    const seller: Entrant = { page: operator.page, dashboard: instance.dashboard, email: OPERATOR, password: PASSWORD };
    let key = '';
    let used = 0;

    await step('makes an operator, who signs in with a second factor', async () => {
      const { link } = JSON.parse(await tollgate('operator', 'create', '--email', OPERATOR, '--json')) as { link: string };
      await setFirstPassword(seller, link);
      await enterPassword(seller);
      await signInAgain(seller, await setUpSecondFactor(seller));
    });

    await step('puts an upstream that nobody adapted on sale, with a plan on request', async () => {
      const [port = 0] = await findFreePorts(1);
      writePythonApi(own.folder);
      stopUpstream = await startPythonApi(own.folder, port);
      await tollgate('product', 'new', 'weather', '--url', `http://127.0.0.1:${port}`, '--daily', '3', '--monthly', '60');
      const written = readFileSync(own.catalogueFile, 'utf8');
      const place = written.lastIndexOf('plans: []');
      writeFileSync(own.catalogueFile, written.slice(0, place) + GOLD + written.slice(place + 'plans: []'.length));
      expect(await tollgate('catalogue', 'apply')).toContain('+ weather');
      await go(operator.page, 'Products');
      await operator.page
        .getByRole('table', { name: 'Catalogue', exact: true })
        .getByRole('row', { name: /weather.*Gold/ })
        .waitFor();
    });

    await step('has a customer who signs up and asks for the plan', async () => {
      const { page } = customer;
      await signUp({ page, dashboard: instance.dashboard, email: CUSTOMER, password: PASSWORD });
      await press(page, 'I have copied it');
      await go(page, 'Plans');
      await press(page, 'Request Gold of Weather');
      await confirm(page, `Request Gold for €${MONTHLY_PRICE}.00 a month`);
      await page.getByText('Gold requested').waitFor();
    });

    await step('approves it, and the customer has it', async () => {
      const { page } = operator;
      await go(page, 'Customers');
      await press(page, `Approve Gold for ${CUSTOMER}`);
      await confirm(page, 'Approve');
      await page.getByRole('heading', { name: 'Requested plans' }).waitFor({ state: 'detached' });
      await customer.page.reload();
      await customer.page.getByRole('region', { name: 'Weather' }).getByText('Current plan').waitFor();
    });

    await step('serves the customer, who makes a key and calls', async () => {
      const { page } = customer;
      await go(page, 'Keys');
      await press(page, 'Create a key');
      await page.getByRole('radio', { name: 'Live' }).check();
      await page.getByRole('checkbox', { name: 'Weather' }).check();
      await press(page, 'Create key');
      key = await page.getByText(/^tg_live_\w+$/).innerText();
      await eventually(async () => (await call(key)).status === 200);
      for (used = 1; used < 4; used++) expect(await call(key)).toEqual({ status: 200, code: undefined });
      await press(page, 'I have copied it');
    });

    await step('shows the use to both', async () => {
      await go(customer.page, 'Usage');
      await customer.page.getByRole('table', { name: 'Limits' }).getByText(`${used} of 90,000`).waitFor();
      const { page } = operator;
      await page.getByRole('link', { name: CUSTOMER }).click();
      await page
        .getByRole('table', { name: 'Subscriptions' })
        .getByRole('cell', { name: `${used} of 90,000` })
        .waitFor();
    });

    await step('suspends the customer, who is refused within a second and reads why', async () => {
      const { page } = operator;
      await press(page, 'Suspend');
      await page.getByLabel('Reason').fill(REASON);
      const isAnswered = page.waitForResponse((response) => response.url().endsWith('/suspensions') && response.ok());
      await confirm(page, 'Suspend');
      await isAnswered;
      expectMeasured(await lastServed(key), 1_000);
      // On the page that is open, which nobody loads anew.
      await customer.page.getByText(REASON).first().waitFor();
    });

    await step('restores', async () => {
      await restore(operator.page);
      await eventually(async () => (await call(key)).status === 200);
      await customer.page.getByText(REASON).first().waitFor({ state: 'detached' });
    });

    await step('bills what was used', () => expectStatement(customer.page));

    expect([operator.complaints, customer.complaints]).toEqual([[], []]);
  },
);

async function restore(page: Page): Promise<void> {
  await press(page, 'Restore');
  await confirm(page, 'Restore');
  await page.getByRole('button', { name: 'Suspend', exact: true }).first().waitFor();
}

/** On the page and the command line the same, exact against what the gateway has counted. */
async function expectStatement(page: Page): Promise<void> {
  await go(page, 'Usage');
  await settle(page);
  const shown = await page
    .getByRole('table', { name: 'Limits' })
    .getByText(/^\d+ of 90,000$/)
    .innerText();
  const counted = Number(shown.split(' ')[0]);
  await go(page, 'Statements');
  await page.getByRole('table').getByRole('link').first().click();
  const row = page.getByRole('row', { name: /Weather Gold/ });
  await row.waitFor();
  const month = new URL(page.url()).pathname.split('/').at(-1) ?? '';
  const statement = JSON.parse(await tollgate('statement', '--customer', CUSTOMER, '--month', month, '--json')) as StatementView;
  const [line] = statement.lines.filter(({ plan }) => plan === 'Gold');
  const amount = share({ days: line?.days ?? 0, daysInMonth: statement.daysInMonth });
  expect(line).toMatchObject({ product: 'weather', used: counted, charged: counted, refunded: 0, price: `${MONTHLY_PRICE}.00`, amount });
  expect(statement.totals).toEqual([{ currency: 'EUR', amount }]);
  const cells = await row.getByRole('cell').allInnerTexts();
  expect(cells.at(-1)).toBe(`€${amount}`);
  expect(cells[cells.length - 6]).toBe(String(counted));
}
