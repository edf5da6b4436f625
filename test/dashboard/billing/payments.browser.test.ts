import { type Browser, type Page } from 'playwright-core';
import { createCatalogue } from '../../../plugins/core/selling/catalogue';
import { applyCatalogue } from '../../../plugins/stores/postgres/catalogue/apply-catalogue';
import { PRODUCTS } from '../../support/catalogue';
import { step } from '../../support/step';
import { inaccessibleInBoth } from '../support/axe';
import { openPage, settle, startBrowser, type WatchedPage } from '../support/browser';
import { press, signUp } from '../support/entrances';
import { makeOperator } from '../support/operator';
import { type PageDashboard, startPageDashboard } from '../support/page-dashboard';
import { type PayingDashboard, startPayingDashboard } from '../support/paying-dashboard';

const CUSTOMER = 'asha@example.com';
const SUN = { name: 'Sun', daily: 200_000, monthly: 6_000_000, price: '999.00', currency: 'INR', approval: 'automatic' } as const;
const SOLD = PRODUCTS.map((each) => (each.id === 'api-ip' ? { ...each, plans: [...each.plans, SUN] } : each));

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
  await page.emulateMedia({ colorScheme: 'light' });
  if (SHOTS !== undefined) await page.screenshot({ path: `${SHOTS}/${name}.png`, fullPage: true });
};
const open = async (page: Page, path: string): Promise<void> => {
  await page.goto(dashboard.url + path);
  await settle(page);
};

test('a customer takes a paid plan: is declined once, pays, changes up and down, fails a renewal, makes it good, and cancels; the seller reads so', async () => {
  const { page } = customer;
  await step('signs up and chooses a plan with a price', async () => {
    await signUp({ ...customer, dashboard: dashboard.url, email: CUSTOMER, password: 'eleven purple rickshaws' });
    await open(page, '/plans');
    // The overview makes a first key, which may have subscribed to the product by now.
    await page.getByRole('button', { name: /^(Subscribe|Change) IP lookup to Star$/ }).click();
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

  await step('changes up, which a declined card hinders, then down, at the cost that was shown', async () => {
    await applyCatalogue(dashboard.pool, createCatalogue(SOLD), { actor: 'test' });
    const change = async (plan: string): Promise<void> => {
      await open(page, '/plans');
      await page.getByRole('button', { name: `Change IP lookup to ${plan}` }).click();
      await page
        .getByRole('dialog')
        .getByText(plan === 'Sun' ? 'is charged now' : 'is credited to the next charges')
        .waitFor();
    };
    const agree = (plan: string): Promise<void> => press(page, `Change to ${plan}`);
    await change('Sun');
    await shoot(page, '6-change');
    dashboard.provider.ledger.declinesNext = true;
    await agree('Sun');
    await page.getByText('The payment failed, so nothing was changed.').waitFor();
    await change('Sun');
    // What it costs is reckoned by the second, and one second is not paid twice.
    await new Promise((done) => setTimeout(done, 1_100));
    await change('Sun');
    await agree('Sun');
    await page.getByText('IP lookup is on Sun now.').waitFor();
    await change('Star');
    await agree('Star');
    await page.getByText('IP lookup is on Star now.').waitFor();
    await open(page, '/billing');
  });

  await step('has a renewal fail, is told so with the day of grace, and makes it good', async () => {
    await press(page, 'Cards and receipts');
    await press(page, 'Let the month end: the card is declined');
    await dashboard.settled();
    await page.getByRole('link', { name: 'Back' }).click();
    await page.getByText(/Pay by .*, or the plan ends\./).waitFor();
    await shoot(page, '7-failed');
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
    await shoot(page, '8-cancelled');
    await open(page, '/plans');
    await page.getByText('Current plan').first().waitFor();
  });

  await step('comes back to a payment page whose plan was withdrawn, and reads why it is closed', async () => {
    await open(page, '/plans');
    await page.getByRole('button', { name: 'Subscribe Pincode to Star' }).click();
    await page.getByRole('button', { name: /Go on and pay/ }).click();
    const back = page.getByRole('link', { name: 'Go back without paying' });
    await back.waitFor();
    const left = SOLD.map((each) => (each.id === 'api-pincode' ? { ...each, plans: [] } : each));
    await applyCatalogue(dashboard.pool, createCatalogue(left), { actor: 'test' });
    dashboard.poke();
    await dashboard.settled();
    await back.click();
    await page.getByText('Star is no longer offered as you saw it').waitFor();
    expect(await inaccessibleInBoth(page)).toEqual([]);
    await shoot(page, '9-withdrawn');
  });

  const seller = await openPage(browser);
  await step('the seller reads what was paid by month, and what one customer was charged', async () => {
    const { cookie } = await makeOperator(dashboard);
    const cookies = cookie.split('; ').map((each) => {
      const [name = '', value = ''] = each.split('=');
      return { name, value, url: dashboard.url };
    });
    await seller.page.context().addCookies(cookies);
    await open(seller.page, '/operator/billing');
    await seller.page.getByRole('table', { name: 'Sums by month' }).getByText('Sandbox').waitFor();
    await seller.page.getByRole('table', { name: 'Payments' }).getByText(CUSTOMER).first().waitFor();
    expect(await inaccessibleInBoth(seller.page)).toEqual([]);
    await shoot(seller.page, '10-seller');
    await seller.page.getByRole('link', { name: CUSTOMER }).first().click();
    await seller.page.getByRole('link', { name: 'All payments' }).waitFor();
    await settle(seller.page);
    await shoot(seller.page, '11-customer');
    await seller.page.getByRole('link', { name: 'All payments' }).click();
    await seller.page.getByRole('heading', { name: 'Payments: one customer' }).waitFor();
    await seller.page.setViewportSize({ width: 390, height: 844 });
    await settle(seller.page);
    await shoot(seller.page, '12-seller-phone');
  });

  expect([...customer.complaints, ...seller.complaints]).toEqual([]);
});
