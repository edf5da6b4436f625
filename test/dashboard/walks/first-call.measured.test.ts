import { type Browser, type Locator, type Page } from 'playwright-core';
import { eventually } from '../../support/eventually';
import { expectMeasured } from '../../support/measured';
import { sharedInstance, type SharedInstance } from '../../support/system/shared-instance';
import { step } from '../../support/step';
import { openPage, startBrowser } from '../support/browser';
import { openMail } from '../support/entrances';

const EMAIL = `first-call-${process.pid}-${Date.now()}@example.com`;
const PASSWORD = 'eleven purple rickshaws';

let instance: SharedInstance;
let browser: Browser;
let page: Page;
let complaints: string[];

beforeAll(async () => {
  instance = await sharedInstance();
  browser = await startBrowser();
  ({ page, complaints } = await openPage(browser));
});

afterAll(() => browser?.close());

const button = (name: string) => page.getByRole('button', { name, exact: true });
const go = (name: string) => page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name }).click();

async function call(key: string): Promise<{ status: number; requestId: string; code: string | undefined }> {
  const response = await fetch(`${instance.gateway}/ip?ip=8.8.8.8`, { headers: { 'X-API-Key': key } });
  const body = (await response.json()) as { code?: string };
  return { status: response.status, requestId: response.headers.get('x-kong-request-id') ?? '', code: body.code };
}

/** Milliseconds until something is so. */
async function timeUntil(condition: () => Promise<boolean>): Promise<number> {
  const start = performance.now();
  await eventually(condition);
  return performance.now() - start;
}

it('a new customer gets from sign-up to a first call, through a refusal and a plan to a revoked key', async () => {
  let key = '';
  let refused = '';
  let used = 1;
  const testKeysUsed = (count: number): Locator => page.getByRole('table', { name: 'Limits' }).getByText(new RegExp(`^${count} today`));

  await step('signs up, confirms the address from the outbox and is inside', async () => {
    await page.goto(`${instance.dashboard}/sign-up`);
    await page.getByLabel('Email').fill(EMAIL);
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await button('Create account').click();
    await page.getByRole('heading', { name: 'Confirm your email address' }).waitFor();
    await page.getByRole('link', { name: 'outbox' }).click();
    await openMail({ page, dashboard: instance.dashboard, email: EMAIL, password: PASSWORD }, 'verify');
    await page.getByText('Three steps to your first response').waitFor();
    expect(page.url()).not.toContain('token');
  });

  await step('finds a test key that is shown once, with a call that is ready to run', async () => {
    key = await page.getByText(/^tg_test_\w+$/).innerText();
    const command = await page.getByLabel('First call').innerText();
    expect(command).toContain(key);
    expect(command).toContain(`${instance.gateway}/ip`);
  });

  await step('calls the API, and the page notices', async () => {
    expect((await call(key)).status).toBe(200);
    await page.getByText('The key works').waitFor();
    await button('I have copied it').click();
  });

  await step('sees the use within 5 seconds of a call', async () => {
    await go('Usage');
    await testKeysUsed(used).waitFor();
    expect((await call(key)).status).toBe(200);
    const shown = testKeysUsed(++used);
    expectMeasured(await timeUntil(() => shown.isVisible()), 5_000);
  });

  await step('blocks a caller by a rule, which the simulator foretold', async () => {
    await go('Keys');
    await page.getByRole('link', { name: 'First key' }).click();
    await page.getByLabel('One rule per line').fill('203.0.113.0/24');
    await page.getByLabel('IP address').fill('127.0.0.1');
    await button('Test').click();
    await page.getByRole('region', { name: 'Whitelist rules' }).getByText('Refused', { exact: true }).waitFor();
    await button('Save rules').click();
    await page.getByText('Rules saved').waitFor();
    await eventually(async () => (await call(key)).status === 401);
    const answer = await call(key);
    expect(answer.code).toBe('caller_not_whitelisted');
    refused = answer.requestId;
  });

  await step('is told why, and how to mend it', async () => {
    await go('Explain');
    await page.getByLabel('Request ID').fill(refused);
    await button('Explain').click();
    const shown = page.getByText('How to fix it');
    const again = button('Check again');
    await eventually(async () => {
      if (await again.isVisible()) await again.click();
      return shown.isVisible();
    });
    await page.getByText('address 127.0.0.1').waitFor();
  });

  await step('changes the plan and keeps what was used', async () => {
    await go('Plans');
    await button('Change IP lookup to Star').click();
    await button('Go on and pay ₹499.00 a month').click();
    await button('Pay').click();
    await page.getByText('The payment has arrived. IP lookup is on Star now.').waitFor();
    await go('Plans');
    await page.getByText('0 of 100,000', { exact: true }).first().waitFor();
    await go('Usage');
    await testKeysUsed(used).waitFor();
  });

  await step('revokes the key, which no call gets through with a second later', async () => {
    await go('Keys');
    await page.getByRole('link', { name: 'First key' }).click();
    await page.getByLabel('One rule per line').fill('');
    await button('Save rules').click();
    await eventually(async () => (await call(key)).status === 200);
    await button('Revoke').click();
    const isAnswered = page.waitForResponse((response) => response.url().endsWith('/revoke') && response.ok());
    await button('Revoke permanently').click();
    await isAnswered;
    const revokedAt = performance.now();
    let lastAdmittedAt = -Infinity;
    await eventually(async () => {
      const calledAt = performance.now();
      const isRefused = (await call(key)).status === 401;
      if (!isRefused) lastAdmittedAt = calledAt;
      return isRefused;
    });
    expectMeasured(lastAdmittedAt - revokedAt, 1_000);
    await page.getByText('Applied on every node').waitFor();
  });

  await step('tries a call from the reference page without a key of its own, and sees it explained', async () => {
    await go('API reference');
    await page.getByRole('link', { name: 'GET /ip', exact: true }).click();
    await page.getByRole('form', { name: 'Try GET /ip' }).getByRole('button', { name: 'Run it here' }).click();
    await page.getByText('Status 200').waitFor();
    expect(await page.getByLabel('Response body').innerText()).toContain('"ip": "8.8.8.8"');
    await page.getByRole('link', { name: 'Explain this request' }).click();
    const again = button('Check again');
    await eventually(async () => {
      if (await again.isVisible()) await again.click();
      return page.getByRole('heading', { name: /^(Allowed|Succeeded)$/ }).isVisible();
    });
  });

  await step('finds every change in the audit log', async () => {
    await go('Audit log');
    for (const action of ['key.revoke', 'subscription.change', 'key.create']) await page.getByText(action).first().waitFor();
    expect(await page.getByText(EMAIL).count()).toBeGreaterThan(2);
  });

  await step('met no error and no violation of the policy on the way', () => expect(complaints).toEqual([]));
});
