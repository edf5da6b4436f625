import { eventually } from '../support/eventually';
import { PageStage } from './support/page-stage';

const stage = PageStage.forFile();

describe('a rotation', () => {
  it('is told by both keys, and a second one warns first', async () => {
    await stage.begin();
    await stage.goto(stage.keyPath());
    await stage.button('Rotate').click();
    const dialog = stage.page.getByRole('dialog');
    expect(await dialog.getByText('This key was rotated before').isVisible()).toBe(false);
    await dialog.getByRole('button', { name: 'Rotate' }).click();
    await stage.button('Copy key').click();
    await stage.button('I have copied it').click();
    await stage.page
      .getByText('Replaced by')
      .getByRole('link', { name: /^tg_live…/ })
      .waitFor();
    await stage.page.getByText('This key ends in 24 hours.').waitFor();
    await stage.button('Rotate').click();
    await dialog.getByText('This key was rotated before').waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await stage.page.getByRole('link', { name: /^tg_live…/ }).click();
    await stage.page.getByText('Replaces').getByRole('link', { name: 'tg_live…1a2B' }).waitFor();
  });
});

describe('the simulator', () => {
  it('takes its verdict back when the rules change under it', async () => {
    await stage.begin();
    await stage.goto(stage.keyPath());
    await stage.page.getByLabel('IP address').fill('203.0.113.7');
    await stage.button('Test').click();
    const verdict = stage.page.getByText('Allowed', { exact: true });
    await verdict.waitFor();
    await stage.page.getByLabel('One rule per line').fill('198.51.100.0/24');
    await verdict.waitFor({ state: 'detached' });
  });
});

describe('edits that were not saved', () => {
  const ask = () => stage.page.getByRole('dialog', { name: 'Leave without saving?' });

  it.each([
    ['settings', 'Name'],
    ['rules', 'One rule per line'],
  ])('are not dropped by a link: %s', async (_what, field) => {
    await stage.open('/keys');
    await stage.page.getByRole('link', { name: 'Checkout server' }).click();
    await stage.page.getByLabel(field, { exact: true }).fill('203.0.113.9');
    await stage.page.getByRole('link', { name: 'Usage', exact: true }).click();
    await ask().waitFor();
    await stage.button('Keep editing').click();
    await ask().waitFor({ state: 'detached' });
    expect(await stage.page.getByLabel(field, { exact: true }).inputValue()).toBe('203.0.113.9');
    await stage.page.getByRole('link', { name: 'Usage', exact: true }).click();
    await stage.button('Leave without saving').click();
    await stage.page.getByRole('heading', { name: 'Usage', exact: true }).waitFor();
  });

  it('are not dropped by a reload; once saved, nothing asks', async () => {
    await stage.open('/keys');
    await stage.page.getByRole('link', { name: 'Checkout server' }).click();
    await stage.page.getByLabel('Name', { exact: true }).fill('Renamed');
    const asked = stage.page.waitForEvent('dialog');
    void stage.page.evaluate('location.reload()').catch(() => undefined);
    await (await asked).dismiss();
    await stage.button('Save settings').click();
    await stage.page.getByRole('heading', { name: 'Renamed' }).waitFor();
    await stage.page.getByRole('link', { name: 'Usage', exact: true }).click();
    await stage.page.getByRole('heading', { name: 'Usage', exact: true }).waitFor();
  });

  it('are not dropped by a click beside the form of a new key', async () => {
    await stage.open('/keys');
    await stage.button('Create a key').click();
    await stage.page.getByRole('dialog').getByLabel('Name', { exact: true }).fill('Half a name');
    await stage.page.keyboard.press('Escape');
    await stage.page.mouse.click(5, 400);
    expect(await stage.page.getByRole('dialog').getByLabel('Name', { exact: true }).inputValue()).toBe('Half a name');
    await stage.page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    await stage.page.getByRole('dialog').waitFor({ state: 'detached' });
  });
});

describe('two people who edit one key', () => {
  it('lose nothing: the second sees what changed and saves on top of it', async () => {
    await stage.begin();
    await stage.goto(stage.keyPath());
    await stage.page.getByLabel('Name', { exact: true }).fill('Mine');
    await stage.dashboard.pool.query("UPDATE credential SET name = 'Theirs' WHERE id = $1", [stage.account.keys[0]]);
    await stage.button('Save settings').click();
    const notice = stage.page.getByRole('alert').filter({ hasText: 'changed elsewhere' });
    await notice.getByText('Theirs').waitFor();
    expect(await stage.read(stage.keyPath())).toMatchObject({ name: 'Theirs' });
    await stage.button('Keep my edits').click();
    await stage.button('Save settings').click();
    await eventually(async () => (await stage.read<{ name: string }>(stage.keyPath())).name === 'Mine');
  });
});
