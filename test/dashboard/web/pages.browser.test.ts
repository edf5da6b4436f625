import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Locator, type Page } from 'playwright-core';
import { eventually } from '../../support/eventually';
import { firstOf, inTestAll } from '../../support/scenes';
import { inaccessibleInBoth } from '../support/axe';
import { brokenWords, crowded, cutTables, narrowFaults, type WatchedPage } from '../support/browser';
import { EVERY_PAGE } from '../support/every-page';
import { type Account } from '../support/page-accounts';
import { PAGES } from '../support/page-dashboard';
import { PageStage } from '../support/page-stage';
import { MAX_WEIGHT, weigh } from '../support/page-weight';
import { type Scene } from '../support/scene-stage';
import { SceneStage } from '../support/scene-stage';
import { SCENES } from '../support/scenes';

/** Roles that mean nothing to who hears them without a name. */
const NAMED =
  'link|button|textbox|searchbox|combobox|checkbox|radio|switch|slider|spinbutton|tab|menuitem|dialog|alertdialog|table|heading|navigation|region|figure|img|progressbar|meter';
const UNNAMED = new RegExp(`^\\s*- (${NAMED})(?! ")(?=[ :]|$)`);

/** What of a page's accessibility tree has no name, and landmarks that are not there once. */
async function unnamedParts(page: Page): Promise<string[]> {
  const lines = (await page.locator('body').ariaSnapshot()).split('\n');
  const unnamed = lines.flatMap((line, at) =>
    UNNAMED.test(line) ? [`without a name: ${line.trim()} after ${lines[at - 1]?.trim() ?? ''}`] : [],
  );
  const count = (what: RegExp): number => lines.filter((line) => what.test(line)).length;
  const mains = count(/^\s*- main/);
  const titles = count(/^\s*- heading .*\[level=1\]/);
  return [...unnamed, ...(mains === 1 ? [] : [`${mains} main parts`]), ...(titles === 1 ? [] : [`${titles} headings of level 1`])];
}

/** In the browser: what the Tab key should reach. Of radio buttons it reaches the chosen one. */
const MARK = `(() => {
  const usable = 'a[href], button, input, select, textarea, summary, [tabindex]';
  const isReached = (each) =>
    each.tabIndex >= 0 && !each.matches(':disabled') && !each.closest('[inert]') && each.getClientRects().length > 0 &&
    getComputedStyle(each).visibility === 'visible' &&
    !(each.type === 'radio' && !each.checked && document.querySelector('input[type=radio][name="' + CSS.escape(each.name) + '"]:checked'));
  window.walked = new Set();
  window.toWalk = [...document.querySelectorAll(usable)].filter(isReached);
  document.activeElement.blur();
  window.scrollTo(0, 0);
  return window.toWalk.length;
})()`;

/** In the browser, after a press: false once the walk is back where it began. */
const NOTE = `(() => {
  const now = document.activeElement;
  if (now === document.body || window.walked.has(now)) return false;
  window.walked.add(now);
  const { top, bottom, width } = now.getBoundingClientRect();
  if (width > 0 && (bottom <= 0 || top >= window.innerHeight)) now.dataset.outOfSight = 'true';
  return true;
})()`;

const REPORT = `[
  ...window.toWalk.filter((each) => !window.walked.has(each)).map((each) => 'the Tab key does not reach ' + each.outerHTML.slice(0, 160)),
  ...[...window.walked].filter((each) => each.dataset.outOfSight).map((each) => 'has the focus out of sight: ' + each.outerHTML.slice(0, 160)),
]`;

/** Presses Tab through a whole page. @returns what it does not reach, or reaches out of sight */
async function unreachedByTab(page: Page): Promise<string[]> {
  const count = await page.evaluate<number>(MARK);
  // A part that catches the focus ends the walk, and what follows it is told as not reached.
  for (let press = 0; press < 2 * count + 10; press++) {
    await page.keyboard.press('Tab');
    if (!(await page.evaluate<boolean>(NOTE))) break;
  }
  return page.evaluate<string[]>(REPORT);
}

