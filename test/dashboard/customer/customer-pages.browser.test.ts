import { type Locator } from 'playwright-core';
import { createCatalogue } from '../../../plugins/core/catalogue/catalogue';
import { applyCatalogue } from '../../../services/selling/catalogue/apply-catalogue';
import { suspendSubscription } from '../../../services/selling/suspensions/suspend';
import { CATALOGUE, PRODUCTS } from '../../support/catalogue';
import { eventually } from '../../support/eventually';
import { inTestAll } from '../../support/scenes';
import { overflow } from '../support/browser';
import { PageStage } from '../support/page-stage';
import { manyKeys } from '../support/seed-keys';

const stage = PageStage.forFile();
const dialog = () => stage.page.getByRole('dialog');

describe('usage by hour', () => {
  it('is a switch away, stands in the address, and has a bar only where there were requests', async () => {
    await stage.open('/usage', { isShared: true });
    await stage.page.getByText('Hours', { exact: true }).click();
    await stage.page.getByRole('heading', { name: 'Requests admitted' }).waitFor();
    expect(new URL(stage.page.url()).searchParams.get('hours')).toBe('24');
    await stage.page.getByLabel('Period').selectOption('48');
    await stage.page.getByText('Hours are shown in').waitFor();
    const chart = stage.page.getByRole('region', { name: 'Requests admitted' });
    await chart.getByText('Requests admitted as a table').click();
    // Of 48 hours 36 had requests, for two products each.
    expect(await chart.getByRole('row').count()).toBe(1 + 2 * 36);
    expect(await chart.locator('.recharts-bar-rectangle path').count()).toBe(2 * 36);
    expect(await chart.getByRole('row').nth(1).innerText()).toMatch(/\d\d:30.*UTC/);
    expect(await stage.page.getByRole('link', { name: 'Export CSV' }).getAttribute('href')).toContain('by=hour');
  });

  inTestAll('tells what products answered and how long it took, and what nobody measured', async () => {
    await stage.open('/usage?hours=48', { isShared: true });
    const chart = stage.page.getByRole('region', { name: 'Answers' });
    await chart.getByText('Half of the responses took 100 ms or less, 95% 1 s or less.').waitFor();
    await chart.getByText('Answers as a table').click();
    // Of two products one is not measured.
    expect(await chart.getByRole('row').count()).toBe(1 + 36);
    expect(await chart.getByRole('row').nth(1).getByRole('cell', { name: '1 s', exact: true }).count()).toBe(1);
    await stage.goto(stage.keyPath());
    await chart.getByText('Answers as a table').click();
    expect(await chart.getByRole('cell', { name: '–', exact: true }).count()).toBeGreaterThan(0);
  });
});

