import { gzipSync } from 'node:zlib';
import { FakeState } from './support/fake-state';
import { PageStage } from './support/page-stage';

const stage = PageStage.forFile();

describe('the sign-in page', () => {
  it('loads at most 160 KB of script, compressed', async () => {
    const state = new FakeState();
    state.isSignedIn = false;
    await stage.begin({ state });
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

  it('leads back to where one was', async () => {
    await stage.open('/keys?state=active');
    stage.api.state.isSignedIn = false;
    await stage.page.reload();
    await stage.page.getByLabel('Email').fill('asha@example.com');
    await stage.page.getByLabel('Password', { exact: true }).fill('a long password');
    await stage.button('Sign in').click();
    await stage.page.waitForURL(`${stage.api.url}/keys?state=active`);
  });

  it('leads to no other site, whatever its address says', async () => {
    const state = new FakeState();
    state.isSignedIn = false;
    await stage.open('/sign-in?then=%2F%2Fevil.example%2F', { state });
    await stage.page.getByLabel('Email').fill('asha@example.com');
    await stage.page.getByLabel('Password', { exact: true }).fill('a long password');
    await stage.button('Sign in').click();
    await stage.page.waitForURL(`${stage.api.url}/`);
  });
});

describe('the pages of those who are not signed in', () => {
  it('carry the address that was typed over to the form for a new password', async () => {
    const state = new FakeState();
    state.isSignedIn = false;
    await stage.open('/sign-in', { state });
    await stage.page.getByLabel('Email').fill('asha@example.com');
    await stage.page.getByRole('link', { name: 'Forgot your password?' }).click();
    await stage.page.getByRole('heading', { name: 'Reset your password' }).waitFor();
    expect(await stage.page.getByLabel('Email').inputValue()).toBe('asha@example.com');
    expect(stage.page.url()).toBe(`${stage.api.url}/forgot`);
  });

  it('offer no second account to who is signed in', async () => {
    await stage.open('/sign-up');
    await stage.page.waitForURL(`${stage.api.url}/`);
  });
});

describe('the link of the mail that confirms an address', () => {
  const confirm = async (password: string) => {
    await stage.page.getByLabel('Password', { exact: true }).fill(password);
    await stage.button('Confirm and sign in').click();
  };

  it('asks for the password, and signs in with the right one', async () => {
    const state = new FakeState();
    state.isSignedIn = false;
    await stage.open('/verify?token=not-a-real-one', { state });
    expect(stage.page.url()).toBe(`${stage.api.url}/verify`);
    expect(state.requests).toEqual([]);
    await confirm('wrong password');
    await stage.page.getByRole('alert').getByText('This is not the password').waitFor();
    await confirm('a long password');
    await stage.page.waitForURL(`${stage.api.url}/`);
    expect(stage.changes('POST', '/api/auth/verify-email').map(({ body }) => body)).toEqual([
      { token: 'not-a-real-one', password: 'wrong password' },
      { token: 'not-a-real-one', password: 'a long password' },
    ]);
  });

  it('names the address that it is for, and still works after a reload', async () => {
    const state = new FakeState();
    state.isSignedIn = false;
    const token = `head.${Buffer.from(JSON.stringify({ email: 'asha@example.com' })).toString('base64url')}.signature`;
    await stage.open(`/verify?token=${token}`, { state });
    await stage.page.getByText('asha@example.com').waitFor();
    await stage.page.reload();
    await stage.page.getByText('asha@example.com').waitFor();
    expect(stage.page.url()).toBe(`${stage.api.url}/verify`);
    await confirm('a long password');
    await stage.page.waitForURL(`${stage.api.url}/`);
    expect(stage.changes('POST', '/api/auth/verify-email').map(({ body }) => body['token'])).toEqual([token]);
  });

  it('offers a new one when it is too old', async () => {
    const state = new FakeState();
    state.isSignedIn = false;
    await stage.open('/verify?token=too-old', { state });
    await confirm('a long password');
    await stage.page.getByRole('heading', { name: 'This link does not work' }).waitFor();
    await stage.page.getByLabel('Email').fill('asha@example.com');
    await stage.button('Send a new link').click();
    await stage.page.getByText('an email is on its way').waitFor();
    expect(stage.changes('POST', '/api/auth/send-verification-email').map(({ body }) => body)).toEqual([{ email: 'asha@example.com' }]);
  });
});