const PHONE = { width: 360, height: 740 };

const stage = PageStage.forFile();
let scenes: SceneStage;
beforeAll(async () => {
  scenes = await SceneStage.on(stage);
});

async function faultsOf({ page, complaints }: WatchedPage): Promise<string[]> {
  const found = await inaccessibleInBoth(page);
  const touching = (await crowded(page)).map((text) => `without space above: ${text}`);
  const wide = [...(await cutTables(page)), ...(await brokenWords(page))];
  return [...found, ...complaints, ...touching, ...wide, ...(await narrowFaults(page, PHONE))];
}

/** Those that people use most, and that the seller does. */
const MAIN = [
  ...['overview', 'keys', 'key', 'plans', 'usage', 'requests', 'explain', 'team'],
  ...['seller-home', 'seller-customers', 'seller-customer', 'seller-requests', 'seller-explain', 'seller-products', 'seller-billing'],
];
const isMain = ({ name }: Scene): boolean => MAIN.includes(name);

/**
 * One of each layout in `npm test`: an entrance, a page of the app with forms, tables and charts, a dialog. Public pages are looked at in
 * test/dashboard/storefront/public.browser.test.ts, pages of the seller in test/dashboard/seller/console.browser.test.ts.
 */
const ONE_OF_A_KIND = ['sign-in', 'key', 'created-key'];
const oneOfAKind = ({ name }: Scene): jest.It => (ONE_OF_A_KIND.includes(name) ? it : inTestAll);
const walked = async ({ page }: WatchedPage): Promise<string[]> => [...(await unnamedParts(page)), ...(await unreachedByTab(page))];

const SOUND =
  'has nothing that axe finds in either scheme, no error under its policy, space between its parts, and fits its tables, a phone and every word';

describe.each(EVERY_PAGE.filter((scene) => !isMain(scene)))('the page $name', (scene) => {
  oneOfAKind(scene)(SOUND, async () => {
    expect(await scenes.play(scene, faultsOf)).toEqual([]);
  });
});

describe.each(EVERY_PAGE.filter(isMain))('the main page $name', (scene) => {
  oneOfAKind(scene)(`${SOUND}; is walked by the keyboard alone, and says name and role of its every part`, async () => {
    const both = async (watched: WatchedPage): Promise<string[]> => [...(await walked(watched)), ...(await faultsOf(watched))];
    expect(await scenes.play(scene, both)).toEqual([]);
  });
});

describe.each(SCENES)('the scene $name', (scene) => {
  oneOfAKind(scene)(SOUND, async () => {
    expect(await scenes.play(scene, faultsOf)).toEqual([]);
  });
});

describe('the first page of somebody who is signed in', () => {
  it('takes at most 15 requests and 250 KiB, with its typeface and what the API answers', async () => {
    await stage.begin();
    const weight = await weigh(stage.page, () => stage.goto('/'));
    expect(weight.requests).toBeLessThanOrEqual(MAX_WEIGHT.requests);
    expect(weight.bytes).toBeLessThanOrEqual(MAX_WEIGHT.bytes);
  });

  it('comes from files that are all compressed beforehand, but for pictures and fonts', () => {
    const files = readdirSync(join(PAGES, 'assets')).filter((name) => /\.(js|css)$/.test(name));
    const known = new Set(readdirSync(join(PAGES, 'assets')));
    expect(files.filter((name) => !known.has(`${name}.br`) || !known.has(`${name}.gz`))).toEqual([]);
    expect(readFileSync(join(PAGES, 'public.css'), 'utf8')).toContain('Geist');
  });
});

