import { type Locator } from 'playwright-core';
import { type Catalogue, createCatalogue } from '../../../plugins/core/catalogue/catalogue';
import { applyCatalogue } from '../../../services/selling/catalogue/apply-catalogue';
import { suspendSubscription } from '../../../services/selling/suspensions/suspend';
import { CATALOGUE, PRODUCTS } from '../../support/catalogue';
import { inTestAll } from '../../support/scenes';
import { PageStage } from '../support/page-stage';

const stage = PageStage.forFile();
const BARS = '.recharts-bar-rectangle path';

describe('usage by hour', () => {
  it('is a switch away, stands in the address, and has a bar only where there were requests', async () => {
    await stage.open('/usage');
    await stage.page.getByText('Hours', { exact: true }).click();
    await stage.page.getByRole('heading', { name: 'Requests admitted' }).waitFor();
    expect(new URL(stage.page.url()).searchParams.get('hours')).toBe('24');
    await stage.page.getByLabel('Period').selectOption('48');
    await stage.page.getByText('Hours are shown in').waitFor();
    const chart = stage.page.getByRole('region', { name: 'Requests admitted' });
    await chart.getByText('Requests admitted as a table').click();
    // Of 48 hours 36 had requests, for two products each.
    expect(await chart.getByRole('row').count()).toBe(1 + 2 * 36);
    expect(await chart.locator(BARS).count()).toBe(2 * 36);
    expect(await chart.getByRole('row').nth(1).innerText()).toMatch(/\d\d:30.*UTC/);
    expect(await stage.page.getByRole('link', { name: 'Export CSV' }).getAttribute('href')).toContain('by=hour');
  });

  inTestAll('tells what products answered and how long it took, and what nobody measured', async () => {
    await stage.open('/usage?hours=48');
    const chart = stage.page.getByRole('region', { name: 'Answers' });
    await chart.getByText('Half of the responses took 100 ms or less, 95% 1 s or less.').waitFor();
    await chart.getByText('Answers as a table').click();
    // Of two products one is not measured.
    expect(await chart.getByRole('row').count()).toBe(1 + 36);
    expect(await chart.getByRole('row').nth(1).getByRole('cell', { name: '1 s', exact: true }).count()).toBe(1);
    await stage.goto(stage.keyPath());
    await stage.page.getByRole('region', { name: 'Answers' }).getByText('Answers as a table').click();
    expect(await stage.page.getByRole('region', { name: 'Answers' }).getByRole('cell', { name: '–', exact: true }).count()).toBeGreaterThan(
      0,
    );
  });

  inTestAll('says so where nothing was asked', async () => {
    await stage.begin();
    await stage.dashboard.pool.query('DELETE FROM key_hour WHERE credential_id = ANY($1)', [stage.account.keys]);
    await stage.goto('/usage?hours=24');
    await stage.page.getByText('No requests were admitted in the last 24 hours.').waitFor();
  });
});

describe('a plan that is given on request', () => {
  it('is asked for with its price, shows as requested, and is withdrawn', async () => {
    await stage.open('/plans');
    await stage.button('Request Star of Glead').click();
    await stage.button('Request Star for ₹999.00 a month').click();
    await stage.page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(stage.changes('POST', '/api/plan-requests')[0]?.body).toMatchObject({
      product: 'api-glead',
      plan: 'Star',
      terms: { price: '999.00', currency: 'INR' },
    });
    await stage.button('Withdraw the request: Glead').click();
    await stage.button('Withdraw the request').click();
    await stage.button('Request Star of Glead').waitFor();
  });
});

