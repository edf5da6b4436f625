import { type Browser, type Page } from 'playwright-core';
import { step } from '../../support/step';
import { firstOf, inTestAll, runsEveryScene } from '../../support/scenes';
import { inaccessible, inaccessibleInBoth } from '../support/axe';
import { MAX_WEIGHT, weigh } from '../support/page-weight';
import { openPage, narrowFaults, startBrowser } from '../support/browser';
import { dressMail } from '../../../services/dashboard/mail/dress-mail';
import { PLAIN_BRAND } from '../../../services/dashboard/brand/brand';
import { Newcomer } from '../support/newcomer';
import { type PageDashboard, startPageDashboard } from '../support/page-dashboard';

const WIDE = { width: 1280, height: 844 };
const PHONE = { width: 390, height: 844 };
/** Public pages that `npm test` looks at, one of each layout. */
const ONE_OF_A_KIND = ['/', '/docs/limits', '/reference/api-ip'];

let dashboard: PageDashboard;
let browser: Browser;
let page: Page;
let complaints: string[];
beforeAll(async () => {
  [dashboard, browser] = await Promise.all([startPageDashboard(), startBrowser()]);
  ({ page, complaints } = await openPage(browser));
});
afterAll(async () => {
  await browser?.close();
  await dashboard?.close();
  expect(complaints).toEqual([]);
});

it('a reader has a sandbox answer after one click, and makes a call with an own key after four clicks and two fields', async () => {
  const reader = new Newcomer({ page, dashboard: dashboard.url, email: 'reader@example.com', password: 'a reader’s own words 41' });

  await step('runs a call on the first page, without an account', async () => {
    await page.goto(dashboard.url);
    await reader.tryInSandbox('GET /ip');
    expect(await page.getByLabel('Response body').innerText()).toContain('"');
    expect([reader.clicks, reader.fields]).toEqual([1, 0]);
    reader.clicks = 0;
  });

  await step('signs up from where the reader is', async () => {
    await page.goto(`${dashboard.url}/reference/api-pincode`);
    await reader.signUp();
  });

  await step('opens the link of the mail and is inside with a test key', async () => {
    await reader.confirmAddress();
    expect(new URL(page.url()).pathname).toBe('/');
    const back = page.getByRole('link', { name: 'Back to where you signed up' });
    expect(await back.getAttribute('href')).toBe('/reference/api-pincode');
  });

  await step('makes the first own call', async () => {
    await reader.makeFirstCall();
    expect([reader.clicks, reader.fields]).toEqual([4, 2]);
  });
});

it('the public pages have nothing that axe finds, in both schemes and on a phone, stay within its width, and break no word', async () => {
  const found: string[] = [];
  const sitemap = await (await fetch(`${dashboard.url}/sitemap.xml`)).text();
  const listed = [...sitemap.matchAll(/<loc>([^<]+)<\/loc>/g)].map(([, url]) => new URL(url ?? '').pathname);
  expect(listed).toEqual(expect.arrayContaining(['/', '/products', '/reference', '/reference/api-ip', '/reference/errors']));
  const { page: reader } = await openPage(browser);
  const paths = runsEveryScene ? [...listed, '/nothing', '/search?q=quota'] : ONE_OF_A_KIND;
  for (const path of paths) {
    await reader.goto(dashboard.url + path);
    found.push(...(await inaccessibleInBoth(reader)).map((fault) => `${path} ${fault}`));
    await reader.setViewportSize(PHONE);
    found.push(...(await inaccessible(reader)).map((fault) => `${path} on a phone: ${fault}`));
    await reader.setViewportSize(WIDE);
    found.push(...(await narrowFaults(reader, PHONE)).map((fault) => `${path}: ${fault}`));
  }
  expect(found).toEqual([]);
});

inTestAll('a mail fits a phone and breaks no word, with long addresses and a long link', async () => {
  const text = `Asha.of.the.platform.engineering.department@a-rather-long-company-name.example gave this organisation another role.\n\n${dashboard.url}/verify?token=${'a1B2'.repeat(20)}\n\nThe link works for an hour. Answers to misunderstandings: help@example.com.`;
  const { html } = await dressMail({ subject: 'Hello', text }, { brand: PLAIN_BRAND, url: dashboard.url });
  const { page: reader } = await openPage(browser);
  await reader.setContent(String(html));
  expect(await narrowFaults(reader, { width: 320, height: 640 })).toEqual([]);
  await reader.context().close();
});

it('the public pages can be read without a script, and none shows what only a script could do', async () => {
  const context = await browser.newContext({ javaScriptEnabled: false });
  const reader = await context.newPage();
  await reader.goto(`${dashboard.url}/reference/api-ip`);
  await reader.getByRole('heading', { name: 'IP lookup' }).waitFor();
  expect(await reader.getByRole('button').count()).toBe(0);
  await reader.goto(dashboard.url);
  expect(await reader.getByText('₹499.00 a month').count()).toBeGreaterThan(0);
  await context.close();
});

inTestAll('a call that hangs says for how long there is no answer', async () => {
  const { page: reader } = await openPage(browser);
  await reader.clock.install();
  await reader.route('**/api/public/try', () => undefined);
  await reader.goto(dashboard.url);
  await reader.getByRole('button', { name: 'Run it here' }).click();
  await reader.clock.runFor(7_000);
  await reader.getByText('No answer for 7 s. The call ends after 60 s.').waitFor();
  await reader.context().close();
});

it.each(firstOf(ONE_OF_A_KIND))(
  'the page %s is light for somebody who comes to it first: 80 KiB of its weight at most are scripts',
  async (path) => {
    const { page: reader } = await openPage(browser);
    const { requests, bytes, scriptBytes } = await weigh(reader, () => reader.goto(dashboard.url + path));
    expect(requests).toBeLessThanOrEqual(MAX_WEIGHT.requests);
    expect(bytes).toBeLessThanOrEqual(MAX_WEIGHT.bytes);
    expect(scriptBytes).toBeLessThan(80 * 1_024);
    await reader.context().close();
  },
);
