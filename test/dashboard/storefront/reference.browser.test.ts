import { type Page } from 'playwright-core';
import { firstOf, inTestAll } from '../../support/scenes';
import { type GatewayDouble } from '../support/gateway-double';
import { type OpenOptions, PageStage, signInAs } from '../support/page-stage';

const OWN_KEY = 'tg_test_0Fake4KeyThatNoGatewayKnows7xQ2mZ9';
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const JSON_TYPE = { 'Content-Type': 'application/json', 'X-Kong-Request-Id': '0123456789abcdef0123456789abcdef' };

const stage = PageStage.forFile();
let page: Page;
let gateway: GatewayDouble;

async function open(path: string, options: OpenOptions = {}): Promise<void> {
  await stage.begin({ as: 'new', ...options });
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

describe('the reference page', () => {
  it('shows code for the configured gateway in three languages, one at a time, and copies it', async () => {
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
    expect(await page.getByLabel('GET /ip with curl').isVisible()).toBe(false);
    await section('GET /ip').getByRole('button', { name: 'Copy code' }).click();
    await page.getByText('Copied', { exact: true }).waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toMatch(
      /^import json\n[^]*urllib.request.urlopen[^]*json.load\(response\)\)$/,
    );
  });

  it('shows every sample in the language that was chosen for one, here and on the next page', async () => {
    await open('/reference/api-ip', { as: 'nobody' });
    const shows = async (operation: string): Promise<boolean> => page.getByLabel(`${operation} with Python`).isVisible();
    expect(await shows('GET /ip')).toBe(false);
    for (const _click of [1, 2]) await section('POST /ip').getByText('Python', { exact: true }).click();
    expect([await shows('GET /ip'), await shows('POST /ip')]).toEqual([true, true]);
    await page.goto(`${stage.url}/reference/api-pincode`);
    expect(await shows('GET /pincode')).toBe(true);
  });

  inTestAll('shows samples one at a time and every field without a script, and colours code with one', async () => {
    await open('/reference/api-ip', { as: 'nobody' });
    expect(await page.evaluate('[...CSS.highlights.keys()].sort().join()')).toContain('code-key,code-number,code-string');
    const plain = await page.context().browser()?.newPage({ javaScriptEnabled: false });
    await plain?.goto(`${stage.url}/reference/api-ip`);
    const code = (language: string) => plain?.getByLabel(`GET /ip with ${language}`);
    expect([await code('curl')?.isVisible(), await code('Python')?.isVisible()]).toEqual([true, false]);
    await plain?.getByText('Python', { exact: true }).first().click();
    expect([await code('curl')?.isVisible(), await code('Python')?.isVisible()]).toEqual([false, true]);
    await plain?.close();
  });

  inTestAll('leads from route to route and from product to product', async () => {
    await open('/reference');
    await page.getByRole('link', { name: 'GET /ip', exact: true }).click();
    await page.waitForURL(/\/reference\/api-ip#get_ip$/);
    await page.setViewportSize({ width: 1600, height: 800 });
    await page.getByRole('navigation', { name: 'Routes' }).getByRole('link', { name: 'Pincode' }).click();
    await page.getByRole('navigation', { name: 'Routes' }).getByRole('link', { name: 'POST /pincode' }).click();
    await section('POST /pincode').waitFor();
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

  inTestAll('leads from a code to what it means, and marks it there', async () => {
    await open('/reference/api-aadhaar');
    await section('POST /aadhaar/otp').getByText('Status codes').click();
    await section('POST /aadhaar/otp').getByRole('link', { name: 'otp_invalid', exact: true }).click();
    await page.getByRole('heading', { name: 'Errors', exact: true }).waitFor();
    expect(await page.locator(':target').getAttribute('id')).toBe('otp_invalid');
    await page.waitForFunction('document.getElementById("otp_invalid").getBoundingClientRect().top < window.innerHeight');
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

  it('is made with an own key, which stays nowhere', async () => {
    await open('/reference/api-ip');
    await page.getByLabel('Test key').fill(OWN_KEY);
    await send('GET /ip');
    await form('GET /ip').getByText('Status 200').waitFor();
    expect(gateway.seen[0]?.headers['x-api-key']).toBe(OWN_KEY);
    const kept: string = await page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }, location.href, history.state])');
    expect(kept).not.toContain(OWN_KEY);
    await page.reload();
    expect(await page.getByLabel('Test key').inputValue()).toBe('');
  });

  it.each(
    firstOf([
      ['a live key', 'tg_live_0123456789', 'Live keys are never entered into a page.'],
      ['another text', 'abc', 'A test key begins with tg_test_.'],
    ] as const),
  )('is not made with %s', async (_, key, words) => {
    await open('/reference/api-ip');
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    await page.getByLabel('Test key').fill(key);
    await send('GET /ip');
    await page.getByText(words).waitFor();
    expect(asked).toEqual([]);
  });

  inTestAll('is not made with a body that is not JSON', async () => {
    await open('/reference/api-ip');
    await form('POST /ip').getByLabel('JSON body').fill('{');
    await send('POST /ip');
    await page.getByText('This is not valid JSON.').waitFor();
    expect(gateway.seen).toEqual([]);
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

  inTestAll('shows pictures, offers other bytes as a file, and says when nothing came', async () => {
    await open('/reference/api-gdplay');
    gateway.answer = (_request, response) => response.writeHead(200, { 'Content-Type': 'image/png' }).end(Buffer.from(PNG, 'base64'));
    await send('GET /gdplay/thumbnail');
    await form('GET /gdplay/thumbnail').getByAltText('Image in the response').waitFor();
    gateway.answer = (_request, response) => response.writeHead(200, { 'Content-Type': 'video/mp4' }).end(Buffer.alloc(3_000_000, 255));
    await send('GET /gdplay/stream');
    await page.getByRole('link', { name: 'Download it' }).waitFor();
    await page.getByText('longer than 2 MiB').waitFor();
    gateway.answer = (_request, response) => response.destroy();
    await send('GET /gdplay');
    await page.getByText('The gateway could not be reached, or dropped the connection.').waitFor();
  });

  it('is made as a reader’s by somebody whose session has ended', async () => {
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
});
