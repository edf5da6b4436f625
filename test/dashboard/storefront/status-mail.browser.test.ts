import { type Browser } from 'playwright-core';
import { createStatusLinks } from '../../../services/dashboard/storefront/status-links';
import { statusMailsBy } from '../../../services/dashboard/storefront/status-mails';
import { type Mail } from '../../../services/dashboard/http/dashboard-deps';
import { openedForTests } from '../../support/opened';
import { inTestAll } from '../../support/scenes';
import { step } from '../../support/step';
import { inaccessibleInBoth } from '../support/axe';
import { narrowFaults, openPage, startBrowser } from '../support/browser';
import { startMailing } from '../support/mailing';
import { type PageDashboard, startPageDashboard } from '../support/page-dashboard';

const PHONE = { width: 390, height: 844 };
const opened = openedForTests();
let dashboard: PageDashboard;
let browser: Browser;
let mails: Mail[];
let mailing: ReturnType<typeof startMailing>;

beforeAll(async () => {
  [dashboard, browser] = await Promise.all([
    opened.keep(startPageDashboard({ hasOutbox: false }), (each) => each.close()),
    opened.keep(startBrowser(), (each) => each.close()),
  ]);
  mails = [];
  const write = { status: statusMailsBy(createStatusLinks(dashboard)) };
  mailing = startMailing(dashboard.pool, { send: (mail) => void mails.push(mail), write, everyMs: 3_600_000 });
  await opened.keep(Promise.resolve(mailing), (each) => each.close());
});

it('a reader without a script asks for mail about a product on the status page, confirms by the link, and unsubscribes', async () => {
  const { page, complaints } = await openPage(browser, { javaScriptEnabled: false });

  await step('asks', async () => {
    await page.goto(`${dashboard.url}/status`);
    await page.getByLabel('Email').fill('asha@example.com');
    await page.getByLabel('Products').selectOption({ label: 'IP lookup' });
    await page.getByRole('button', { name: 'Get mail' }).click();
    await page.getByRole('heading', { name: 'Check your mailbox' }).waitFor();
  });

  await step('confirms', async () => {
    await mailing.look();
    await page.goto(/https?:\S+confirm\S+/.exec(mails.at(-1)?.text ?? '')?.[0] ?? '');
    await page.getByRole('button', { name: 'Confirm' }).click();
    await page.getByText('The next mail comes when IP lookup fails.').waitFor();
  });

  await step('unsubscribes by the link of the next mail', async () => {
    await dashboard.pool.query(
      `WITH failing AS (INSERT INTO product_outage (product_id, began_at, failed_at, answered, failed) VALUES ('api-ip', now(), now(), 40, 30) RETURNING id)
       INSERT INTO outbox (kind, subject, detail) SELECT 'status', s.id, 'began ' || failing.id FROM status_subscription s, failing`,
    );
    await mailing.look();
    expect(mails.at(-1)?.subject).toBe('IP lookup is failing');
    await page.goto(mails.at(-1)?.unsubscribe ?? '');
    await page.getByRole('button', { name: 'Unsubscribe' }).click();
    await page.getByRole('heading', { name: 'You are unsubscribed' }).waitFor();
    expect((await dashboard.pool.query('SELECT FROM status_subscription')).rowCount).toBe(0);
  });
  expect(complaints).toEqual([]);
});

inTestAll('the form and its answers have nothing that axe finds, and fit a phone', async () => {
  const { page } = await openPage(browser);
  const found: string[] = [];
  const look = async (name: string): Promise<void> => {
    found.push(...(await inaccessibleInBoth(page)).map((fault) => `${name} ${fault}`));
    found.push(...(await narrowFaults(page, PHONE)).map((fault) => `${name} on a phone: ${fault}`));
  };
  await page.goto(`${dashboard.url}/status`);
  await look('form');
  await page.setViewportSize(PHONE);
  await page.getByLabel('Email').scrollIntoViewIfNeeded();
  await page.getByLabel('Email').fill(`${'a'.repeat(60)}@a-rather-long-company-name.example`);
  await page.getByRole('button', { name: 'Get mail' }).click();
  await page.getByRole('heading', { name: 'Check your mailbox' }).waitFor();
  await look('asked');
  await page.goto(`${dashboard.url}/status-mail/confirm?token=none`);
  await look('unusable');
  expect(found).toEqual([]);
});
