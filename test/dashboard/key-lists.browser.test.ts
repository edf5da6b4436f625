import { eventually } from '../support/eventually';
import { openPage, overflow } from './support/browser';
import { PageStage, signInAs } from './support/page-stage';
import { manyKeys } from './support/seed-keys';

const stage = PageStage.forFile();

describe('a page of a list', () => {
  it('is named by the address: a reload, a link and Back keep the place', async () => {
    await stage.open('/keys', { as: 'new', keys: manyKeys(100) });
    await stage.button('Next').click();
    await stage.page.getByText('Customer 00026').waitFor();
    await stage.button('Next').click();
    await stage.page.getByText('Customer 00051').waitFor();
    await stage.page.reload();
    await stage.page.getByText('Customer 00051').waitFor();
    await stage.button('Previous').click();
    await stage.page.getByText('Customer 00026').waitFor();
    await stage.page.goBack();
    await stage.page.getByText('Customer 00051').waitFor();
    const address = stage.page.url();
    const { page: other } = await openPage(stage.browser);
    await signInAs(other, { url: stage.url, cookie: stage.account.cookie });
    await other.goto(address);
    await other.getByText('Page 3').waitFor();
    await other.getByRole('button', { name: 'First page' }).click();
    await other.getByText('Customer 00001').waitFor();
    await other.context().close();
  });

  it('begins at the first page again with another filter', async () => {
    await stage.open('/keys', { as: 'new', keys: manyKeys(100) });
    await stage.button('Next').click();
    await stage.page.getByText('Customer 00026').waitFor();
    await stage.page.getByLabel('State').selectOption('active');
    await stage.page.getByText('Customer 00001').waitFor();
    expect(new URL(stage.page.url()).search).toBe('?state=active');
  });
});

describe('a list that stays open', () => {
  it('shows by itself that a key was used', async () => {
    await stage.open('/keys', { as: 'new', keys: [{ name: 'Fresh', usedDaysAgo: null, expiresInDays: 9 }] });
    await stage.page.getByText('never', { exact: true }).waitFor();
    await stage.dashboard.pool.query('UPDATE credential SET last_used_at = now() WHERE id = $1', [stage.account.keys[0]]);
    await stage.page.getByText('just now').waitFor();
  });
});

describe('a name that is hard to set', () => {
  it.each([
    ['without a place to break', 'N'.repeat(100)],
    ['that turns what follows it around', `\u202e${'gnorts'.repeat(8)}`],
  ])('%s breaks no page of a phone', async (_what, name) => {
    await stage.begin({ as: 'new', keys: [{ name }], viewport: { width: 390, height: 844 } });
    for (const path of ['/keys', stage.keyPath()]) {
      await stage.goto(path);
      const shown = stage.page.locator('bdi', { hasText: name });
      expect(await shown.first().isVisible()).toBe(true);
      expect(await overflow(stage.page)).toBeLessThanOrEqual(0);
    }
  });
});

describe('an account with names that look like markup', () => {
  it('shows them as they were typed', async () => {
    await stage.open('/keys');
    await stage.page.getByText('<b>bold</b> & “quoted” 🚚📦', { exact: true }).waitFor();
  });
});

describe('keys that are selected', () => {
  const dialog = () => stage.page.getByRole('dialog');

  it('are revoked at once after one confirmation that says how many and which', async () => {
    await stage.open('/keys');
    await stage.page.getByLabel('Select Checkout server tg_live…1a2B').check();
    await stage.page.getByLabel('Select Ends soon tg_live…9zZ0').check();
    await stage.page.getByText('2 keys selected').waitFor();
    await stage.button('Revoke 2 keys').click();
    expect(await dialog().getByRole('listitem').allInnerTexts()).toEqual([
      expect.stringMatching(/^Checkout server tg_live…1a2B/),
      expect.stringMatching(/^Ends soon tg_live…9zZ0/),
    ]);
    expect(stage.changes('POST', '/api/keys/revoke')).toEqual([]);
    await stage.button('Revoke 2 keys permanently').click();
    await stage.page.getByText('2 keys revoked.').waitFor();
    await dialog().waitFor({ state: 'detached' });
    const { keys } = await stage.read<{ keys: { maskedKey: string }[] }>('/keys?state=revoked');
    const ended = keys.map(({ maskedKey }) => maskedKey);
    expect(ended.sort()).toEqual(['tg_live…1a2B', 'tg_live…77Qx', 'tg_live…9zZ0']);
    expect(await stage.page.getByLabel('Select Checkout server tg_live…1a2B').isDisabled()).toBe(true);
  });

  it('are those of the page alone, without the ones that are revoked already', async () => {
    await stage.open('/keys');
    await stage.page.getByLabel('Select all on this page').check();
    await stage.button('Revoke 7 keys').waitFor();
    await stage.page.getByLabel('State').selectOption('inactive');
    await stage.button('Revoke 1 key').waitFor();
  });
});

describe('a list of keys', () => {
  const names = () => stage.page.getByRole('table', { name: 'Keys' }).getByRole('link').allInnerTexts();

  it('is narrowed down by product, mode and tag, and put in order, all in its address', async () => {
    await stage.open('/keys');
    await stage.page.getByLabel('Tag').selectOption('campaign');
    await stage.page.getByText('2 keys found').waitFor();
    await stage.page.getByLabel('Order').selectOption('name');
    await eventually(async () => (await names()).join() === 'Ends soon,Last year’s campaign');
    expect(new URL(stage.page.url()).search).toBe('?tag=campaign&sort=name');
    await stage.page.getByLabel('Tag').selectOption('');
    await stage.page.getByLabel('Product').selectOption('api-gst');
    await stage.page.getByText('1 key found').waitFor();
    await stage.page.getByLabel('Product').selectOption('');
    await stage.page.getByLabel('Mode').selectOption('test');
    await stage.page.getByText('3 keys found').waitFor();
  });

  it('shows the tags of a key, which its page changes', async () => {
    await stage.open('/keys');
    await stage.page.getByRole('link', { name: 'Checkout server' }).click();
    await stage.page.getByRole('combobox', { name: 'Tags' }).fill('Berlin');
    await stage.page.keyboard.press('Enter');
    await stage.button('Save settings').click();
    await stage.page.getByText('Settings saved.').waitFor();
    expect(await stage.read(stage.keyPath())).toMatchObject({ tags: ['berlin', 'production', 'shop'] });
  });
});
