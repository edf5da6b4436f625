import { type Page } from 'playwright-core';
import { overflow, settle } from './support/browser';
import { PageStage } from './support/page-stage';

const stage = PageStage.forFile();
let page: Page;

async function open(operation: string, width = 1280): Promise<void> {
  await stage.begin({ as: 'new', viewport: { width, height: 800 } });
  page = stage.page;
  await stage.goto(`/reference?operation=${operation}`);
}
afterEach(() => expect(stage.complaints).toEqual([]));

const tries = () => stage.changes('POST', '/api/try').map(({ body }) => body);
const send = () => stage.button('Send request').click();

const OWN_KEY = 'tg_test_0Fake4KeyThatNoGatewayKnows7xQ2mZ9';

describe('the reference page', () => {
  it('shows code for the configured gateway in three languages', async () => {
    await open('get_ip');
    for (const [tab, part] of [
      ['curl', 'curl -sS "http://gateway.test/ip?ip=8.8.8.8"'],
      ['JavaScript', "fetch('http://gateway.test/ip?ip=8.8.8.8'"],
      ['Python', 'urllib.request.urlopen'],
    ] as const) {
      await page.getByRole('tab', { name: tab }).click();
      expect(await page.getByLabel(`${tab}, with a key in API_KEY`).innerText()).toContain(part);
    }
  });

  it('leads from route to route, and to the same one again by its address', async () => {
    await open('get_ip');
    const routes = page.getByRole('navigation', { name: 'Routes' });
    await routes.getByRole('link', { name: 'Pincode' }).click();
    await routes.getByRole('link', { name: 'POST /pincode' }).click();
    await page.reload();
    await page.getByRole('heading', { name: 'POST /pincode' }).waitFor();
  });

  it('keeps the code in sight beside the fields on a wide screen, and shows it below them on a phone', async () => {
    await open('post_glead_search', 1_600);
    const topOf = async (name: string): Promise<number> => (await page.getByRole('region', { name, exact: true }).boundingBox())?.y ?? NaN;
    await page.evaluate('window.scrollTo(0, 500)');
    const top = await topOf('Example');
    expect(top).toBeGreaterThan(0);
    await page.evaluate('window.scrollTo(0, 700)');
    expect(await topOf('Example')).toBe(top);
    expect(await page.getByLabel('Sample response').last().innerText()).toContain('ChIJsandbox0001');
    await page.setViewportSize({ width: 390, height: 800 });
    await page.evaluate('window.scrollTo(0, 0)');
    expect(await topOf('Example')).toBeGreaterThan(await topOf('POST /glead/search'));
  });

  it('leads from a code to what it means, and marks it there', async () => {
    await open('post_aadhaar_otp');
    await page.getByRole('link', { name: 'otp_invalid', exact: true }).click();
    await page.getByRole('heading', { name: 'Errors', exact: true }).waitFor();
    const code = page.locator('#otp_invalid');
    await code.waitFor();
    expect(await code.getAttribute('aria-current')).toBe('page');
    expect(await page.locator('#otp_expired').getAttribute('aria-current')).toBeNull();
    await page.waitForFunction('document.getElementById("otp_invalid").getBoundingClientRect().top < window.innerHeight');
  });

  it('offers the routes as a list to choose from on a phone', async () => {
    await open('get_ip', 360);
    await page.getByLabel('Route', { exact: true }).selectOption('post_seo_serp');
    await page.getByRole('heading', { name: 'POST /seo/serp' }).waitFor();
    expect(await overflow(page)).toBeLessThanOrEqual(0);
  });

  it('tries a call with a key that it makes for the product, for a day, and links to its explanation', async () => {
    await open('get_ip');
    await send();
    await page.getByText('Status 200').waitFor();
    expect(tries()).toEqual([{ product: 'api-ip', method: 'GET', path: '/ip', query: { ip: '8.8.8.8' } }]);
    expect(stage.sent.map(({ path }) => path)).toEqual(['/api/try']);
    expect(await page.getByLabel('Response body').innerText()).toContain('"ip": "8.8.8.8"');
    await page.getByRole('link', { name: 'Explain this request' }).click();
    await page.waitForURL(/\/explain\?request=/);
  });

  it('keeps no key beyond itself', async () => {
    await open('get_ip');
    await page.getByLabel('Test key').fill(OWN_KEY);
    await send();
    await page.getByText('Status 200').waitFor();
    expect(tries()).toMatchObject([{ key: OWN_KEY }]);
    const kept: string = await page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }, location.href, history.state])');
    expect(kept).not.toContain(OWN_KEY);
    await page.reload();
    await settle(page);
    expect(await page.getByLabel('Test key').inputValue()).toBe('');
  });

  it('sends no live key anywhere', async () => {
    await open('get_ip');
    await page.getByLabel('Test key').fill('tg_live_0123456789');
    await send();
    await page.getByText('Live keys are never entered into a page.').waitFor();
    expect(tries()).toEqual([]);
  });

  it('carries the session of one step into the next', async () => {
    await open('get_gst_start');
    await page.getByLabel('Test key').fill(OWN_KEY);
    await send();
    await page.getByAltText('Image in the response').waitFor();
    await page.getByRole('link', { name: 'POST /gst/data' }).click();
    await page.getByRole('heading', { name: 'POST /gst/data' }).waitFor();
    expect(await page.getByLabel('Test key').inputValue()).toBe(OWN_KEY);
    await send();
    await page.getByText('Status 401').waitFor();
    const sent = JSON.parse(String(tries().at(-1)?.['body']));
    expect(sent).toMatchObject({ sessionId: 'a-session-of-the-test', captcha: expect.any(String) });
  });

  it('uploads the example’s file as a form', async () => {
    await open('post_app_analyze');
    await send();
    await page.getByText('Status 401').waitFor();
    const [sent] = tries();
    expect(sent?.['contentType']).toMatch(/^multipart\/form-data; ?boundary=/);
    const form = Buffer.from(String(sent?.['bodyBase64']), 'base64').toString('latin1');
    expect(form).toContain('name="file"; filename="sample.apk"');
    expect(form).toContain('\r\n\r\nPK');
  });

  it('shows pictures, offers other bytes as a file, and says when nothing came', async () => {
    await open('get_gdplay_thumbnail');
    await send();
    await page.getByAltText('Response').waitFor();
    await page.getByRole('link', { name: 'GET /gdplay/stream' }).click();
    await send();
    await page.getByRole('link', { name: 'Download it' }).waitFor();
    await page.getByText('longer than 2 MiB').waitFor();
    await page.route('**/api/try', (route) => route.fulfill({ json: { outcome: 'failed', reason: 'timeout', durationMs: 60_004 } }));
    await stage.goto('/reference?operation=get_seo');
    await send();
    await page.getByText('No complete response within 60 seconds.').waitFor();
  });
});