describe('the plans', () => {
  interface Subscription {
    readonly id: string;
    readonly plan: string | null;
  }
  async function subscription(): Promise<Subscription | null | undefined> {
    const { products } = await stage.read<{ products: { id: string; subscription: Subscription | null }[] }>('/products');
    return products.find(({ id }) => id === 'api-ip')?.subscription;
  }

  it('of which one is given on request: it is asked for with its price, shows as requested, and is withdrawn', async () => {
    await stage.open('/plans');
    await stage.button('Request Star of Glead').click();
    await stage.button('Request Star for ₹999.00 a month').click();
    await dialog().waitFor({ state: 'detached' });
    expect(stage.changes('POST', '/api/plan-requests')[0]?.body).toMatchObject({
      product: 'api-glead',
      plan: 'Star',
      terms: { price: '999.00', currency: 'INR' },
    });
    await stage.button('Withdraw the request: Glead').click();
    await stage.button('Withdraw the request').click();
    await stage.button('Request Star of Glead').waitFor();
  });

  it('of a product without a live source say so, and so does the dialog before one is taken', async () => {
    await stage.open('/plans', { isShared: true });
    await stage.page.getByRole('region', { name: 'GST' }).getByText('Live keys open nothing today').first().waitFor();
    await stage.button('Change GST to Free').click();
    await dialog().getByText('The price counts all the same.').waitFor();
    // What is free needs no tick.
    expect(await dialog().getByLabel('I understand').count()).toBe(0);
    await dialog().getByRole('button', { name: 'Cancel' }).click();
    await stage.button('Subscribe Vahaan to Star').click();
    await dialog().getByRole('listitem').filter({ hasText: '/vahaan: an index' }).waitFor();
    const act = dialog().getByRole('button', { name: 'Subscribe to Star' });
    expect(await act.isDisabled()).toBe(true);
    await dialog().getByLabel('I understand that live keys open nothing').check();
    expect(await act.isDisabled()).toBe(false);
  });

  it('that ask for a consent are subscribed to after a tick, which a text that the seller changed takes away', async () => {
    const text = CATALOGUE.find('api-aadhaar')?.consent ?? '';
    const changed = PRODUCTS.map((each) => (each.id === 'api-aadhaar' ? { ...each, consent: 'Another text.' } : each));
    const agreed = () => stage.page.getByLabel('I agree to this for my organisation');
    await stage.open('/plans');
    await stage.button('Subscribe Aadhaar to Free').click();
    const subscribe = stage.button('Subscribe to Free');
    expect(await subscribe.isDisabled()).toBe(true);
    await dialog().getByText(text).waitFor();
    await agreed().check();
    await applyCatalogue(stage.dashboard.pool, createCatalogue(changed), { actor: 'test' });
    try {
      await subscribe.click();
      await dialog().getByText('is not the one that was agreed to: Another text.').waitFor();
      expect(await agreed().isChecked()).toBe(false);
      await agreed().check();
      await subscribe.click();
      await dialog().waitFor({ state: 'detached' });
    } finally {
      await applyCatalogue(stage.dashboard.pool, CATALOGUE, { actor: 'test' });
    }
    expect(stage.changes('POST', '/api/subscriptions').at(-1)?.body).toMatchObject({ product: 'api-aadhaar', consent: ['Another text.'] });
  });

  inTestAll('have a badge and a reason where the seller suspended the subscription', async () => {
    await stage.begin();
    const { id = '' } = (await subscription()) ?? {};
    await suspendSubscription(stage.dashboard.pool, { id, reason: 'Too many complaints.', actor: 'test' });
    await stage.goto('/plans');
    const card = stage.page.getByRole('region', { name: 'IP lookup', exact: true });
    await card.getByText('Suspended', { exact: true }).waitFor();
    await card.getByText('Too many complaints.').waitFor();
  });

  it('are compared with prices before a change, warn of limits that fall and of use above them, and send what was agreed to', async () => {
    await stage.open('/plans');
    await stage.button('Change IP lookup to Free').click();
    const row = (name: RegExp) => dialog().getByRole('row', { name });
    await row(/Plan Star Free/).waitFor();
    await row(/Requests a day 100,000 1,000/).waitFor();
    await row(/Price a month ₹499.00 No charge/).waitFor();
    await stage.page.getByText('The daily limit falls from 100,000 to 1,000.').waitFor();
    await stage.button('Change to Free').click();
    await stage.page.getByText('You have used more than this plan allows').waitFor();
    expect(stage.changes('PUT', `/api/subscriptions/${(await subscription())?.id}/plan`).at(-1)?.body).toMatchObject({
      plan: null,
      terms: { daily: 1_000, monthly: 30_000, price: null, currency: null },
    });
    expect((await subscription())?.plan).toBe('Star');
    await stage.button('Change to Free anyway').click();
    await dialog().waitFor({ state: 'detached' });
    expect((await subscription())?.plan).toBeNull();
  });

  inTestAll('keep their buttons, and a warning that follows a click, in sight of a phone', async () => {
    await stage.open('/plans', { viewport: { width: 360, height: 640 }, isShared: true });
    await stage.button('Change IP lookup to Free').click();
    await dialog().getByText('Limits fall').waitFor();
    const ends = async (part: Locator): Promise<{ top: number; bottom: number }> => {
      const { y, height } = (await part.boundingBox()) ?? { y: Infinity, height: Infinity };
      return { top: y, bottom: y + height };
    };
    expect((await ends(stage.button('Change to Free'))).bottom).toBeLessThan(640);
    await stage.button('Change to Free').click();
    const anyway = stage.button('Change to Free anyway');
    await anyway.waitFor();
    const warning = stage.page.getByRole('alert').filter({ hasText: 'You have used more' });
    expect((await ends(warning)).bottom).toBeLessThan((await ends(stage.button('Cancel'))).top);
    expect((await ends(anyway)).bottom).toBeLessThan(640);
  });
});

// In `npm test` team.stores.test.ts gives an organisation its name.
inTestAll('the name of an organisation is given on the team page, and stands there and in the switcher at once', async () => {
  await stage.open('/team');
  await stage.button('Rename').click();
  await dialog().getByLabel('Name', { exact: true }).fill('Müller & Söhne');
  await dialog().getByRole('button', { name: 'Save name' }).click();
  await stage.page.getByText('Members of the organisation Müller & Söhne.').waitFor();
  await stage.page.getByLabel('Organisation').locator('option', { hasText: 'Müller & Söhne (Owner)' }).waitFor({ state: 'attached' });
});

