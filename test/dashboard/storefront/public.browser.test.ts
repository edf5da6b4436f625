import { type Page } from 'playwright-core';
import { PLAIN_BRAND } from '../../../services/dashboard/brand/brand';
import { dressMail } from '../../../services/dashboard/mail/dress-mail';
import { firstOf, inTestAll, runsEveryScene } from '../../support/scenes';
import { inaccessible, inaccessibleInBoth } from '../support/axe';
import { narrowFaults, openPage } from '../support/browser';
import { type GatewayDouble } from '../support/gateway-double';
import { startPageDashboard } from '../support/page-dashboard';
import { type OpenOptions, PageStage, signInAs } from '../support/page-stage';
import { MAX_WEIGHT, weigh } from '../support/page-weight';

const WIDE = { width: 1280, height: 844 };
const PHONE = { width: 390, height: 844 };
/** Public pages that `npm test` looks at, one of each layout. */
const ONE_OF_A_KIND = ['/', '/docs/limits', '/reference/api-ip'];
const OWN_KEY = 'tg_test_0Fake4KeyThatNoGatewayKnows7xQ2mZ9';
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const JSON_TYPE = { 'Content-Type': 'application/json', 'X-Kong-Request-Id': '0123456789abcdef0123456789abcdef' };

const stage = PageStage.forFile();
let page: Page;
let gateway: GatewayDouble;

/** As a customer of the first day unless told otherwise. */
async function open(path: string, options: OpenOptions = {}): Promise<void> {
  await stage.begin({ as: 'new', isShared: true, ...options });
  ({ page } = stage);
  ({ gateway } = stage.dashboard);
  gateway.seen.splice(0);
  gateway.answer = (_request, response) => response.writeHead(200, JSON_TYPE).end('{"ip":"8.8.8.8"}');
  await page.goto(stage.url + path);
}
afterEach(() => expect(stage.complaints).toEqual([]));

const form = (operation: string) => page.getByRole('form', { name: `Try ${operation}`, exact: true });
const send = (operation: string) => form(operation).getByRole('button', { name: 'Run it here' }).click();
const section = (operation: string) => page.getByRole('region', { name: operation, exact: true });

