import { type Browser, type Page } from 'playwright-core';
import { step } from '../../support/step';
import { openPage, startBrowser } from '../support/browser';
import { type Entrant, enterPassword, press, signUp } from '../support/entrances';
import { type PageDashboard, startPageDashboard } from '../support/page-dashboard';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** What the provider knows the dashboard by; see oidc-process.mjs. */
const OIDC_CLIENT = { id: 'tollgate', secret: 'a-secret-of-this-client-alone' };

interface OidcServer {
  readonly issuer: string;
  /** Until then it answers 503. */
  leadBackTo(redirectUri: string): Promise<void>;
  stop(): Promise<void>;
}

/** A provider of OpenID Connect as others run it. */
async function startOidcServer(): Promise<OidcServer> {
  const child = fork(join(__dirname, '../support/oidc-process.mjs'), { stdio: 'ignore', execArgv: [] });
  const [{ issuer }] = (await once(child, 'message')) as [{ issuer: string }];
  return {
    issuer,
    async leadBackTo(redirectUri) {
      const isReady = once(child, 'message');
      child.send({ redirectUri });
      await isReady;
    },
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const isOver = once(child, 'exit');
      child.kill();
      await isOver;
    },
  };
}

const ASHA = 'asha@example.com';
const BIRK = 'birk@example.com';
const PASSWORD = 'words of a provider test 41';

let provider: OidcServer;
let dashboard: PageDashboard;
let browser: Browser;
const complaints: string[] = [];

beforeAll(async () => {
  provider = await startOidcServer();
  const client = { clientId: OIDC_CLIENT.id, clientSecret: OIDC_CLIENT.secret };
  const acme = { id: 'acme', name: 'Acme', kind: 'oidc', issuer: provider.issuer, ...client } as const;
  [dashboard, browser] = await Promise.all([startPageDashboard({ providers: [acme] }), startBrowser()]);
  await provider.leadBackTo(`${dashboard.url}/api/auth/callback/acme`);
});
afterAll(async () => {
  await browser?.close();
  await Promise.all([dashboard?.close(), provider?.stop()]);
  expect(complaints).toEqual([]);
});

async function person(): Promise<Page> {
  const opened = await openPage(browser);
  opened.page.on('close', () => complaints.push(...opened.complaints));
  return opened.page;
}

/** On the pages of the provider, which has not seen this browser before. */
async function consentAs(page: Page, login: string): Promise<void> {
  await page.locator('[name=login]').fill(login);
  await page.locator('[name=password]').fill('any');
  await page.locator('button[type=submit]').click();
  await page.getByRole('button', { name: 'Continue' }).click();
}

it('somebody new signs in by a provider, comes back to where the way began, and sets a password later', async () => {
  const page = await person();
  await step('from the sign-in page to the provider and back', async () => {
    await page.goto(`${dashboard.url}/keys`);
    await press(page, 'Continue with Acme');
    await page.locator('[name=login]').waitFor();
    expect(new URL(page.url()).origin).toBe(provider.issuer);
    await consentAs(page, ASHA);
    await page.getByRole('heading', { name: 'Keys', exact: true }).waitFor();
    expect(page.url()).toBe(`${dashboard.url}/keys`);
  });
  await step('the account has no password, and its only way in stays', async () => {
    await page.goto(`${dashboard.url}/account`);
    await page.getByText('Your account has no password: a sign-in provider opens it.').waitFor();
    expect(await page.getByRole('button', { name: 'Disconnect Acme' }).isDisabled()).toBe(true);
    await press(page, 'Email me a link');
    await page.getByText('It works for an hour.').waitFor();
  });
  await step('what is delicate takes no password of somebody who has just signed in', async () => {
    await press(page, 'Export…');
    const [file] = await Promise.all([page.waitForEvent('download'), press(page, 'Export')]);
    expect(file.suggestedFilename()).toBe('tollgate-account.json');
  });
  await page.close();
});

/** As the button of a plan on the page of prices leads there. */
const CHOSEN = '/plans?product=api-ip&plan=Star';

it('the plan that somebody chose before signing up by a provider is open after it', async () => {
  const page = await person();
  await page.goto(`${dashboard.url}/sign-up?then=${encodeURIComponent(CHOSEN)}`);
  await press(page, 'Continue with Acme');
  await consentAs(page, 'chandra@example.com');
  await page
    .getByRole('dialog')
    .getByRole('row', { name: /Plan .*Star/ })
    .waitFor();
  await page.close();
});

it('an account with a password is opened by a provider only once its owner has connected the two', async () => {
  const page = await person();
  const birk: Entrant = { page, dashboard: dashboard.url, email: BIRK, password: PASSWORD };
  await step('the same address is not enough', async () => {
    await signUp(birk);
    // The overview shows a key once, and is not left lightly.
    await page.context().clearCookies();
    await page.goto(`${dashboard.url}/sign-in`);
    await press(page, 'Continue with Acme');
    await consentAs(page, BIRK);
    await page.getByText('There is an account with this email address already.').waitFor();
  });
  await step('the owner connects it, by password', async () => {
    await enterPassword(birk);
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.goto(`${dashboard.url}/account`);
    await press(page, 'Connect Acme');
    await page.getByLabel('Your password').fill(PASSWORD);
    await press(page, 'Continue');
    await page.getByText('From now on the provider opens this account.').waitFor();
  });
  await step('the provider, which knows the browser by now, opens it', async () => {
    await press(page, 'Sign out');
    await press(page, 'Continue with Acme');
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.goto(`${dashboard.url}/audit`);
    await page.getByText('Sign-in provider connected').first().waitFor();
  });
  await step('and no longer when it is disconnected', async () => {
    await page.goto(`${dashboard.url}/account`);
    await press(page, 'Disconnect Acme');
    await page.getByLabel('Your password').fill(PASSWORD);
    await press(page, 'Disconnect');
    await page.getByRole('button', { name: 'Connect Acme' }).waitFor();
  });
  await page.close();
});
