import { gzipSync } from 'node:zlib';
import { type CDPSession, type Page } from 'playwright-core';
import { eventually } from '../../support/eventually';
import { PASSWORD, tokenOf } from '../support/dashboard';
import { PageStage } from '../support/page-stage';
import { inTestAll } from '../../support/scenes';
import { step } from '../../support/step';
import { openPage } from '../support/browser';
import { enterPassword, type Entrant, press, turnOnSecondFactor } from '../support/entrances';

const stage = PageStage.forFile();

describe('the sign-in page', () => {
  inTestAll('loads at most 160 KB of script, compressed', async () => {
    await stage.begin({ as: 'nobody' });
    const sizes: Promise<number>[] = [];
    stage.page.on('response', (response) => {
      if (response.url().endsWith('.js')) sizes.push(response.body().then((body) => gzipSync(body).length));
    });
    await stage.goto(`/sign-in`);
    await stage.page.waitForLoadState('networkidle');
    const total = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
    expect(total).toBeGreaterThan(50_000);
    expect(total).toBeLessThanOrEqual(160_000);
  });

  const signIn = async (email: string): Promise<void> => {
    await stage.page.getByLabel('Email').fill(email);
    await stage.page.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await stage.button('Sign in').click();
  };

  it('leads back to where one was', async () => {
    await stage.open('/keys?state=active', { as: 'new' });
    await stage.endSession();
    await stage.page.reload();
    await signIn(stage.account.email);
    await stage.page.waitForURL(`${stage.url}/keys?state=active`);
  });

  it('leads to no other site, whatever its address says', async () => {
    await stage.begin({ as: 'new' });
    await stage.endSession();
    await stage.goto('/sign-in?then=%2F%2Fevil.example%2F');
    await signIn(stage.account.email);
    await stage.page.waitForURL(`${stage.url}/`);
  });
});

describe('the pages of those who are not signed in', () => {
  it('carry the address that was typed over to the form for a new password', async () => {
    await stage.open('/sign-in', { as: 'nobody' });
    await stage.page.getByLabel('Email').fill('asha@example.com');
    await stage.page.getByRole('link', { name: 'Forgot your password?' }).click();
    await stage.page.getByRole('heading', { name: 'Reset your password' }).waitFor();
    expect(await stage.page.getByLabel('Email').inputValue()).toBe('asha@example.com');
    expect(stage.page.url()).toBe(`${stage.url}/forgot`);
  });
});

