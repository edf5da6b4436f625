import { randomUUID } from 'node:crypto';
import { FakeState } from './support/fake-state';
import { PageStage } from './support/page-stage';

const stage = PageStage.forFile();

describe('the account page', () => {
  it('deletes the account by the password, and says on the sign-in page how to keep it', async () => {
    await stage.open('/account');
    await stage.button('Delete account…').click();
    await stage.page.getByLabel('Your password').fill('a long password');
    await stage.button('Delete account').click();
    await stage.page.getByText('To keep it, sign in before then.').waitFor();
    expect(stage.changes('POST', '/api/account/delete').map(({ body }) => body)).toEqual([{ password: 'a long password' }]);
  });

  it('exports what is known of the person as a file', async () => {
    await stage.open('/account');
    await stage.button('Export…').click();
    await stage.page.getByLabel('Your password').fill('a long password');
    const [file] = await Promise.all([stage.page.waitForEvent('download'), stage.button('Export').click()]);
    expect(file.suggestedFilename()).toBe('tollgate-account.json');
    await stage.page.getByText('Your data was exported.').waitFor();
  });

  it('asks for a new address, and the page of its links takes the token out of the address bar', async () => {
    await stage.open('/account');
    await stage.page.getByLabel('New email address').fill(' asha.new@example.com ');
    await stage.page.getByLabel('Account password').fill('a long password');
    await stage.button('Change email address').click();
    await stage.page.getByText('Open both within an hour').waitFor();
    expect(stage.changes('POST', '/api/account/email').map(({ body }) => body)).toEqual([
      { email: 'asha.new@example.com', password: 'a long password' },
    ]);
    const origin = new URL(stage.page.url()).origin;
    await stage.page.goto(`${origin}/confirm-email?token=first`);
    await stage.button('Confirm').waitFor();
    expect([stage.page.url(), stage.changes('POST', '/api/account/email/confirm')]).toEqual([`${origin}/confirm-email`, []]);
    await stage.page.reload();
    await stage.button('Confirm').click();
    await stage.page.getByText('Now open the link in the mail to the other address').waitFor();
    expect(stage.changes('POST', '/api/account/email/confirm').map(({ body }) => body)).toEqual([{ token: 'first' }]);
  });

  it('asks an account that a provider alone opens for no password, and offers a link to set one', async () => {
    const state = new FakeState();
    state.ways = {
      hasPassword: false,
      connected: [{ id: randomUUID(), name: 'Acme', since: '2026-11-20T10:00:00.000Z' }],
      passkeys: [],
      offered: [{ id: 'google', name: 'Google' }],
    };
    await stage.open('/account?provider=elsewhere', { state });
    await stage.page.getByText('already opens another account here').waitFor();
    expect(await stage.button('Disconnect Acme').isDisabled()).toBe(true);
    expect(await stage.button('Turn on').isDisabled()).toBe(true);
    await stage.button('Email me a link').waitFor();
    await stage.button('Delete account…').click();
    await stage.button('Delete account').waitFor();
    expect(await stage.page.getByRole('dialog').getByLabel('Your password').count()).toBe(0);
  });
});

describe('the page of whoever is in no organisation', () => {
  it('says what to do, leads into an organisation that invites, and has all of the account', async () => {
    await stage.open('/no-organisation');
    for (const name of [
      'Invitations',
      'Password',
      'Email address',
      'Passkeys',
      'Second factor',
      'Sessions',
      'Your data',
      'Delete account',
    ]) {
      await stage.page.getByRole('heading', { name, exact: true }).waitFor();
    }
    await stage.button('Accept').click();
    await stage.page.getByRole('heading', { name: 'Overview' }).waitFor();
    expect(stage.changes('POST', `/api/account/invitations/${stage.api.state.ownInvitations[0]?.id}/accept`)).toHaveLength(1);
  });

  it('deletes the account by the password', async () => {
    await stage.open('/no-organisation');
    await stage.button('Delete account…').click();
    await stage.page.getByLabel('Your password').fill('a long password');
    await stage.button('Delete account').click();
    await stage.page.getByText('To keep it, sign in before then.').waitFor();
    expect(stage.changes('POST', '/api/account/delete').map(({ body }) => body)).toEqual([{ password: 'a long password' }]);
  });
});
