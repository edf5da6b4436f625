import { gzipSync } from 'node:zlib';
import { eventually } from '../support/eventually';
import { PASSWORD, tokenOf } from './support/dashboard';
import { PageStage } from './support/page-stage';

const stage = PageStage.forFile();

describe('the sign-in page', () => {
  it('loads at most 160 KB of script, compressed', async () => {
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

  it('offer no second account to who is signed in', async () => {
    await stage.open('/sign-up', { as: 'new' });
    await stage.page.waitForURL(`${stage.url}/`);
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

  it('asks for the password, and signs in with the right one', async () => {
    const { token } = await signUp();
    await stage.open(`/verify?token=${token}`, { as: 'nobody' });
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

  it('names the address that it is for, and still works after a reload', async () => {
    const { email, token } = await signUp();
    await stage.open(`/verify?token=${token}`, { as: 'nobody' });
    await stage.page.getByText(email).waitFor();
    await stage.page.reload();
    await stage.page.getByText(email).waitFor();
    expect(stage.page.url()).toBe(`${stage.url}/verify`);
    await confirm(PASSWORD);
    await stage.page.waitForURL(`${stage.url}/`);
    expect(stage.changes('POST', '/api/auth/verify-email').map(({ body }) => body['token'])).toEqual([token]);
  });

  it('offers a new one when it is too old', async () => {
    await stage.open('/verify?token=too-old', { as: 'nobody' });
    await confirm(PASSWORD);
    await stage.page.getByRole('heading', { name: 'This link does not work' }).waitFor();
    await stage.page.getByLabel('Email').fill('asha@example.com');
    await stage.button('Send a new link').click();
    await stage.page.getByText('an email is on its way').waitFor();
    expect(stage.changes('POST', '/api/auth/send-verification-email').map(({ body }) => body)).toEqual([{ email: 'asha@example.com' }]);
  });
});