describe('the link of the mail that confirms an address', () => {
  let people = 0;
  /** Signs somebody up, to whom a mail with a link goes. */
  async function signUp(): Promise<{ email: string; token: string }> {
    const email = `newcomer-${(people += 1)}@example.com`;
    await stage.dashboard.ask({ method: 'POST', path: '/api/auth/sign-up/email', body: { email, password: PASSWORD } });
    const mail = () => stage.dashboard.mails.find(({ to }) => to === email);
    await eventually(() => mail() !== undefined);
    return { email, token: tokenOf(mail()) };
  }
  const confirm = async (password: string) => {
    await stage.page.getByLabel('Password', { exact: true }).fill(password);
    await stage.button('Confirm and sign in').click();
  };

  it('names its address, also after a reload, asks for the password, and signs in with the right one', async () => {
    const { email, token } = await signUp();
    await stage.open(`/verify?token=${token}`, { as: 'nobody' });
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

  inTestAll('offers a new one when it is too old', async () => {
    await stage.open('/verify?token=too-old', { as: 'nobody' });
    await confirm(PASSWORD);
    await stage.page.getByRole('heading', { name: 'This link does not work' }).waitFor();
    await stage.page.getByLabel('Email').fill('asha@example.com');
    await stage.button('Send a new link').click();
    await stage.page.getByText('an email is on its way').waitFor();
    expect(stage.changes('POST', '/api/auth/send-verification-email').map(({ body }) => body)).toEqual([{ email: 'asha@example.com' }]);
  });
});

const EMAIL = 'asha@example.com';

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
  await page.goto(`${stage.url}/account`);
  await page.getByRole('heading', { name: 'Passkeys' }).waitFor();
}

it('somebody adds a passkey, signs in with it in place of password and code, and removes it', async () => {
  await stage.dashboard.signIn(EMAIL);
  const opened = await openPage(stage.browser);
  const { page } = opened;
  const asha: Entrant = { page, dashboard: stage.url, email: EMAIL, password: PASSWORD };
  const { client, authenticatorId } = await addAuthenticator(page);

  await step('adding takes the password and a name', async () => {
    await page.goto(`${stage.url}/sign-in`);
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
  await step('it opens the plan that was chosen before', async () => {
    await press(page, 'Sign out');
    await page.goto(`${stage.url}/sign-in?then=${encodeURIComponent('/plans?product=api-ip&plan=Star')}`);
    await press(page, 'Sign in with a passkey');
    await page
      .getByRole('dialog')
      .getByRole('row', { name: /Plan .*Star/ })
      .waitFor();
    await page.keyboard.press('Escape');
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
  expect(opened.complaints).toEqual([]);
  await page.context().close();
});

inTestAll('the sign-in page loads what passkeys take only once somebody uses one', async () => {
  const { page } = await openPage(stage.browser);
  await addAuthenticator(page);
  const loaded: string[] = [];
  page.on('request', (request) => void loaded.push(request.url()));
  await page.goto(`${stage.url}/sign-in`);
  await page.getByRole('button', { name: 'Sign in with a passkey' }).waitFor();
  await page.waitForLoadState('networkidle');
  const before = loaded.filter((each) => each.endsWith('.js')).length;
  expect(loaded.some((each) => each.includes('/api/auth/'))).toBe(false);
  await press(page, 'Sign in with a passkey');
  await page.getByText('No passkey was used').waitFor();
  expect(loaded.filter((each) => each.endsWith('.js')).length).toBeGreaterThan(before);
  await page.context().close();
});

describe('the account page', () => {
  it('asks for a new address, and the page of its links takes the token out of the address bar', async () => {
    await stage.open('/account');
    const email = `new-${stage.account.email}`;
    await stage.page.getByLabel('New email address').fill(` ${email} `);
    await stage.page.getByLabel('Account password').fill(PASSWORD);
    await stage.button('Change email address').click();
    await stage.page.getByText('Open both within an hour').waitFor();
    expect(stage.changes('POST', '/api/account/email').map(({ body }) => body)).toEqual([{ email, password: PASSWORD }]);
    const mail = () => stage.dashboard.mails.find(({ to }) => to === email);
    await eventually(() => mail() !== undefined);
    const token = tokenOf(mail());
    await stage.page.goto(`${stage.url}/confirm-email?token=${token}`);
    await stage.button('Confirm').waitFor();
    expect([stage.page.url(), stage.changes('POST', '/api/account/email/confirm')]).toEqual([`${stage.url}/confirm-email`, []]);
    await stage.page.reload();
    await stage.button('Confirm').click();
    await stage.page.getByText('Now open the link in the mail to the other address').waitFor();
    expect(stage.changes('POST', '/api/account/email/confirm').map(({ body }) => body)).toEqual([{ token }]);
  });
});

describe('the page of whoever is in no organisation', () => {
  it('says what to do, leads into an organisation that invites, and has all of the account', async () => {
    await stage.open('/no-organisation', { as: 'outsider' });
    for (const name of ['Password', 'Sessions', 'Delete account']) {
      await stage.page.getByRole('heading', { name, exact: true }).waitFor();
    }
    const { invitations } = await stage.read<{ invitations: { id: string }[] }>('/account');
    await stage.button('Accept').click();
    await stage.page.getByRole('heading', { name: 'Overview' }).waitFor();
    expect(stage.changes('POST', `/api/account/invitations/${invitations[0]?.id}/accept`)).toHaveLength(1);
  });
});
