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
});