describe('the list of keys', () => {
  it('has pages that the address names: a reload, a link and Back keep the place', async () => {
    await stage.open('/keys', { as: 'new', keys: manyKeys(60) });
    await stage.button('Next').click();
    await stage.page.getByText('Customer 00026').waitFor();
    await stage.button('Next').click();
    await stage.page.getByText('Customer 00051').waitFor();
    const address = stage.page.url();
    await stage.button('Previous').click();
    await stage.page.getByText('Customer 00026').waitFor();
    await stage.page.goBack();
    await stage.page.getByText('Customer 00051').waitFor();
    await stage.page.reload();
    await stage.page.getByText('Page 3').waitFor();
    await stage.page.goto('about:blank');
    await stage.page.goto(address);
    await stage.page.getByText('Page 3').waitFor();
    await stage.button('First page').click();
    await stage.page.getByText('Customer 00001').waitFor();
  });

  // In `npm test` keys.stores.test.ts narrows the list down and puts it in order.
  inTestAll('is narrowed down by product, mode and tag, and put in order, all in its address', async () => {
    const names = () => stage.page.getByRole('table', { name: 'Keys' }).getByRole('link').allInnerTexts();
    await stage.open('/keys', { isShared: true });
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
  });

  inTestAll.each([
    ['without a place to break', 'N'.repeat(100)],
    ['that turns what follows it around', `\u202e${'gnorts'.repeat(8)}`],
  ])('fits a phone, as the page of a key does, with a name %s', async (_what, name) => {
    await stage.begin({ as: 'new', keys: [{ name }], viewport: { width: 390, height: 844 } });
    for (const path of ['/keys', stage.keyPath()]) {
      await stage.goto(path);
      expect(await stage.page.locator('bdi', { hasText: name }).first().isVisible()).toBe(true);
      expect(await overflow(stage.page)).toBeLessThanOrEqual(0);
    }
  });

  it('has selected keys revoked at once, after one confirmation that says how many and which', async () => {
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
    expect(keys.map(({ maskedKey }) => maskedKey).sort()).toEqual(['tg_live…1a2B', 'tg_live…77Qx', 'tg_live…9zZ0']);
    expect(await stage.page.getByLabel('Select Checkout server tg_live…1a2B').isDisabled()).toBe(true);
  });
});

