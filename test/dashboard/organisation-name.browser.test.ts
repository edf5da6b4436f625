import { PageStage } from './support/page-stage';

const stage = PageStage.forFile();
const LONG = 'Unbroken'.repeat(12);

async function rename(name: string): Promise<void> {
  await stage.button('Rename').click();
  const dialog = stage.page.getByRole('dialog');
  await dialog.getByLabel('Name', { exact: true }).fill(name);
  await dialog.getByRole('button', { name: 'Save name' }).click();
  await dialog.waitFor({ state: 'detached' });
}

describe('the name of an organisation', () => {
  it('is given on the team page, and stands there and in the switcher at once', async () => {
    await stage.open('/team');
    await rename('Müller & Söhne');
    await stage.page.getByText('Members of the organisation Müller & Söhne.').waitFor();
    await stage.page.getByLabel('Organisation').locator('option', { hasText: 'Müller & Söhne (Owner)' }).waitFor({ state: 'attached' });
    await rename('');
    await stage.page.getByText(`Members of the organisation ${stage.account.email}.`).waitFor();
  });

  it('of 96 characters without a space stays within a phone’s screen', async () => {
    await stage.open('/team', { viewport: { width: 360, height: 740 } });
    await rename(LONG);
    await stage.page.getByText(`Members of the organisation ${LONG}.`).waitFor();
    expect(await stage.page.evaluate('document.documentElement.scrollWidth - window.innerWidth')).toBeLessThanOrEqual(0);
  });
});