describe('the public pages', () => {
  /** What axe finds in both schemes and on a phone, and what is wider than a phone. */
  async function faultsOf(reader: Page, path: string): Promise<string[]> {
    const found = await inaccessibleInBoth(reader);
    await reader.setViewportSize(PHONE);
    found.push(...(await inaccessible(reader)).map((fault) => `on a phone: ${fault}`));
    await reader.setViewportSize(WIDE);
    found.push(...(await narrowFaults(reader, PHONE)));
    return found.map((fault) => `${path} ${fault}`);
  }

  it('have nothing that axe finds, in both schemes and on a phone, stay within its width, and break no word', async () => {
    const found: string[] = [];
    const sitemap = await (await fetch(`${stage.url}/sitemap.xml`)).text();
    const listed = [...sitemap.matchAll(/<loc>([^<]+)<\/loc>/g)].map(([, url]) => new URL(url ?? '').pathname);
    expect(listed).toEqual(expect.arrayContaining(['/', '/products', '/reference', '/reference/api-ip', '/reference/errors']));
    const { page: reader } = await openPage(stage.browser);
    for (const path of runsEveryScene ? [...listed, '/nothing', '/search?q=quota'] : ONE_OF_A_KIND) {
      await reader.goto(stage.url + path);
      found.push(...(await faultsOf(reader, path)));
    }
    expect(found).toEqual([]);
    await reader.context().close();
  });

  // In `npm test` status-mail.stores.test.ts asks for mail, confirms and unsubscribes by these forms.
  inTestAll('do so too where they ask for mail about outages, without a script, and where a link does not work', async () => {
    const dashboard = await startPageDashboard({ hasOutbox: false });
    try {
      const { page: reader } = await openPage(stage.browser);
      const found: string[] = [];
      await reader.goto(`${dashboard.url}/status`);
      found.push(...(await faultsOf(reader, 'form')));
      await reader.getByLabel('Email').fill(`${'a'.repeat(60)}@a-rather-long-company-name.example`);
      await reader.getByRole('button', { name: 'Get mail' }).click();
      await reader.getByRole('heading', { name: 'Check your mailbox' }).waitFor();
      found.push(...(await faultsOf(reader, 'asked')));
      await reader.goto(`${dashboard.url}/status-mail/confirm?token=none`);
      found.push(...(await faultsOf(reader, 'unusable')));
      expect(found).toEqual([]);
      await reader.context().close();
    } finally {
      await dashboard.close();
    }
  });

  it('can be read without a script, and none shows what only a script could do', async () => {
    const { page: reader } = await openPage(stage.browser, { javaScriptEnabled: false });
    await reader.goto(`${stage.url}/reference/api-ip`);
    await reader.getByRole('heading', { name: 'IP lookup' }).waitFor();
    expect(await reader.getByRole('button').count()).toBe(0);
    const code = (language: string) => reader.getByLabel(`GET /ip with ${language}`);
    expect([await code('curl').isVisible(), await code('Python').isVisible()]).toEqual([true, false]);
    await reader.getByText('Python', { exact: true }).first().click();
    expect([await code('curl').isVisible(), await code('Python').isVisible()]).toEqual([false, true]);
    await reader.goto(stage.url);
    expect(await reader.getByText('₹499.00 a month').count()).toBeGreaterThan(0);
    await reader.context().close();
  });

  it.each(firstOf(ONE_OF_A_KIND))('are light: 80 KiB of the weight of %s at most are scripts', async (path) => {
    await stage.begin({ as: 'nobody' });
    const { requests, bytes, scriptBytes } = await weigh(stage.page, () => stage.page.goto(stage.url + path));
    expect(requests).toBeLessThanOrEqual(MAX_WEIGHT.requests);
    expect(bytes).toBeLessThanOrEqual(MAX_WEIGHT.bytes);
    expect(scriptBytes).toBeLessThan(80 * 1_024);
  });
});

inTestAll('a mail fits a phone and breaks no word, with long addresses and a long link', async () => {
  const text = `Asha.of.the.platform.engineering.department@a-rather-long-company-name.example gave this organisation another role.\n\n${stage.url}/verify?token=${'a1B2'.repeat(20)}\n\nThe link works for an hour. Answers to misunderstandings: help@example.com.`;
  const { html } = await dressMail({ subject: 'Hello', text }, { brand: PLAIN_BRAND, url: stage.url });
  const { page: reader } = await openPage(stage.browser);
  await reader.setContent(String(html));
  expect(await narrowFaults(reader, { width: 320, height: 640 })).toEqual([]);
  await reader.context().close();
});