describe('a product without a live source', () => {
  it('says so beside its plans and before one is taken', async () => {
    await stage.open('/plans');
    await stage.page.getByRole('region', { name: 'GST' }).getByText('Live keys open nothing today').first().waitFor();
    await stage.button('Change GST to Free').click();
    const dialog = stage.page.getByRole('dialog');
    await dialog.getByText('The price counts all the same.').waitFor();
    // What is free needs no tick.
    expect(await dialog.getByLabel('I understand').count()).toBe(0);
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await stage.button('Subscribe Vahaan to Star').click();
    await dialog.getByRole('listitem').filter({ hasText: '/vahaan: an index' }).waitFor();
    const act = dialog.getByRole('button', { name: 'Subscribe to Star' });
    expect(await act.isDisabled()).toBe(true);
    await dialog.getByLabel('I understand that live keys open nothing').check();
    expect(await act.isDisabled()).toBe(false);
    await dialog.getByRole('button', { name: 'Cancel' }).click();
  });
});

describe('a product whose answers say what they cost', () => {
  inTestAll('has limits in units, on its plans and in what a change of plan brings', async () => {
    const { pool } = stage.dashboard;
    const units = { header: 'X-Units', reserve: 1, most: 1_000 };
    const products = PRODUCTS.map((each) => (each.id === 'api-ip' ? { ...each, units } : each));
    await applyCatalogue(pool, createCatalogue(products), { actor: 'test' });
    try {
      await stage.open('/plans');
      await stage.page.getByRole('list', { name: 'Plans of IP lookup' }).getByText('1,000 units a day').first().waitFor();
      await stage.page.getByRole('list', { name: 'Plans of Pincode' }).getByText('1,000 requests a day').first().waitFor();
      await stage.button('Change IP lookup to Free').click();
      await stage.page.getByRole('dialog').getByRole('row', { name: 'Units a day 100,000 1,000' }).waitFor();
      await stage.goto('/');
      await stage.page.getByText(/^live units/).waitFor();
    } finally {
      await applyCatalogue(pool, CATALOGUE, { actor: 'test' });
    }
  });
});

describe('a product that asks for a consent', () => {
  const dialog = () => stage.page.getByRole('dialog');
  const sold = (): Catalogue =>
    createCatalogue(PRODUCTS.map((each) => (each.id === 'api-aadhaar' ? { ...each, consent: 'Another text.' } : each)));

  it('is subscribed to after a tick, which a text that the provider changed takes away', async () => {
    const { pool } = stage.dashboard;
    const text = CATALOGUE.find('api-aadhaar')?.consent ?? '';
    await stage.open('/plans');
    await stage.button('Subscribe Aadhaar to Free').click();
    const subscribe = stage.button('Subscribe to Free');
    expect(await subscribe.isDisabled()).toBe(true);
    await dialog().getByText(text).waitFor();
    await stage.page.getByLabel('I agree to this for my organisation').check();
    await applyCatalogue(pool, sold(), { actor: 'test' });
    try {
      await subscribe.click();
      await dialog().getByText('is not the one that was agreed to: Another text.').waitFor();
      await dialog()
        .getByText(/: Another text\.$/)
        .nth(1)
        .waitFor();
      expect(await stage.page.getByLabel('I agree to this for my organisation').isChecked()).toBe(false);
      await stage.page.getByLabel('I agree to this for my organisation').check();
      await subscribe.click();
      await dialog().waitFor({ state: 'detached' });
      expect(stage.changes('POST', '/api/subscriptions').at(-1)?.body).toMatchObject({
        product: 'api-aadhaar',
        consent: ['Another text.'],
      });
    } finally {
      await applyCatalogue(pool, CATALOGUE, { actor: 'test' });
    }
  });
});

inTestAll('a subscription that the seller suspended has a badge that says so, and the reason', async () => {
  await stage.begin();
  const { products } = await stage.read<{ products: { id: string; subscription: { id: string } | null }[] }>('/products');
  const id = products.find((product) => product.id === 'api-ip')?.subscription?.id ?? '';
  await suspendSubscription(stage.dashboard.pool, { id, reason: 'Too many complaints.', actor: 'test' });
  await stage.goto('/plans');
  const card = stage.page.getByRole('region', { name: 'IP lookup', exact: true });
  await card.getByText('Suspended', { exact: true }).waitFor();
  await card.getByText('Too many complaints.').waitFor();
});

