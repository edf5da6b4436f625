import { type Browser, type CDPSession, type Page } from 'playwright-core';
import { step } from '../support/step';
import { openPage, startBrowser } from './support/browser';
import { PASSWORD } from './support/dashboard';
import { type Entrant, enterPassword, press, turnOnSecondFactor } from './support/entrances';
import { type PageDashboard, startPageDashboard } from './support/page-dashboard';

const EMAIL = 'asha@example.com';

let dashboard: PageDashboard;
let browser: Browser;
let url: string;
const complaints: string[] = [];

beforeAll(async () => {
  [dashboard, browser] = await Promise.all([startPageDashboard(), startBrowser()]);
  url = dashboard.url;
});
afterAll(async () => {
  await browser?.close();
  await dashboard?.close();
  expect(complaints).toEqual([]);
});

/** The browser's own authenticator, which says yes to everything: its fingerprint reader knows the person unless told otherwise. */
async function addAuthenticator(page: Page): Promise<{ client: CDPSession; authenticatorId: string }> {
  const client = await page.context().newCDPSession(page);
  await client.send('WebAuthn.enable');
  const { authenticatorId } = await client.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  return { client, authenticatorId };
}

async function openAccount(page: Page): Promise<void> {
  await page.goto(`${url}/account`);
  await page.getByRole('heading', { name: 'Passkeys' }).waitFor();
}

test('somebody adds a passkey, signs in with it in place of password and code, and removes it', async () => {
  await dashboard.signIn(EMAIL);
  const opened = await openPage(browser);
  const { page } = opened;
  const asha: Entrant = { page, dashboard: url, email: EMAIL, password: PASSWORD };
  const { client, authenticatorId } = await addAuthenticator(page);

  await step('adding takes the password and a name', async () => {
    await page.goto(`${url}/sign-in`);
    await enterPassword(asha);
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await openAccount(page);
    await press(page, 'Add a passkey');
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('Work laptop');
    await dialog.getByLabel('Your password').fill('not the password');
    await press(page, 'Continue');
    await dialog.getByText('This is not your password.').waitFor();
    await dialog.getByLabel('Your password').fill(PASSWORD);
    await press(page, 'Continue');
    await page.getByText('Passkey added.').waitFor();
    await page.getByText('never used').waitFor();
  });
  await step('the same device adds no second one', async () => {
    await press(page, 'Add a passkey');
    await page.getByRole('dialog').getByLabel('Your password').fill(PASSWORD);
    await press(page, 'Continue');
    await page.getByText('This device has a passkey of your account already.').waitFor();
    await press(page, 'Cancel');
  });
  await step('with a second factor it asks for no code', async () => {
    await press(page, 'Turn on');
    await turnOnSecondFactor(asha);
    await page.getByRole('button', { name: 'Turn off' }).waitFor();
    await press(page, 'Sign out');
    await press(page, 'Sign in with a passkey');
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await openAccount(page);
    await page.getByText('last used').waitFor();
  });
  await step('a device that does not know who is there opens nothing', async () => {
    await client.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: false });
    await press(page, 'Sign out');
    await press(page, 'Sign in with a passkey');
    await page.getByText('No passkey was used').waitFor();
    await client.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: true });
    await press(page, 'Sign in with a passkey');
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
  });
  await step('once removed it opens nothing', async () => {
    await openAccount(page);
    await press(page, 'Remove Work laptop');
    await page.getByLabel('Your password').fill(PASSWORD);
    await press(page, 'Remove');
    await page.getByText('Passkey removed.').waitFor();
    await press(page, 'Sign out');
    await press(page, 'Sign in with a passkey');
    await page.getByText('This passkey opens no account here').waitFor();
  });
  complaints.push(...opened.complaints);
  await page.context().close();
});

test('the sign-in page loads what passkeys take only once somebody uses one', async () => {
  const { page } = await openPage(browser);
  await addAuthenticator(page);
  const loaded: string[] = [];
  page.on('request', (request) => void loaded.push(request.url()));
  await page.goto(`${url}/sign-in`);
  await page.getByRole('button', { name: 'Sign in with a passkey' }).waitFor();
  await page.waitForLoadState('networkidle');
  const before = loaded.filter((each) => each.endsWith('.js')).length;
  expect(loaded.some((each) => each.includes('/api/auth/'))).toBe(false);
  await press(page, 'Sign in with a passkey');
  await page.getByText('No passkey was used').waitFor();
  expect(loaded.filter((each) => each.endsWith('.js')).length).toBeGreaterThan(before);
  await page.context().close();
});