describe('the reference page', () => {
  it('shows code for the configured gateway in three languages, one at a time, copies it, and keeps to the language chosen', async () => {
    await open('/reference/api-ip');
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    for (const [language, part] of [
      ['curl', 'curl -sS "http://gateway.test/ip?ip=8.8.8.8"'],
      ['JavaScript', "fetch('http://gateway.test/ip?ip=8.8.8.8'"],
      ['Python', 'urllib.request.urlopen'],
    ] as const) {
      const code = page.getByLabel(`GET /ip with ${language}`);
      if (!(await code.isVisible())) await section('GET /ip').getByText(language, { exact: true }).click();
      expect(await code.innerText()).toContain(part);
    }
    expect(await page.evaluate('[...CSS.highlights.keys()].sort().join()')).toContain('code-key,code-number,code-string');
    expect(await page.getByLabel('GET /ip with curl').isVisible()).toBe(false);
    await section('GET /ip').getByRole('button', { name: 'Copy code' }).click();
    await page.getByText('Copied', { exact: true }).waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toMatch(
      /^import json\n[^]*urllib.request.urlopen[^]*json.load\(response\)\)$/,
    );
    expect(await page.getByLabel('POST /ip with Python').isVisible()).toBe(true);
    await page.goto(`${stage.url}/reference/api-pincode`);
    expect(await page.getByLabel('GET /pincode with Python').isVisible()).toBe(true);
  });

  it('finds routes by words of their path, product or purpose', async () => {
    await open('/reference', { as: 'nobody' });
    const shown = async (): Promise<string[]> => {
      const links = await page.locator('.entry li a').all();
      const visible = await Promise.all(links.map(async (link) => ((await link.isVisible()) ? link.innerText() : '')));
      return visible.filter((text) => text !== '');
    };
    const all = await shown();
    await page.getByLabel('Find a route').fill('Serp seo/');
    expect(await shown()).toEqual(['POST /seo/serp']);
    await page.getByText('1 route', { exact: true }).waitFor();
    await page.getByLabel('Find a route').fill('postal');
    expect(await shown()).toEqual(['GET /pincode', 'POST /pincode']);
    await page.getByLabel('Find a route').fill('');
    expect(await shown()).toEqual(all);
  });

  inTestAll('keeps the code in sight beside the fields on a wide screen, and shows it below them on a phone', async () => {
    await open('/reference/api-glead#post_glead_search', { viewport: { width: 1_600, height: 800 } });
    const code = page.getByLabel('POST /glead/search with curl');
    const topOf = async (): Promise<number> => (await code.boundingBox())?.y ?? NaN;
    await section('POST /glead/search').locator('details', { hasText: 'Response fields' }).locator('summary').click();
    const begin = Number(await page.evaluate('document.getElementById("post_glead_search").offsetTop'));
    await page.evaluate(`window.scrollTo(0, ${begin + 200})`);
    const top = await topOf();
    expect(top).toBeGreaterThan(0);
    await page.evaluate(`window.scrollTo(0, ${begin + 300})`);
    expect(await topOf()).toBe(top);
    expect(await page.getByLabel('POST /glead/search, sample response').innerText()).toContain('ChIJsandbox0001');
    await page.setViewportSize({ width: 390, height: 800 });
    const words = await section('POST /glead/search').getByRole('table').first().boundingBox();
    expect(await topOf()).toBeGreaterThan(words?.y ?? NaN);
  });
});

