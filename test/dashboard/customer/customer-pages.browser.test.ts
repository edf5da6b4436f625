import { type Locator, type Page } from 'playwright-core';
import { type Catalogue, createCatalogue } from '../../../plugins/core/catalogue/catalogue';
import { applyCatalogue } from '../../../services/selling/catalogue/apply-catalogue';
import { suspendSubscription } from '../../../services/selling/suspensions/suspend';
import { CATALOGUE, PRODUCTS } from '../../support/catalogue';
import { inTestAll } from '../../support/scenes';
import { PageStage } from '../support/page-stage';
import { step } from '../../support/step';
import { openPage } from '../support/browser';
import { type Entrant, press, signUp } from '../support/entrances';
import { expectRoleRefused, invite, joinByInvitation, removeMember } from '../support/team-steps';

const stage = PageStage.forFile();
const BARS = '.recharts-bar-rectangle path';

describe('usage by hour', () => {
  it('is a switch away, stands in the address, and has a bar only where there were requests', async () => {
    await stage.open('/usage');
    await stage.page.getByText('Hours', { exact: true }).click();
    await stage.page.getByRole('heading', { name: 'Requests let in' }).waitFor();
    expect(new URL(stage.page.url()).searchParams.get('hours')).toBe('24');
    await stage.page.getByLabel('Period').selectOption('48');
    await stage.page.getByText('Hours are shown in').waitFor();
    const chart = stage.page.getByRole('region', { name: 'Requests let in' });
    await chart.getByText('Requests let in as a table').click();
    // Of 48 hours 36 had requests, for two products each.
    expect(await chart.getByRole('row').count()).toBe(1 + 2 * 36);
    expect(await chart.locator(BARS).count()).toBe(2 * 36);
    expect(await chart.getByRole('row').nth(1).innerText()).toMatch(/\d\d:30.*UTC/);
    expect(await stage.page.getByRole('link', { name: 'Export CSV' }).getAttribute('href')).toContain('by=hour');
  });

  it('tells what products answered and how long it took, and what nobody measured', async () => {
    await stage.open('/usage?hours=48');
    const chart = stage.page.getByRole('region', { name: 'Answers' });
    await chart.getByText('Half of the answers took 100 ms or less, 95% 1 s or less.').waitFor();
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

  inTestAll('tells the same by day', async () => {
    await stage.open('/usage?days=30');
    const chart = stage.page.getByRole('region', { name: 'Answers' });
    await chart.getByText(/^Half of the answers took/).waitFor();
    await chart.getByText('Answers as a table').click();
    expect(await chart.getByRole('row').count()).toBe(1 + 30);
    expect(await chart.getByRole('row').nth(1).getByRole('cell', { name: '1 s', exact: true }).count()).toBe(1);
  });

  inTestAll('goes back to days, which keep their own lengths', async () => {
    await stage.open('/usage?hours=48');
    await stage.page.getByText('Days', { exact: true }).click();
    await stage.page.getByRole('heading', { name: 'Requests used' }).waitFor();
    expect(await stage.page.getByLabel('Period').inputValue()).toBe('30');
  });

  inTestAll('says so where nothing was asked', async () => {
    await stage.begin();
    await stage.dashboard.pool.query('DELETE FROM key_hour WHERE credential_id = ANY($1)', [stage.account.keys]);
    await stage.goto('/usage?hours=24');
    await stage.page.getByText('No requests were let in in the last 24 hours.').waitFor();
  });

  inTestAll('of a key is a switch on its chart, with or without requests', async () => {
    await stage.begin();
    for (const place of [0, 1]) {
      await stage.goto(stage.keyPath(place));
      await stage.page.getByText('Hours', { exact: true }).click();
      await stage.page.getByRole('heading', { name: 'Requests of the last 48 hours' }).waitFor();
    }
    await stage.page.getByText('No requests with this key in the last 48 hours.').waitFor();
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

  // In `npm test` a customer reads why in test/dashboard/seller/console.browser.test.ts.
  inTestAll('says why it was declined, and can be asked for again', async () => {
    await stage.open('/plans');
    await stage.page.getByText('Please send us your company’s registration first.').waitFor();
    expect(await stage.button('Request Star of Aadhaar').isVisible()).toBe(true);
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
  it('has limits in units, on its plans and in what a change of plan brings', async () => {
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

it('a subscription that the seller suspended has a badge that says so, and the reason', async () => {
  await stage.begin();
  const { products } = await stage.read<{ products: { id: string; subscription: { id: string } | null }[] }>('/products');
  const id = products.find((product) => product.id === 'api-ip')?.subscription?.id ?? '';
  await suspendSubscription(stage.dashboard.pool, { id, reason: 'Too many complaints.', actor: 'test' });
  await stage.goto('/plans');
  const card = stage.page.getByRole('region', { name: 'IP lookup', exact: true });
  await card.getByText('Suspended', { exact: true }).waitFor();
  await card.getByText('Too many complaints.').waitFor();
});

it('the next larger plan is open for who comes from a refusal by a limit', async () => {
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

describe('a team', () => {
  const OWNER = 'owner@example.com';
  const MEMBER = 'member@example.com';
  const PASSWORD = 'a team’s own words 41';

  let owner: Page;
  let member: Page;
  const complaints: string[] = [];

  async function person(): Promise<Page> {
    const opened = await openPage(stage.browser);
    opened.page.on('close', () => complaints.push(...opened.complaints));
    return opened.page;
  }

  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

  // In `npm test` a second person joins, reads only and is removed in test/dashboard/walks/customer.measured.test.ts.
  inTestAll('a second person joins by an invitation, does what the role allows, and is out once removed', async () => {
    [owner, member] = await Promise.all([person(), person()]);
    const founder: Entrant = { page: owner, dashboard: stage.url, email: OWNER, password: PASSWORD };
    const joiner: Entrant = { page: member, dashboard: stage.url, email: MEMBER, password: PASSWORD };

    await step('an owner signs up and invites somebody as a read-only member', async () => {
      await signUp(founder);
      await owner.getByText(/^tg_test_\w+$/).waitFor();
      await press(owner, 'I have copied it');
      await invite(founder, { email: MEMBER, role: 'Read-only' });
    });

    await step('the invited person signs up, with the address filled in, and comes back to the invitation', () =>
      joinByInvitation(joiner, OWNER),
    );

    await step('the member sees the keys of the organisation, and can change nothing', async () => {
      expect(await member.getByLabel('Organisation').locator('option:checked').innerText()).toBe(`${OWNER} (Read-only)`);
      await expectRoleRefused(member);
    });

    await step('the owner makes the member a developer, who may create keys then', async () => {
      await owner.reload();
      await button(owner, `Actions for ${MEMBER}`).click();
      await owner.getByRole('menuitem', { name: 'Change role' }).click();
      await owner.getByRole('radio', { name: 'Developer' }).check();
      await button(owner, 'Change role').click();
      await owner.getByRole('row').filter({ hasText: MEMBER }).getByText('Developer').waitFor();
      await member.reload();
      await member.getByRole('heading', { name: 'Keys' }).waitFor();
      expect(await button(member, 'Create a key').isEnabled()).toBe(true);
    });

    await step('the member switches to the own organisation and back', async () => {
      await member.getByLabel('Organisation').selectOption({ label: `${MEMBER} (Owner)` });
      await member.locator('option:checked', { hasText: `${MEMBER} (Owner)` }).waitFor({ state: 'attached' });
      await member.getByRole('heading', { name: 'Overview' }).waitFor();
      await member.getByLabel('Organisation').selectOption({ label: `${OWNER} (Developer)` });
      await member.locator('option:checked', { hasText: `${OWNER} (Developer)` }).waitFor({ state: 'attached' });
    });

    await step('the owner removes the member, whose next page is of the own organisation', async () => {
      // Or the open page, which notices it, might lead elsewhere while the next one is opened.
      await member.goto('about:blank');
      await removeMember(founder, MEMBER);
      await member.goto(`${stage.url}/team`);
      await member.getByText(`Members of the organisation ${MEMBER}`).waitFor();
      expect(await member.getByLabel('Organisation').count()).toBe(0);
    });
    await Promise.all([owner.close(), member.close()]);
    expect(complaints).toEqual([]);
  });

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

    // The name of a key does in keys.browser.test.ts.
    inTestAll('of 96 characters without a space stays within a phone’s screen', async () => {
      await stage.open('/team', { viewport: { width: 360, height: 740 } });
      await rename(LONG);
      await stage.page.getByText(`Members of the organisation ${LONG}.`).waitFor();
      expect(await stage.page.evaluate('document.documentElement.scrollWidth - window.innerWidth')).toBeLessThanOrEqual(0);
    });
  });
});
