import { type Browser, type Page } from 'playwright-core';
import { step } from '../../support/step';
import { inaccessibleInBoth } from '../support/axe';
import { openPage, settle, startBrowser, type WatchedPage } from '../support/browser';
import { press, signUp } from '../support/entrances';
import { type PageDashboard, startPageDashboard } from '../support/page-dashboard';
import { type PayingDashboard, startPayingDashboard } from '../support/paying-dashboard';

const CUSTOMER = 'asha@example.com';

let dashboard: PayingDashboard & PageDashboard;
let browser: Browser;
let customer: WatchedPage;
beforeAll(async () => {
  // What starts is a dashboard with pages, whose type the helper does not know.
  [dashboard, browser] = await Promise.all([
    startPayingDashboard({}, startPageDashboard) as Promise<PayingDashboard & PageDashboard>,
    startBrowser(),
  ]);
  customer = await openPage(browser);
});
afterAll(async () => {
  await browser?.close();
  await dashboard?.close();
});

const SHOTS = process.env['SCREENSHOTS'];
const shoot = async (page: Page, name: string): Promise<void> => {
  if (SHOTS !== undefined) await page.screenshot({ path: `${SHOTS}/${name}.png`, fullPage: true });
};
const open = async (page: Page, path: string): Promise<void> => {
  await page.goto(dashboard.url + path);
  await settle(page);
};

test('a customer takes a paid plan: is declined once, pays, fails a renewal, makes it good, and cancels', async () => {
  const { page } = customer;
  await step('signs up and chooses a plan with a price', async () => {
    await signUp({ ...customer, dashboard: dashboard.url, email: CUSTOMER, password: 'eleven purple rickshaws' });
    await open(page, '/plans');
    await page.getByRole('button', { name: 'Subscribe IP lookup to Star' }).click();
    await page.getByText('The plan begins when the payment has arrived').waitFor();
    expect(await inaccessibleInBoth(page)).toEqual([]);
    await shoot(page, '1-dialog');
    await page.getByRole('button', { name: /Go on and pay/ }).click();
  });

  await step('is declined, and nothing has changed', async () => {
    await page.getByRole('heading', { name: 'Subscribe to IP lookup: Star' }).waitFor();
    await press(page, 'Pay with a card that is declined');
    await page.getByText('Your card was declined.').waitFor();
    await shoot(page, '2-declined');
    await page.getByRole('link', { name: 'Go back without paying' }).click();
    await page.getByText('Nothing has arrived yet.').waitFor();
    expect(await inaccessibleInBoth(page)).toEqual([]);
    await shoot(page, '3-waiting');
  });

  await step('pays with a second factor, and reads that it is on the way, then that it has arrived', async () => {
    await page.getByRole('link', { name: /Back to the payment/ }).click();
    await press(page, 'Pay with a card that asks for a second factor');
    dashboard.hear(false);
    await press(page, 'Complete');
    await page.getByText('Nothing has arrived yet.').waitFor();
    dashboard.hear(true);
    await page.getByText('The payment has arrived. IP lookup is on Star now.').waitFor();
    expect(await inaccessibleInBoth(page)).toEqual([]);
    await shoot(page, '4-arrived');
  });

  await step('sees the next charge', async () => {
    await open(page, '/billing');
    await page.getByText(/Next charge of ₹499\.00 on/).waitFor();
    expect(await inaccessibleInBoth(page)).toEqual([]);
    await shoot(page, '5-billing');
  });

  await step('has a renewal fail, is told so with the day of grace, and makes it good', async () => {
    await press(page, 'Cards and receipts');
    await press(page, 'Let the month end: the card is declined');
    await dashboard.settled();
    await page.getByRole('link', { name: 'Back' }).click();
    await page.getByText(/Pay by .*, or the plan ends\./).waitFor();
    await shoot(page, '6-failed');
    expect(dashboard.mails.find(({ subject }) => subject === 'Payment for IP lookup: Star failed')?.text).toContain(
      'Your plan goes on until',
    );
    await press(page, 'Cards and receipts');
    await press(page, 'Pay what is owed');
    await dashboard.settled();
    await page.getByRole('link', { name: 'Back' }).click();
    await page.getByText(/Next charge of/).waitFor();
  });

  await step('cancels, and the plan goes on until its period is over', async () => {
    await press(page, 'Cancel IP lookup Star');
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel the plan' }).click();
    await page.getByText(/Ends on .*; nothing more is charged\./).waitFor();
    await shoot(page, '7-cancelled');
    await open(page, '/plans');
    await page.getByText('Current plan').first().waitFor();
  });

  expect(customer.complaints).toEqual([]);
});
