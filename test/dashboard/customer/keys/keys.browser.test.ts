import { eventually } from '../../../support/eventually';
import { firstOf, inTestAll } from '../../../support/scenes';
import { openPage, overflow } from '../../support/browser';
import { PageStage, signInAs } from '../../support/page-stage';
import { manyKeys } from '../../support/seed-keys';

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
});

describe('a name that is hard to set', () => {
  it.each(
    firstOf([
      ['without a place to break', 'N'.repeat(100)],
      ['that turns what follows it around', `\u202e${'gnorts'.repeat(8)}`],
    ] as const),
  )('%s breaks no page of a phone', async (_what, name) => {
    await stage.begin({ as: 'new', keys: [{ name }], viewport: { width: 390, height: 844 } });
    for (const path of ['/keys', stage.keyPath()]) {
      await stage.goto(path);
      const shown = stage.page.locator('bdi', { hasText: name });
      expect(await shown.first().isVisible()).toBe(true);
      expect(await overflow(stage.page)).toBeLessThanOrEqual(0);
    }
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
});

describe('a list of keys', () => {
  const names = () => stage.page.getByRole('table', { name: 'Keys' }).getByRole('link').allInnerTexts();

  it('is narrowed down by product, mode and tag, and put in order, all in its address', async () => {
    await stage.open('/keys');
    // A name that looks like markup is shown as it was typed.
    await stage.page.getByText('<b>bold</b> & “quoted” 🚚📦', { exact: true }).waitFor();
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
});

describe('a rotation', () => {
  inTestAll('is told by both keys, and a second one warns first', async () => {
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
  inTestAll('takes its verdict back when the rules change under it', async () => {
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

  it.each(
    firstOf([
      ['rules', 'One rule per line'],
      ['settings', 'Name'],
    ] as const),
  )('are not dropped by a link: %s', async (_what, field) => {
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

  inTestAll('are not dropped by a reload; once saved, nothing asks', async () => {
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

  inTestAll('are not dropped by a click beside the form of a new key', async () => {
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

describe('creating a key', () => {
  it('sends one request for a double click', async () => {
    await stage.open('/keys');
    await stage.fillKeyForm();
    let answer: () => void = () => undefined;
    const isAnswering = new Promise<void>((resolve) => (answer = resolve));
    await stage.page.route('**/api/keys', (route) => isAnswering.then(() => route.fallback()));
    await stage.button('Create key').dblclick();
    answer();
    await stage.page.getByText('First call', { exact: true }).waitFor();
    expect(stage.changes('POST', '/api/keys')).toHaveLength(1);
  });

  it('says of a test key which products refuse it, and offers a live one', async () => {
    await stage.begin({});
    let refusing: readonly string[] | undefined = ['api-ip'];
    await stage.page.route('**/api/products', async (route) => {
      const response = await route.fetch();
      const data = (await response.json()) as { products: { id: string; takesTestKeys: boolean }[] };
      const products = data.products.map((each) => ({ ...each, takesTestKeys: refusing !== undefined && !refusing.includes(each.id) }));
      await route.fulfill({ response, json: { ...data, products } });
    });
    await stage.goto('/keys');
    await stage.fillKeyForm();
    await stage.page.getByText('IP lookup refuses test keys: calls with this one get 401 sandbox_missing.').waitFor();
    await stage.button('Make it a live key').click();
    expect(await stage.page.getByRole('radio', { name: 'Live' }).isChecked()).toBe(true);
    expect(await stage.page.getByText('refuses test keys: calls').count()).toBe(0);
    // Where no product takes one, there is nothing to choose.
    refusing = undefined;
    await stage.goto('/keys');
    await stage.fillKeyForm();
    expect(await stage.page.getByRole('radio', { name: 'Test' }).count()).toBe(0);
    await stage.button('Create key').click();
    await stage.page.getByText(/^tg_live_\w+$/).waitFor();
  });

  it('tells which key it made when the answer was lost', async () => {
    await stage.open('/keys');
    await stage.page.route(
      '**/api/keys',
      async (route) => {
        if (route.request().method() !== 'POST') return route.fallback();
        await route.fetch();
        return route.abort();
      },
      { times: 1 },
    );
    await stage.fillKeyForm();
    await stage.button('Create key').click();
    await stage.page.getByText('The server cannot be reached').waitFor();
    await stage.button('Create key').click();
    await stage.page.getByText('This form already created its key').waitFor();
    const [first, second] = stage.changes('POST', '/api/keys');
    expect(second?.body['submission']).toBe(first?.body['submission']);
  });

  it('leaves no trace of the secret once its dialog is closed', async () => {
    await stage.open('/', { as: 'new' });
    await stage.button('Create a test key').click();
    await stage.page.getByRole('dialog').getByLabel('IP lookup').waitFor();
    await stage.button('Create key').click();
    const shown = stage.page.getByText(/^tg_test_\w+$/);
    await shown.waitFor();
    const secret = await shown.innerText();
    await stage.button('I have copied it').click();
    await stage.page.getByRole('dialog').waitFor({ state: 'detached' });
    const kept = await stage.page.evaluate(
      '[document.documentElement.outerHTML, location.href, JSON.stringify([localStorage, sessionStorage, history.state])].join()',
    );
    expect(kept).not.toContain(secret);
  });
});

describe('a form that is refused', () => {
  inTestAll('names every rule that is malformed, where it can be seen', async () => {
    await stage.begin();
    await stage.page.setViewportSize({ width: 1280, height: 420 });
    await stage.goto(stage.keyPath());
    await stage.page.getByLabel('One rule per line').fill('not a rule\n10.0.0.1/8');
    await stage.button('Save rules').press('Enter');
    const refusal = stage.page.getByRole('alert').filter({ hasText: '"not a rule"' }).filter({ hasText: '"10.0.0.1/8"' });
    await refusal.waitFor();
    await eventually(async () => {
      const { y = -1, height = 0 } = (await refusal.boundingBox()) ?? {};
      return y >= 0 && y + height <= 420;
    });
    await stage.page.setViewportSize({ width: 1280, height: 720 });
  });
});

describe('a secret that was not copied yet', () => {
  const secret = () => stage.page.getByText(/^tg_test_\w+$/);
  async function create(): Promise<void> {
    await stage.open('/plans');
    await stage.page.getByRole('link', { name: 'Keys' }).click();
    await stage.page.getByRole('heading', { name: 'Keys' }).waitFor();
    await stage.fillKeyForm();
    await stage.button('Create key').click();
    await secret().waitFor();
  }

  it('is not lost by Back, which asks first', async () => {
    await create();
    await stage.page.goBack().catch(() => undefined);
    await stage.page.getByRole('alert').getByText('You have not copied it yet').waitFor();
    await stage.button('Stay').click();
    expect(await secret().isVisible()).toBe(true);
    await stage.page.goBack().catch(() => undefined);
    await stage.button('Leave without it').click();
    await stage.page.getByRole('heading', { name: 'Plans' }).waitFor();
  });

  inTestAll('is not lost by a reload, which asks first; once copied, nothing asks', async () => {
    await create();
    const asked = stage.page.waitForEvent('dialog');
    void stage.page.evaluate('location.reload()').catch(() => undefined);
    const question = await asked;
    expect(question.type()).toBe('beforeunload');
    await question.dismiss();
    expect(await secret().isVisible()).toBe(true);
    await stage.button('Copy key').click();
    await stage.button('Copied').waitFor();
    await stage.page.goBack();
    await stage.page.getByRole('heading', { name: 'Plans' }).waitFor();
  });
});