inTestAll('the next larger plan is open for who comes from a refusal by a limit', async () => {
  await stage.begin();
  interface Seen {
    readonly id: string;
    readonly title: string;
    readonly plans: readonly { name: string }[];
    readonly subscription: { state: string; plan: string | null } | null;
  }
  const { products } = await stage.read<{ products: Seen[] }>('/products');
  const outgrown = products.find(
    ({ subscription, plans }) => subscription?.state === 'active' && subscription.plan === null && plans.length > 0,
  );
  expect(outgrown).toBeDefined();
  await stage.goto(`/plans?product=${outgrown?.id}`);
  const dialog = stage.page.getByRole('dialog');
  await dialog
    .getByText(outgrown?.title ?? '')
    .first()
    .waitFor();
  await dialog.getByRole('row', { name: new RegExp(`Plan Free ${outgrown?.plans[0]?.name}`) }).waitFor();

  // What was chosen before signing up is open as well, by its name.
  const other = products.find(({ subscription, plans }) => subscription === null && plans.length > 0);
  await stage.goto(`/plans?product=${other?.id}&plan=${encodeURIComponent(other?.plans.at(-1)?.name ?? '')}`);
  await dialog.getByRole('row', { name: new RegExp(`Plan .*${other?.plans.at(-1)?.name}`) }).waitFor();
});

describe('changing a plan', () => {
  async function subscription(): Promise<{ id: string; plan: string | null }> {
    const { products } = await stage.read<{ products: { id: string; subscription: { id: string; plan: string | null } }[] }>('/products');
    return products.find(({ id }) => id === 'api-ip')?.subscription ?? { id: '', plan: '' };
  }
  const planPath = async (): Promise<string> => `/api/subscriptions/${(await subscription()).id}/plan`;

  it('shows both plans with their prices, warns of limits that fall and of use above them, and sends what was agreed to', async () => {
    await stage.open('/plans');
    await stage.button('Change IP lookup to Free').click();
    const row = (name: RegExp) => stage.page.getByRole('dialog').getByRole('row', { name });
    await row(/Plan Star Free/).waitFor();
    await row(/Requests a day 100,000 1,000/).waitFor();
    await row(/Price a month ₹499.00 No charge/).waitFor();
    await stage.page.getByText('The daily limit falls from 100,000 to 1,000.').waitFor();
    await stage.button('Change to Free').click();
    await stage.page.getByText('You have used more than this plan allows').waitFor();
    expect(stage.changes('PUT', await planPath()).at(-1)?.body).toMatchObject({
      plan: null,
      terms: { daily: 1_000, monthly: 30_000, price: null, currency: null },
    });
    expect((await subscription()).plan).toBe('Star');
    await stage.button('Change to Free anyway').click();
    await stage.page.getByRole('dialog').waitFor({ state: 'detached' });
    expect((await subscription()).plan).toBeNull();
  });

  it('keeps its buttons, and a warning that follows a click, in sight of a phone', async () => {
    await stage.open('/plans', { viewport: { width: 360, height: 640 } });
    await stage.button('Change IP lookup to Free').click();
    await stage.page.getByRole('dialog').getByText('Limits fall').waitFor();
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

describe('the name of an organisation', () => {
  async function rename(name: string): Promise<void> {
    await stage.button('Rename').click();
    const dialog = stage.page.getByRole('dialog');
    await dialog.getByLabel('Name', { exact: true }).fill(name);
    await dialog.getByRole('button', { name: 'Save name' }).click();
    await dialog.waitFor({ state: 'detached' });
  }

  it('is given on the team page, and stands there and in the switcher at once', async () => {
    await stage.open('/team');
    await rename('Müller & Söhne');
    await stage.page.getByText('Members of the organisation Müller & Söhne.').waitFor();
    await stage.page.getByLabel('Organisation').locator('option', { hasText: 'Müller & Söhne (Owner)' }).waitFor({ state: 'attached' });
    await rename('');
    await stage.page.getByText(`Members of the organisation ${stage.account.email}.`).waitFor();
  });
});