describe('the page of a key', () => {
  const ask = () => stage.page.getByRole('dialog', { name: 'Leave without saving?' });
  const openKey = async (): Promise<void> => {
    await stage.open('/keys', { isShared: true });
    await stage.page.getByRole('link', { name: 'Checkout server' }).click();
  };

  inTestAll('tells of a rotation on both keys, and warns before a second one', async () => {
    await stage.begin();
    await stage.goto(stage.keyPath());
    await stage.button('Rotate').click();
    expect(await dialog().getByText('This key was rotated before').isVisible()).toBe(false);
    await dialog().getByRole('button', { name: 'Rotate' }).click();
    await stage.button('Copy key').click();
    await stage.button('I have copied it').click();
    await stage.page.getByText('This key ends in 24 hours.').waitFor();
    await stage.button('Rotate').click();
    await dialog().getByText('This key was rotated before').waitFor();
    await dialog().getByRole('button', { name: 'Cancel' }).click();
    await stage.page.getByRole('link', { name: /^tg_live…/ }).click();
    await stage.page.getByText('Replaces').getByRole('link', { name: 'tg_live…1a2B' }).waitFor();
  });

  inTestAll('takes the verdict of its simulator back when the rules change under it', async () => {
    await stage.begin({ isShared: true });
    await stage.goto(stage.keyPath());
    await stage.page.getByLabel('IP address').fill('203.0.113.7');
    await stage.button('Test').click();
    const verdict = stage.page.getByText('Allowed', { exact: true });
    await verdict.waitFor();
    await stage.page.getByLabel('One rule per line').fill('198.51.100.0/24');
    await verdict.waitFor({ state: 'detached' });
  });

  it('lets no link drop edits that were not saved: rules and settings', async () => {
    await openKey();
    const leave = () => stage.page.getByRole('link', { name: 'Usage', exact: true }).click();
    for (const field of ['One rule per line', 'Name']) await stage.page.getByLabel(field, { exact: true }).fill('203.0.113.9');
    await leave();
    await stage.button('Keep editing').click();
    await ask().waitFor({ state: 'detached' });
    expect(await stage.page.getByLabel('One rule per line').inputValue()).toBe('203.0.113.9');
    await leave();
    await stage.button('Leave without saving').click();
    await stage.page.getByRole('heading', { name: 'Usage', exact: true }).waitFor();
  });

  inTestAll('lets no reload drop them; once saved, nothing asks', async () => {
    await stage.begin();
    await stage.goto(stage.keyPath());
    await stage.page.getByLabel('Name', { exact: true }).fill('Renamed');
    const asked = stage.page.waitForEvent('dialog');
    void stage.page.evaluate('location.reload()').catch(() => undefined);
    await (await asked).dismiss();
    await stage.button('Save settings').click();
    await stage.page.getByRole('heading', { name: 'Renamed' }).waitFor();
    await stage.page.getByRole('link', { name: 'Usage', exact: true }).click();
    await stage.page.getByRole('heading', { name: 'Usage', exact: true }).waitFor();
  });

  it('loses nothing of two people who edit it: the second sees what changed and saves on top of it', async () => {
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
  const secret = () => stage.page.getByText(/^tg_test_\w+$/);

  it('sends one request for a double click', async () => {
    await stage.open('/keys', { isShared: true });
    await stage.fillKeyForm();
    let answer: () => void = () => undefined;
    const isAnswering = new Promise<void>((resolve) => (answer = resolve));
    await stage.page.route('**/api/keys', (route) => isAnswering.then(() => route.fallback()));
    await stage.button('Create key').dblclick();
    answer();
    await stage.page.getByText('First call', { exact: true }).waitFor();
    expect(stage.changes('POST', '/api/keys')).toHaveLength(1);
  });

  inTestAll('says of a test key which products refuse it, and offers a live one', async () => {
    await stage.begin({ isShared: true });
    await stage.page.route('**/api/products', async (route) => {
      const response = await route.fetch();
      const data = (await response.json()) as { products: { id: string }[] };
      await route.fulfill({
        response,
        json: { ...data, products: data.products.map((each) => ({ ...each, takesTestKeys: each.id !== 'api-ip' })) },
      });
    });
    await stage.goto('/keys');
    await stage.fillKeyForm();
    await stage.page.getByText('IP lookup refuses test keys: calls with this one get 401 sandbox_missing.').waitFor();
    await stage.button('Make it a live key').click();
    expect(await stage.page.getByRole('radio', { name: 'Live' }).isChecked()).toBe(true);
    expect(await stage.page.getByText('refuses test keys: calls').count()).toBe(0);
  });

  it('tells which key it made when the answer was lost', async () => {
    await stage.open('/keys', { isShared: true });
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

  it('asks before Back loses a secret that was not copied, and leaves no trace of it once its dialog is closed', async () => {
    await stage.open('/plans', { isShared: true });
    await stage.page.getByRole('link', { name: 'Keys' }).click();
    await stage.page.getByRole('heading', { name: 'Keys' }).waitFor();
    await stage.fillKeyForm();
    await stage.button('Create key').click();
    await secret().waitFor();
    const text = await secret().innerText();
    await stage.page.goBack().catch(() => undefined);
    await stage.page.getByRole('alert').getByText('You have not copied it yet').waitFor();
    await stage.button('Stay').click();
    expect(await secret().isVisible()).toBe(true);
    await stage.button('I have copied it').click();
    await dialog().waitFor({ state: 'detached' });
    const kept = await stage.page.evaluate(
      '[document.documentElement.outerHTML, location.href, JSON.stringify([localStorage, sessionStorage, history.state])].join()',
    );
    expect(kept).not.toContain(text);
  });

  inTestAll('asks before a reload loses it; a click beside the form drops nothing', async () => {
    await stage.open('/keys', { isShared: true });
    await stage.fillKeyForm();
    await dialog().getByLabel('Name', { exact: true }).fill('Half a name');
    await stage.page.keyboard.press('Escape');
    await stage.page.mouse.click(5, 400);
    expect(await dialog().getByLabel('Name', { exact: true }).inputValue()).toBe('Half a name');
    await stage.button('Create key').click();
    await secret().waitFor();
    const asked = stage.page.waitForEvent('dialog');
    void stage.page.evaluate('location.reload()').catch(() => undefined);
    await (await asked).dismiss();
    expect(await secret().isVisible()).toBe(true);
  });
});
