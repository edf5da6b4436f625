import { eventually } from '../../../support/eventually';
import { PASSWORD, tokenOf } from '../../support/dashboard';
import { PageStage } from '../../support/page-stage';

const stage = PageStage.forFile();

describe('the account page', () => {
  it('deletes the account by the password, and says on the sign-in page how to keep it', async () => {
    await stage.open('/account', { as: 'new' });
    await stage.button('Delete account…').click();
    await stage.page.getByLabel('Your password').fill(PASSWORD);
    await stage.button('Delete account').click();
    await stage.page.getByText('To keep it, sign in before then.').waitFor();
    expect(stage.changes('POST', '/api/account/delete').map(({ body }) => body)).toEqual([{ password: PASSWORD }]);
  });

  it('exports what is known of the person as a file', async () => {
    await stage.open('/account');
    await stage.button('Export…').click();
    await stage.page.getByLabel('Your password').fill(PASSWORD);
    const [file] = await Promise.all([stage.page.waitForEvent('download'), stage.button('Export').click()]);
    expect(file.suggestedFilename()).toBe('tollgate-account.json');
    await stage.page.getByText('Your data was exported.').waitFor();
  });

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

  it('asks an account that a provider alone opens for no password, and offers a link to set one', async () => {
    await stage.begin();
    const { pool } = stage.dashboard;
    await pool.query("DELETE FROM auth_account WHERE user_id = $1 AND provider_id = 'credential'", [stage.account.userId]);
    await pool.query('DELETE FROM auth_passkey WHERE user_id = $1', [stage.account.userId]);
    await stage.goto('/account?provider=elsewhere');
    await stage.page.getByText('already opens another account here').waitFor();
    expect(await stage.button('Disconnect Google').isDisabled()).toBe(true);
    expect(await stage.button('Turn on').isDisabled()).toBe(true);
    await stage.button('Email me a link').waitFor();
    await stage.button('Delete account…').click();
    await stage.button('Delete account').waitFor();
    expect(await stage.page.getByRole('dialog').getByLabel('Your password').count()).toBe(0);
  });
});

describe('the page of whoever is in no organisation', () => {
  it('says what to do, leads into an organisation that invites, and has all of the account', async () => {
    await stage.open('/no-organisation', { as: 'outsider' });
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
    const { invitations } = await stage.read<{ invitations: { id: string }[] }>('/account');
    await stage.button('Accept').click();
    await stage.page.getByRole('heading', { name: 'Overview' }).waitFor();
    expect(stage.changes('POST', `/api/account/invitations/${invitations[0]?.id}/accept`)).toHaveLength(1);
  });
});
