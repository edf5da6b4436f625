import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Locator } from 'playwright-core';
import { eventually } from '../../support/eventually';
import { firstOf, inTestAll } from '../../support/scenes';
import { settle } from '../support/browser';
import { type Account } from '../support/page-accounts';
import { PAGES } from '../support/page-dashboard';
import { PageStage } from '../support/page-stage';
import { MAX_WEIGHT, weigh } from '../support/page-weight';

const stage = PageStage.forFile();

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

describe('adding a webhook', () => {
  inTestAll('asks for https, and for a receiver on this machine where that is called as well', async () => {
    await stage.open('/webhooks');
    const dialog = stage.page.getByRole('dialog');
    const add = async (url: string): Promise<void> => {
      await stage.button('Add a webhook').click();
      await dialog.getByLabel('URL').fill(url);
      await dialog.getByRole('button', { name: 'Add webhook' }).click();
    };
    await add('http://127.0.0.1:9000/');
    await dialog.getByText('Enter a URL that starts with https://.').waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    // As the embedded run says.
    await stage.page.route('**/api/webhooks', async (route) => {
      if (route.request().method() !== 'GET') return route.fallback();
      const answer = await route.fetch();
      return route.fulfill({ response: answer, json: { ...((await answer.json()) as object), mayBePrivate: true } });
    });
    await stage.page.reload();
    await settle(stage.page);
    await add('http://127.0.0.1:9000/');
    await eventually(() => stage.changes('POST', '/api/webhooks').length === 1);
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

describe('a session that ended under an open page', () => {
  inTestAll('is noticed by itself and leads to the sign-in page', async () => {
    await stage.open('/usage');
    await stage.endSession();
    await stage.page.waitForURL(/\/sign-in\?.*then=/);
    await stage.page.getByText('Your session has ended').waitFor();
  });
});

describe('a session that ends while a secret is shown', () => {
  it.each(
    firstOf([
      ['a new key', '/keys', /^tg_test_\w+$/],
      ['the secret of a webhook', '/webhooks', /^whsec_[A-Za-z0-9+/]+=*$/],
    ] as const),
  )('does not take %s away; closing it leads to the sign-in page', async (_what, path, secret) => {
    await stage.open(path);
    if (path === '/keys') {
      await stage.fillKeyForm();
      await stage.button('Create key').click();
    } else {
      await stage.button('Add a webhook').first().click();
      await stage.page.getByRole('dialog').getByLabel('URL').fill('https://hooks.example.com/tollgate');
      await stage.page.getByRole('dialog').getByRole('button', { name: 'Add webhook' }).click();
    }
    await stage.page.getByText(secret).waitFor();
    await stage.endSession();
    const notice = stage.page.getByRole('alert').filter({ hasText: 'Your session has ended' });
    await eventually(async () => {
      // Back from another window: whatever is a few seconds old is asked for again.
      await stage.page.evaluate('window.dispatchEvent(new Event("visibilitychange"))');
      return notice.isVisible();
    }, 20_000);
    expect(await stage.page.getByText(secret).isVisible()).toBe(true);
    await stage.button('I have copied it').click();
    await stage.page.waitForURL(/\/sign-in\?/, { timeout: 15_000 });
  });
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

describe('a page that is loading', () => {
  inTestAll('has placeholders that stand still for people who ask for less motion', async () => {
    await stage.begin();
    await stage.page.route(/\/api\/keys(\?|$)/, () => undefined);
    await stage.page.goto(`${stage.url}/keys`);
    const placeholder = '.mantine-Skeleton-root[data-animate]';
    await stage.page.locator(placeholder).first().waitFor();
    const motion = async (reducedMotion: 'reduce' | 'no-preference'): Promise<string> => {
      await stage.page.emulateMedia({ reducedMotion });
      return stage.page.evaluate<string>(`getComputedStyle(document.querySelector('${placeholder}'), '::after').animationName`);
    };
    expect(await motion('no-preference')).not.toBe('none');
    expect(await motion('reduce')).toBe('none');
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