describe('the first steps', () => {
  it('stay until the first call has arrived, and the third until there is a live key', async () => {
    await stage.open('/', { as: 'new', keys: [{ name: 'Mine', mode: 'test', usedDaysAgo: null }] });
    await stage.page.getByText('Waiting for your first call').waitFor();
    expect(await stage.page.getByRole('link', { name: 'Mine' }).isVisible()).toBe(true);
    await stage.dashboard.pool.query('UPDATE credential SET last_used_at = now() WHERE id = $1', [stage.account.keys[0]]);
    await stage.page.getByText('One step to live data').waitFor();
    await stage.page.getByText('Choose a plan and create a live key').waitFor();
    await stage.page.getByText('Latest requests').waitFor();
    const used = { usedDaysAgo: 0 } as const;
    await stage.open('/', {
      as: 'new',
      keys: [
        { name: 'Mine', mode: 'test', ...used },
        { name: 'Shop', mode: 'live', ...used },
      ],
    });
    await stage.page.getByText('Today at a glance').waitFor();
    expect(await stage.page.getByText('Choose a plan and create a live key').count()).toBe(0);
  });

  inTestAll('are two where the product has neither plans nor test keys, and end with the first call', async () => {
    await stage.begin({ as: 'new', keys: [{ name: 'Mine', mode: 'live', usedDaysAgo: null }] });
    await stage.page.route('**/api/products', async (route) => {
      const response = await route.fetch();
      const data = (await response.json()) as { products: object[] };
      await route.fulfill({
        response,
        json: { ...data, products: data.products.map((each) => ({ ...each, plans: [], takesTestKeys: false })) },
      });
    });
    await stage.goto('/');
    await stage.page.getByText('Two steps to your first response').waitFor();
    expect(await stage.page.getByText('Choose a plan').count()).toBe(0);
    await stage.dashboard.pool.query('UPDATE credential SET last_used_at = now() WHERE id = $1', [stage.account.keys[0]]);
    await stage.page.getByText('Today at a glance').waitFor();
  });
});

describe('the explanation of a refusal', () => {
  it('leads with the check that failed, and mends it by a button that asks first', async () => {
    await stage.begin();
    await stage.goto(`/explain?request=${stage.account.refused}`);
    await stage.page.getByText('Failed: the whitelist admits the caller').waitFor();
    await stage.button('Add 198.51.100.23 to the rules').click();
    expect(stage.changes('PUT', `/api${stage.keyPath()}/rules`)).toEqual([]);
    await stage.page.getByRole('dialog').getByRole('button', { name: 'Add rule' }).click();
    await stage.page.getByText('Rule added').waitFor();
    expect(await stage.read(stage.keyPath())).toMatchObject({
      rules: ['*.example.com', '198.51.100.23', '2001:db8::/32', '203.0.113.0/24'],
    });
  });

  inTestAll('adds no first rule to a key that lets everybody in by now', async () => {
    await stage.begin();
    await stage.dashboard.pool.query('DELETE FROM whitelist_rule WHERE credential_id = $1', [stage.account.keys[0]]);
    await stage.goto(`/explain?request=${stage.account.refused}`);
    await stage.button('Add 198.51.100.23 to the rules').click();
    await stage.page.getByRole('dialog').getByRole('button', { name: 'Add rule' }).click();
    await stage.page.getByText('every caller is allowed. Nothing was changed').waitFor();
    expect(await stage.read(stage.keyPath())).toMatchObject({ rules: [] });
  });
});

describe('the keyboard', () => {
  it('reaches the content past the navigation, and a new page says its name', async () => {
    await stage.open('/keys');
    const focused = (): Promise<string> => stage.page.evaluate('document.activeElement?.id');
    await stage.page.keyboard.press('Tab');
    await stage.page.keyboard.press('Enter');
    await eventually(async () => (await focused()) === 'content');
    await stage.page.getByRole('link', { name: 'Audit log' }).press('Enter');
    await stage.page.getByRole('heading', { name: 'Audit log' }).waitFor();
    await eventually(async () => (await stage.page.evaluate('document.activeElement?.textContent')) === 'Audit log');
  });

  inTestAll('returns to the button that opened a dialog when the dialog is closed', async () => {
    await stage.open('/keys');
    await stage.button('Create a key').press('Enter');
    await stage.page.getByRole('dialog').waitFor();
    await stage.page.keyboard.press('Escape');
    await stage.page.getByRole('dialog').waitFor({ state: 'detached' });
    await eventually(async () => (await stage.page.evaluate('document.activeElement?.textContent')) === 'Create a key');
  });
});

