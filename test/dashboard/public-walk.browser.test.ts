import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Browser, type Page } from 'playwright-core';
import { step } from '../support/step';
import { startInstance, type RunningInstance } from '../support/system/instance';
import { openPage, startBrowser } from './support/browser';
import { Newcomer } from './support/newcomer';

const EMAIL = `reader-${process.pid}-${Date.now()}@example.com`;
const AXE = readFileSync(join(__dirname, '..', '..', 'node_modules', 'axe-core', 'axe.min.js'), 'utf8');

let instance: RunningInstance;
let browser: Browser;
let page: Page;
let complaints: string[];
beforeAll(async () => {
  [instance, browser] = await Promise.all([startInstance(), startBrowser()]);
  ({ page, complaints } = await openPage(browser));
});
afterAll(async () => {
  await browser?.close();
  await instance?.stop();
  expect(complaints).toEqual([]);
});

test('a reader has a sandbox answer after one click, and makes a call with an own key after four clicks and two fields', async () => {
  const reader = new Newcomer({ page, dashboard: instance.dashboard, email: EMAIL, password: 'a reader’s own words 41' });

  await step('runs a call on the first page, without an account', async () => {
    await page.goto(instance.dashboard);
    await reader.tryInSandbox('GET /ip');
    expect(await page.getByLabel('Response body').innerText()).toContain('"');
    expect([reader.clicks, reader.fields]).toEqual([1, 0]);
    reader.clicks = 0;
  });

  await step('signs up from where the reader is', async () => {
    await page.goto(`${instance.dashboard}/reference/api-pincode`);
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

test('the public pages have nothing that axe finds, in both schemes and on a phone, and stay within its width', async () => {
  const found: string[] = [];
  const sitemap = await (await fetch(`${instance.dashboard}/sitemap.xml`)).text();
  const listed = [...sitemap.matchAll(/<loc>([^<]+)<\/loc>/g)].map(([, url]) => new URL(url ?? '').pathname);
  expect(listed).toEqual(expect.arrayContaining(['/', '/products', '/reference', '/reference/api-ip', '/reference/errors']));
  for (const [width, colorScheme] of [
    [1280, 'light'],
    [1280, 'dark'],
    [390, 'light'],
  ] as const) {
    // axe is put into the page, which its own policy forbids.
    const context = await browser.newContext({ viewport: { width, height: 844 }, colorScheme, bypassCSP: true });
    const reader = await context.newPage();
    for (const path of [...listed, '/reference/nothing']) {
      await reader.goto(instance.dashboard + path);
      await reader.evaluate(AXE);
      const violations: string[] = await reader.evaluate('axe.run().then(({ violations }) => violations.map(({ id }) => id))');
      found.push(...violations.map((id) => `${path} ${colorScheme} ${width}: ${id}`));
      if (Number(await reader.evaluate('document.documentElement.scrollWidth - window.innerWidth')) > 0)
        found.push(`${path} ${width}: too wide`);
    }
    await context.close();
  }
  expect(found).toEqual([]);
});

test('the public pages can be read without a script, and none shows what only a script could do', async () => {
  const context = await browser.newContext({ javaScriptEnabled: false });
  const reader = await context.newPage();
  await reader.goto(`${instance.dashboard}/reference/api-ip`);
  await reader.getByRole('heading', { name: 'IP lookup' }).waitFor();
  expect(await reader.getByRole('button').count()).toBe(0);
  await reader.goto(instance.dashboard);
  expect(await reader.getByText('₹499.00 a month').count()).toBeGreaterThan(0);
  await context.close();
});

test('the public pages load a few kilobytes of script', async () => {
  const { gzipSync } = await import('node:zlib');
  const html = await (await fetch(instance.dashboard)).text();
  const scripts = [...html.matchAll(/<script[^>]* src="([^"]+)"/g)].map(([, source]) => source ?? '');
  const sizes = await Promise.all(scripts.map(async (source) => gzipSync(await (await fetch(instance.dashboard + source)).text()).length));
  expect(scripts).toHaveLength(1);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(80 * 1024);
});