describe('a call that a customer tries on it', () => {
  it('is made with a key that the dashboard keeps for the product, and links to its explanation', async () => {
    await open('/reference/api-ip');
    await send('GET /ip');
    await form('GET /ip').getByText('Status 200').waitFor();
    expect(gateway.seen.map(({ method, url: target }) => `${method} ${target}`)).toEqual(['GET /ip?ip=8.8.8.8']);
    expect(await page.getByLabel('Response body').innerText()).toContain('"ip": "8.8.8.8"');
    expect(stage.sent).toEqual([
      { method: 'POST', path: '/api/try', body: { product: 'api-ip', method: 'GET', path: '/ip', query: 'ip=8.8.8.8' } },
    ]);
    await page.getByText('Response headers').click();
    expect(await page.getByLabel('Response headers').innerText()).toContain('content-type: application/json');
    await page.getByRole('link', { name: 'Explain this request' }).click();
    await page.waitForURL(/\/explain\?request=0123456789abcdef0123456789abcdef/);
  });

  it('is made with an own key, which stays nowhere; not with a live key, another text, or a body that is not JSON', async () => {
    await open('/reference/api-ip');
    for (const [key, words] of [
      ['tg_live_0123456789', 'Live keys are never entered into a page.'],
      ['abc', 'A test key begins with tg_test_.'],
    ] as const) {
      await page.getByLabel('Test key').fill(key);
      await send('GET /ip');
      await page.getByText(words).waitFor();
    }
    await page.getByLabel('Test key').fill(OWN_KEY);
    await form('POST /ip').getByLabel('JSON body').fill('{');
    await send('POST /ip');
    await page.getByText('This is not valid JSON.').waitFor();
    expect([stage.sent, gateway.seen]).toEqual([[], []]);
    await send('GET /ip');
    await form('GET /ip').getByText('Status 200').waitFor();
    expect(gateway.seen[0]?.headers['x-api-key']).toBe(OWN_KEY);
    const kept: string = await page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }, location.href, history.state])');
    expect(kept).not.toContain(OWN_KEY);
    await page.reload();
    expect(await page.getByLabel('Test key').inputValue()).toBe('');
  });

  inTestAll('carries the session of one step into the next', async () => {
    await open('/reference/api-gst');
    const later = form('POST /gst/data').getByText('This is a later step of a workflow.');
    await later.waitFor();
    gateway.answer = (_request, response) =>
      response.writeHead(200, JSON_TYPE).end(JSON.stringify({ sessionId: 'a-session', captcha: PNG }));
    await send('GET /gst/start');
    await form('GET /gst/start').getByRole('button', { name: 'I agree for my organisation' }).click();
    await page.getByAltText('Image in the response').waitFor();
    expect(await later.isVisible()).toBe(false);
    await send('POST /gst/data');
    await form('POST /gst/data').getByText('Status 200').waitFor();
    const sent = JSON.parse(String(gateway.seen.at(-1)?.body));
    expect(sent).toMatchObject({ sessionId: 'a-session', captcha: expect.any(String) });
  });

  it('uploads the example’s file as a form, or the one that is chosen, up to 2.5 MB', async () => {
    await open('/reference/api-app');
    await send('POST /app/analyze');
    await form('POST /app/analyze').getByText('Status 200').waitFor();
    expect(gateway.seen[0]?.headers['content-type']).toMatch(/^multipart\/form-data; ?boundary=/);
    const sent = gateway.seen[0]?.body.toString('latin1');
    expect(sent).toContain('name="file"; filename="sample.apk"');
    expect(sent).toContain('\r\n\r\nPK');
    const choose = (size: number): Promise<void> =>
      form('POST /app/analyze')
        .getByLabel('File')
        .setInputFiles({ name: 'own.apk', mimeType: 'application/octet-stream', buffer: Buffer.alloc(size, 'x') });
    await choose(1_000_000);
    await send('POST /app/analyze');
    await form('POST /app/analyze').getByText('Status 200').waitFor();
    expect(gateway.seen[1]?.body.toString('latin1')).toContain('filename="own.apk"');
    await choose(2_600_000);
    await send('POST /app/analyze');
    await page.getByText('This page sends files up to 2.5 MB.').waitFor();
    expect(gateway.seen).toHaveLength(2);
  });

  // In `npm test` try.stores.test.ts makes the calls of readers.
  inTestAll('is made as a reader’s by somebody whose session has ended', async () => {
    await open('/', { as: 'nobody' });
    await signInAs(page, { url: stage.url, cookie: 'tollgate.session_token=ended' });
    await stage.goto('/reference/api-ip');
    await send('GET /ip');
    await form('GET /ip').getByText('Status 200').waitFor();
    expect(await page.getByRole('link', { name: 'Explain this request' }).count()).toBe(0);
    await page.getByLabel('Test key').fill(OWN_KEY);
    await send('GET /ip');
    await form('GET /ip').locator('.problem').waitFor();
    expect(gateway.seen).toHaveLength(1);
  });

  inTestAll('says for how long there is no answer', async () => {
    const { page: reader } = await openPage(stage.browser);
    await reader.clock.install();
    await reader.route('**/api/public/try', () => undefined);
    await reader.goto(stage.url);
    await reader.getByRole('button', { name: 'Run it here' }).click();
    await reader.clock.runFor(7_000);
    await reader.getByText(/^No \w+ for 7 s\. The call ends after 60 s\.$/).waitFor();
    await reader.context().close();
  });
});