it('a session that ends while a secret is shown does not take it away; closing it leads to the sign-in page', async () => {
  await stage.open('/keys');
  await stage.fillKeyForm();
  await stage.button('Create key').click();
  const secret = stage.page.getByText(/^tg_test_\w+$/);
  await secret.waitFor();
  await stage.endSession();
  const notice = stage.page.getByRole('alert').filter({ hasText: 'Your session has ended' });
  await eventually(async () => {
    // Back from another window: whatever is a few seconds old is asked for again.
    await stage.page.evaluate('window.dispatchEvent(new Event("visibilitychange"))');
    return notice.isVisible();
  }, 20_000);
  expect(await secret.isVisible()).toBe(true);
  await stage.button('I have copied it').click();
  await stage.page.waitForURL(/\/sign-in\?/, { timeout: 15_000 });
});

describe('a server that does not answer', () => {
  it('is said in a banner, which goes once it answers again', async () => {
    await stage.open('/keys');
    await stage.goAway();
    await stage.page.getByRole('link', { name: 'Plans' }).click();
    const banner = stage.page.getByText('The server is not responding');
    await banner.waitFor();
    await stage.page.setViewportSize({ width: 360, height: 480 });
    await stage.page.evaluate('scrollTo(0, document.documentElement.scrollHeight)');
    const bottomOf = async (part: Locator): Promise<number> => {
      const { y, height } = (await part.boundingBox()) ?? { y: Infinity, height: Infinity };
      return y + height;
    };
    expect(await bottomOf(stage.page.getByRole('main'))).toBeLessThan((await banner.boundingBox())?.y ?? 0);
    // Else the banner, which tries by itself, might go before the click.
    let answer: () => void = () => undefined;
    const isAnswering = new Promise<void>((resolve) => (answer = resolve));
    await stage.page.route('**/api/**', (route) => isAnswering.then(() => route.continue()));
    await stage.button('Retry now').click();
    answer();
    await banner.waitFor({ state: 'detached' });
    await stage.page.getByRole('heading', { name: 'Aadhaar' }).waitFor();
  });
});

describe('a page that asks again and again', () => {
  inTestAll('goes on saying that it could not be read while it asks again', async () => {
    await stage.open('/keys');
    await stage.goAway();
    await stage.page.getByRole('link', { name: 'Requests', exact: true }).click();
    const problem = stage.page.getByRole('main').getByText('Data cannot be read right now');
    await problem.waitFor();
    await new Promise<void>((resolve) => void stage.page.route('**/api/requests?*', () => resolve()));
    await stage.page.evaluate('new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))');
    expect(await problem.count()).toBe(1);
  });
});

describe('a page whose content could not be read', () => {
  it.each(
    firstOf<[string, (account: Account) => string]>([
      ['Key', ({ keys }) => `/keys/${keys[0]}`],
      ['Overview', () => '/'],
      ['Webhook', ({ webhook }) => `/webhooks/${webhook}`],
      ['Invitation', ({ invitation }) => `/invitation?token=${invitation}`],
    ]),
  )('is still named %s, and offers another attempt', async (heading, path) => {
    await stage.begin();
    // Who is signed in is known; all else is not.
    await stage.page.route(/\/api\/(?!session|installation)/, (route) => route.fulfill({ status: 500, json: { detail: 'It failed.' } }));
    await stage.page.goto(stage.url + path(stage.account));
    await stage.button('Try again').first().waitFor();
    expect(await stage.page.getByRole('heading', { level: 1 }).allInnerTexts()).toEqual([heading]);
  });
});

describe('a page that could not be opened', () => {
  inTestAll('opens by itself once the server answers again', async () => {
    await stage.begin();
    await stage.goAway();
    await stage.page.goto(`${stage.url}/keys`);
    await stage.page.getByRole('heading', { name: 'This page could not be loaded' }).waitFor();
    await stage.page.getByRole('alert').getByText('Data cannot be read right now').waitFor();
    await stage.comeBack();
    await stage.page.getByRole('heading', { name: 'Keys' }).waitFor({ timeout: 20_000 });
  });
});
