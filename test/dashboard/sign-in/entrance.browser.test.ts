import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { type CDPSession, type Page } from 'playwright-core';
import { eventually } from '../../support/eventually';
import { openedForTests } from '../../support/opened';
import { inTestAll } from '../../support/scenes';
import { step } from '../../support/step';
import { openPage } from '../support/browser';
import { PASSWORD, tokenOf } from '../support/dashboard';
import { enterPassword, type Entrant, press, signUp, turnOnSecondFactor } from '../support/entrances';
import { PageStage } from '../support/page-stage';

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

const opened = openedForTests();
let provider: OidcServer;
const stage = PageStage.forFile(async () => {
  provider = await opened.keep(startOidcServer());
  const client = { clientId: OIDC_CLIENT.id, clientSecret: OIDC_CLIENT.secret };
  return { providers: [{ id: 'acme', name: 'Acme', kind: 'oidc', issuer: provider.issuer, ...client }] };
});
beforeAll(() => provider.leadBackTo(`${stage.url}/api/auth/callback/acme`));

it('the sign-in page leads back to where one was, and to no other site, whatever its address says', async () => {
  const signIn = async (): Promise<void> => {
    await stage.page.getByLabel('Email').fill(stage.account.email);
    await stage.page.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await stage.button('Sign in').click();
  };
  await stage.open('/keys?state=active', { as: 'new' });
  await stage.endSession();
  await stage.page.reload();
  await signIn();
  await stage.page.waitForURL(`${stage.url}/keys?state=active`);
  await stage.endSession();
  await stage.page.context().clearCookies();
  await stage.goto('/sign-in?then=%2F%2Fevil.example%2F');
  await signIn();
  await stage.page.waitForURL(`${stage.url}/`);
});

inTestAll('the sign-in page carries the address that was typed over to the form for a new password', async () => {
  await stage.open('/sign-in', { as: 'nobody' });
  await stage.page.getByLabel('Email').fill('asha@example.com');
  await stage.page.getByRole('link', { name: 'Forgot your password?' }).click();
  await stage.page.getByRole('heading', { name: 'Reset your password' }).waitFor();
  expect(await stage.page.getByLabel('Email').inputValue()).toBe('asha@example.com');
  expect(stage.page.url()).toBe(`${stage.url}/forgot`);
});

// A link that is too old is a scene of test/dashboard/web/pages.browser.test.ts.
it('the link of a mail names its address, also after a reload, asks for the password, and signs in with the right one', async () => {
  const email = 'newcomer@example.com';
  await stage.begin({ as: 'nobody' });
  await stage.dashboard.ask({ method: 'POST', path: '/api/auth/sign-up/email', body: { email, password: PASSWORD } });
  const mail = () => stage.dashboard.mails.find(({ to }) => to === email);
  await eventually(() => mail() !== undefined);
  const token = tokenOf(mail());
  const confirm = async (password: string): Promise<void> => {
    await stage.page.getByLabel('Password', { exact: true }).fill(password);
    await stage.button('Confirm and sign in').click();
  };
  await stage.goto(`/verify?token=${token}`);
  await stage.page.getByText(email).waitFor();
  await stage.page.reload();
  await stage.page.getByText(email).waitFor();
  expect(stage.page.url()).toBe(`${stage.url}/verify`);
  expect(stage.changes('POST', '/api/auth/verify-email')).toEqual([]);
  await confirm('wrong password');
  await stage.page.getByRole('alert').getByText('This is not the password').waitFor();
  await confirm(PASSWORD);
  await stage.page.waitForURL(`${stage.url}/`);
  expect(stage.changes('POST', '/api/auth/verify-email').map(({ body }) => body)).toEqual([
    { token, password: 'wrong password' },
    { token, password: PASSWORD },
  ]);
});

/** The browser's own authenticator, which says yes to everything. */
async function addAuthenticator(page: Page): Promise<CDPSession> {
  const client = await page.context().newCDPSession(page);
  await client.send('WebAuthn.enable');
  await client.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  return client;
}

/** Somebody in a browser profile of their own. */
async function person(email: string): Promise<Entrant & { readonly complaints: string[]; leave(): Promise<void> }> {
  const { page, complaints } = await openPage(stage.browser);
  return { page, complaints, dashboard: stage.url, email, password: PASSWORD, leave: () => page.context().close() };
}

// passkeys.stores.test.ts has what is refused.
it('somebody adds a passkey, signs in with it in place of password and code, and removes it', async () => {
  const asha = await person('asha@example.com');
  const { page } = asha;
  await stage.dashboard.signIn(asha.email);
  await addAuthenticator(page);
  const openAccount = async (): Promise<void> => {
    await page.goto(`${stage.url}/account`);
    await page.getByRole('heading', { name: 'Passkeys' }).waitFor();
  };

  await step('adding takes the password and a name', async () => {
    await page.goto(`${stage.url}/sign-in`);
    await enterPassword(asha);
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await openAccount();
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
  });
  await step('once removed it opens nothing', async () => {
    await openAccount();
    await page.getByText('last used').waitFor();
    await press(page, 'Remove Work laptop');
    await page.getByLabel('Your password').fill(PASSWORD);
    await press(page, 'Remove');
    await page.getByText('Passkey removed.').waitFor();
    await press(page, 'Sign out');
    await press(page, 'Sign in with a passkey');
    await page.getByText('This passkey opens no account here').waitFor();
  });
  expect(asha.complaints).toEqual([]);
  await asha.leave();
});

inTestAll('the sign-in page loads what passkeys take only once somebody uses one', async () => {
  await stage.begin({ as: 'nobody' });
  const client = await addAuthenticator(stage.page);
  const loaded: string[] = [];
  const scripts = (): number => loaded.filter((each) => each.endsWith('.js')).length;
  stage.page.on('request', (request) => void loaded.push(request.url()));
  await stage.goto('/sign-in');
  await stage.page.waitForLoadState('networkidle');
  const before = scripts();
  expect(loaded.some((each) => each.includes('/api/auth/'))).toBe(false);
  await stage.button('Sign in with a passkey').click();
  await stage.page.getByText('No passkey was used').waitFor();
  expect(scripts()).toBeGreaterThan(before);
  await client.detach();
});

/** On the pages of the provider, which has not seen this browser before. */
async function consentAs(page: Page, login: string): Promise<void> {
  await page.locator('[name=login]').fill(login);
  await page.locator('[name=password]').fill('any');
  await page.locator('button[type=submit]').click();
  await page.getByRole('button', { name: 'Continue' }).click();
}

it('somebody new signs in by a provider, comes back to the plan that was chosen before, and sets a password later', async () => {
  const chandra = await person('chandra@example.com');
  const { page } = chandra;
  await step('from the sign-up page to the provider and back', async () => {
    // As the button of a plan on the page of prices leads there.
    await page.goto(`${stage.url}/sign-up?then=${encodeURIComponent('/plans?product=api-ip&plan=Star')}`);
    await press(page, 'Continue with Acme');
    await page.locator('[name=login]').waitFor();
    expect(new URL(page.url()).origin).toBe(provider.issuer);
    await consentAs(page, chandra.email);
    await page
      .getByRole('dialog')
      .getByRole('row', { name: /Plan .*Star/ })
      .waitFor();
  });
  await step('the account has no password, and its only way in stays', async () => {
    await page.goto(`${stage.url}/account`);
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
  expect(chandra.complaints).toEqual([]);
  await chandra.leave();
});

// In `npm test` providers.stores.test.ts holds that the same address is not enough, and connects and disconnects a provider.
inTestAll('an account with a password is opened by a provider only once its owner has connected the two', async () => {
  const birk = await person('birk.of.the.provider@example.com');
  const { page } = birk;
  await step('the same address is not enough', async () => {
    await signUp(birk);
    // The overview shows a key once, and is not left lightly.
    await page.context().clearCookies();
    await page.goto(`${stage.url}/sign-in`);
    await press(page, 'Continue with Acme');
    await consentAs(page, birk.email);
    await page.getByText('There is an account with this email address already.').waitFor();
  });
  await step('the owner connects it, by password', async () => {
    await enterPassword(birk);
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.goto(`${stage.url}/account`);
    await press(page, 'Connect Acme');
    await page.getByLabel('Your password').fill(PASSWORD);
    await press(page, 'Continue');
    await page.getByText('From now on the provider opens this account.').waitFor();
  });
  await step('the provider, which knows the browser by now, opens it', async () => {
    await press(page, 'Sign out');
    await press(page, 'Continue with Acme');
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
  });
  await step('and no longer when it is disconnected', async () => {
    await page.goto(`${stage.url}/account`);
    await press(page, 'Disconnect Acme');
    await page.getByLabel('Your password').fill(PASSWORD);
    await press(page, 'Disconnect');
    await page.getByRole('button', { name: 'Connect Acme' }).waitFor();
  });
  expect(birk.complaints).toEqual([]);
  await birk.leave();
});

// In `npm test` account.stores.test.ts changes an address by both links.
inTestAll('the account page asks for a new address, and the page of its links takes the token out of the address bar', async () => {
  await stage.open('/account', { as: 'new' });
  const email = `new-${stage.account.email}`;
  await stage.page.getByLabel('New email address').fill(` ${email} `);
  await stage.page.getByLabel('Account password').fill(PASSWORD);
  await stage.button('Change email address').click();
  await stage.page.getByText('Open both within an hour').waitFor();
  const mail = () => stage.dashboard.mails.find(({ to }) => to === email);
  await eventually(() => mail() !== undefined);
  await stage.page.goto(`${stage.url}/confirm-email?token=${tokenOf(mail())}`);
  await stage.button('Confirm').waitFor();
  expect([stage.page.url(), stage.changes('POST', '/api/account/email/confirm')]).toEqual([`${stage.url}/confirm-email`, []]);
  await stage.page.reload();
  await stage.button('Confirm').click();
  await stage.page.getByText('Now open the link in the mail to the other address').waitFor();
});

// In `npm test` team.stores.test.ts accepts an invitation.
inTestAll('the page of anyone who is in no organisation says what to do, and leads into one that invites', async () => {
  await stage.open('/no-organisation', { as: 'outsider' });
  for (const name of ['Password', 'Sessions', 'Delete account']) {
    await stage.page.getByRole('heading', { name, exact: true }).waitFor();
  }
  await stage.button('Accept').click();
  await stage.page.getByRole('heading', { name: 'Overview' }).waitFor();
});
