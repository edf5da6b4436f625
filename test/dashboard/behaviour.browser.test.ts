import { gzipSync } from 'node:zlib';
import { type Browser, type Page } from 'playwright-core';
import { eventually } from '../support/eventually';
import { openPage, settle, startBrowser } from './support/browser';
import { startFakeApi, type FakeApi } from './support/fake-api';
import { ago, DAY, makeKey, manyKeys } from './support/fake-data';
import { FakeState } from './support/fake-state';

let browser: Browser;
let api: FakeApi;
let page: Page;

beforeAll(async () => {
  browser = await startBrowser();
});
afterAll(() => browser.close());

async function open(path: string, state = new FakeState()): Promise<void> {
  api = await startFakeApi(state);
  ({ page } = await openPage(browser));
  await page.goto(api.url + path);
  await settle(page);
}

afterEach(async () => {
  await page.context().close();
  await api.close();
});

const button = (name: string) => page.getByRole('button', { name, exact: true });
const changes = (method: string, path: string) => api.state.requests.filter((each) => each.method === method && each.path === path);
const keyPath = (): string => `/keys/${api.state.keys[0]?.id}`;

async function fillKeyForm(): Promise<void> {
  await button('Create a key').click();
  await page.getByRole('dialog').getByLabel('IP lookup').check();
}

describe('the sign-in page', () => {
  it('loads at most 160 KB of script, compressed', async () => {
    const state = new FakeState();
    state.isSignedIn = false;
    api = await startFakeApi(state);
    ({ page } = await openPage(browser));
    const sizes: Promise<number>[] = [];
    page.on('response', (response) => {
      if (response.url().endsWith('.js')) sizes.push(response.body().then((body) => gzipSync(body).length));
    });
    await page.goto(`${api.url}/sign-in`);
    await settle(page);
    await page.waitForLoadState('networkidle');
    const total = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
    expect(total).toBeGreaterThan(50_000);
    expect(total).toBeLessThanOrEqual(160_000);
  });

  it('leads back to where one was', async () => {
    await open('/keys?state=active');
    api.state.isSignedIn = false;
    await page.reload();
    await page.getByLabel('Email').fill('asha@example.com');
    await page.getByLabel('Password', { exact: true }).fill('a long password');
    await button('Sign in').click();
    await page.waitForURL(`${api.url}/keys?state=active`);
  });

  it('leads to no other site, whatever its address says', async () => {
    const state = new FakeState();
    state.isSignedIn = false;
    await open('/sign-in?then=%2F%2Fevil.example%2F', state);
    await page.getByLabel('Email').fill('asha@example.com');
    await page.getByLabel('Password', { exact: true }).fill('a long password');
    await button('Sign in').click();
    await page.waitForURL(`${api.url}/`);
  });
});

describe('the pages of those who are not signed in', () => {
  it('carry the address that was typed over to the form for a new password', async () => {
    const state = new FakeState();
    state.isSignedIn = false;
    await open('/sign-in', state);
    await page.getByLabel('Email').fill('asha@example.com');
    await page.getByRole('link', { name: 'Forgot your password?' }).click();
    await page.getByRole('heading', { name: 'Reset your password' }).waitFor();
    expect(await page.getByLabel('Email').inputValue()).toBe('asha@example.com');
    expect(page.url()).toBe(`${api.url}/forgot`);
  });

  it('offer no second account to who is signed in', async () => {
    await open('/sign-up');
    await page.waitForURL(`${api.url}/`);
  });
});

describe('the link of the mail that confirms an address', () => {
  const confirm = async (password: string) => {
    await page.getByLabel('Password', { exact: true }).fill(password);
    await button('Confirm and sign in').click();
  };

  it('asks for the password, and signs in with the right one', async () => {
    const state = new FakeState();
    state.isSignedIn = false;
    await open('/verify?token=not-a-real-one', state);
    expect(page.url()).toBe(`${api.url}/verify`);
    expect(state.requests).toEqual([]);
    await confirm('wrong password');
    await page.getByRole('alert').getByText('This is not the password').waitFor();
    await confirm('a long password');
    await page.waitForURL(`${api.url}/`);
    expect(changes('POST', '/api/auth/verify-email').map(({ body }) => body)).toEqual([
      { token: 'not-a-real-one', password: 'wrong password' },
      { token: 'not-a-real-one', password: 'a long password' },
    ]);
  });

  it('names the address that it is for, and still works after a reload', async () => {
    const state = new FakeState();
    state.isSignedIn = false;
    const token = `head.${Buffer.from(JSON.stringify({ email: 'asha@example.com' })).toString('base64url')}.signature`;
    await open(`/verify?token=${token}`, state);
    await page.getByText('asha@example.com').waitFor();
    await page.reload();
    await page.getByText('asha@example.com').waitFor();
    expect(page.url()).toBe(`${api.url}/verify`);
    await confirm('a long password');
    await page.waitForURL(`${api.url}/`);
    expect(changes('POST', '/api/auth/verify-email').map(({ body }) => body['token'])).toEqual([token]);
  });

  it('offers a new one when it is too old', async () => {
    const state = new FakeState();
    state.isSignedIn = false;
    await open('/verify?token=too-old', state);
    await confirm('a long password');
    await page.getByRole('heading', { name: 'This link does not work' }).waitFor();
    await page.getByLabel('Email').fill('asha@example.com');
    await button('Send a new link').click();
    await page.getByText('an email is on its way').waitFor();
    expect(changes('POST', '/api/auth/send-verification-email').map(({ body }) => body)).toEqual([{ email: 'asha@example.com' }]);
  });
});

describe('a session that ended under an open page', () => {
  it('is noticed by itself and leads to the sign-in page', async () => {
    await open('/usage');
    api.state.isSignedIn = false;
    await page.waitForURL(/\/sign-in\?.*then=/);
    await page.getByText('Your session has ended').waitFor();
  });
});

describe('a session that ends while a secret is shown', () => {
  it.each([
    ['a new key', '/keys', /^tg_test_\w+$/],
    ['the secret of a webhook', '/webhooks', /^whsec_\w+=$/],
  ])('does not take %s away; closing it leads to the sign-in page', async (_what, path, secret) => {
    await open(path);
    if (path === '/keys') {
      await fillKeyForm();
      await button('Create key').click();
    } else {
      await button('Add a webhook').first().click();
      await page.getByRole('dialog').getByLabel('URL').fill('https://hooks.example.com/tollgate');
      await page.getByRole('dialog').getByRole('button', { name: 'Add webhook' }).click();
    }
    await page.getByText(secret).waitFor();
    api.state.isSignedIn = false;
    const notice = page.getByRole('alert').filter({ hasText: 'Your session has ended' });
    await eventually(async () => {
      // Back from another window: whatever is a few seconds old is asked for again.
      await page.evaluate('window.dispatchEvent(new Event("visibilitychange"))');
      return notice.isVisible();
    }, 20_000);
    expect(await page.getByText(secret).isVisible()).toBe(true);
    await button('I have copied it').click();
    await page.waitForURL(/\/sign-in\?/, { timeout: 15_000 });
  });
});

describe('the first steps', () => {
  it('stay until the first call has arrived', async () => {
    await open('/', Object.assign(FakeState.empty(), { keys: [makeKey({ name: 'Mine', mode: 'test', lastUsedAt: null })] }));
    await page.getByText('Waiting for your first call').waitFor();
    expect(await page.getByRole('link', { name: 'Mine' }).isVisible()).toBe(true);
    api.state.changeKey(api.state.keys[0]?.id ?? '', { lastUsedAt: ago(0) });
    await page.getByText('Today at a glance').waitFor();
  });
});

describe('adding a webhook', () => {
  it('asks for https, and for a receiver on this machine where that is called as well', async () => {
    await open('/webhooks');
    const dialog = page.getByRole('dialog');
    const add = async (url: string): Promise<void> => {
      await button('Add a webhook').click();
      await dialog.getByLabel('URL').fill(url);
      await dialog.getByRole('button', { name: 'Add webhook' }).click();
    };
    await add('http://127.0.0.1:9000/');
    await dialog.getByText('Enter a URL that starts with https://.').waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    api.state.mayBePrivate = true;
    await page.reload();
    await settle(page);
    await add('http://127.0.0.1:9000/');
    await page.getByText(/^whsec_/).waitFor();
  });
});

describe('the reference', () => {
  it('begins at the top of another route, and Back leads to where one was', async () => {
    await open('/reference?operation=get_ip');
    const top = (): Promise<number> => page.evaluate('window.scrollY');
    await page.getByRole('link', { name: 'SEO research' }).click();
    await page.getByRole('heading', { name: '/seo' }).waitFor();
    await page.evaluate('window.scrollTo(0, 500)');
    await eventually(async () => (await top()) === 500);
    await page.getByRole('navigation', { name: 'Routes' }).getByRole('link', { name: '/seo/serp' }).click();
    await page.getByRole('heading', { name: '/seo/serp' }).waitFor();
    await eventually(async () => (await top()) === 0);
    await page.goBack();
    await eventually(async () => (await top()) === 500);
  });
});

describe('creating a key', () => {
  it('sends one request for a double click', async () => {
    await open('/keys');
    await fillKeyForm();
    let answer: () => void = () => undefined;
    api.state.isAnswering = new Promise((resolve) => (answer = resolve));
    await button('Create key').dblclick();
    answer();
    await page.getByText('First call', { exact: true }).waitFor();
    expect(changes('POST', '/api/keys')).toHaveLength(1);
  });

  it('has its button in sight on a screen of 800 px', async () => {
    api = await startFakeApi(new FakeState());
    ({ page } = await openPage(browser, { viewport: { width: 1280, height: 800 } }));
    await page.goto(`${api.url}/keys`);
    await settle(page);
    await fillKeyForm();
    const box = await button('Create key').boundingBox();
    expect((box?.y ?? 9_999) + (box?.height ?? 0)).toBeLessThanOrEqual(800);
    await page.getByRole('dialog').getByLabel('Whitelist rules').fill('10.0.0.0/8');
    expect(await page.getByRole('dialog').getByLabel('Whitelist rules').inputValue()).toBe('10.0.0.0/8');
  });

  it('tells which key it made when the answer was lost', async () => {
    await open('/keys');
    await page.route(
      '**/api/keys',
      async (route) => {
        if (route.request().method() !== 'POST') return route.fallback();
        await route.fetch();
        return route.abort();
      },
      { times: 1 },
    );
    await fillKeyForm();
    await button('Create key').click();
    await page.getByText('The server cannot be reached').waitFor();
    await button('Create key').click();
    await page.getByText('This form already created its key').waitFor();
    const [first, second] = changes('POST', '/api/keys');
    expect(second?.body['submission']).toBe(first?.body['submission']);
  });

  it('leaves no trace of the secret once its dialog is closed', async () => {
    await open('/', FakeState.empty());
    await button('Create a test key').click();
    await page.getByRole('dialog').getByLabel('IP lookup').waitFor();
    await button('Create key').click();
    const shown = page.getByText(/^tg_test_\w+$/);
    await shown.waitFor();
    const secret = await shown.innerText();
    await button('I have copied it').click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    const kept = await page.evaluate(
      '[document.documentElement.outerHTML, location.href, JSON.stringify([localStorage, sessionStorage, history.state])].join()',
    );
    expect(kept).not.toContain(secret);
  });
});

describe('a secret that was not copied yet', () => {
  const secret = () => page.getByText(/^tg_test_\w+$/);
  async function create(): Promise<void> {
    await open('/plans');
    await page.getByRole('link', { name: 'Keys' }).click();
    await page.getByRole('heading', { name: 'Keys' }).waitFor();
    await fillKeyForm();
    await button('Create key').click();
    await secret().waitFor();
  }

  it('is not lost by Back, which asks first', async () => {
    await create();
    await page.goBack().catch(() => undefined);
    await page.getByRole('alert').getByText('You have not copied it yet').waitFor();
    await button('Stay').click();
    expect(await secret().isVisible()).toBe(true);
    await page.goBack().catch(() => undefined);
    await button('Leave without it').click();
    await page.getByRole('heading', { name: 'Plans' }).waitFor();
  });

  it('is not lost by a reload, which asks first; once copied, nothing asks', async () => {
    await create();
    const asked = page.waitForEvent('dialog');
    void page.evaluate('location.reload()').catch(() => undefined);
    const question = await asked;
    expect(question.type()).toBe('beforeunload');
    await question.dismiss();
    expect(await secret().isVisible()).toBe(true);
    await button('Copy key').click();
    await button('Copied').waitFor();
    await page.goBack();
    await page.getByRole('heading', { name: 'Plans' }).waitFor();
  });
});

describe('a rotation', () => {
  it('is told by both keys, and a second one warns first', async () => {
    await open('/keys');
    await page.goto(api.url + keyPath());
    await settle(page);
    await button('Rotate').click();
    const dialog = page.getByRole('dialog');
    expect(await dialog.getByText('This key was rotated before').isVisible()).toBe(false);
    await dialog.getByRole('button', { name: 'Rotate' }).click();
    await button('Copy key').click();
    await button('I have copied it').click();
    await page.getByText('Replaced by').getByRole('link', { name: 'tg_test…2mZ9' }).waitFor();
    await page.getByText('This key ends in 24 hours.').waitFor();
    await button('Rotate').click();
    await dialog.getByText('This key was rotated before').waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('link', { name: 'tg_test…2mZ9' }).click();
    await page.getByText('Replaces').getByRole('link', { name: 'tg_live…1a2B' }).waitFor();
  });
});

describe('the simulator', () => {
  it('takes its verdict back when the rules change under it', async () => {
    await open('/keys');
    await page.goto(api.url + keyPath());
    await settle(page);
    await page.getByLabel('IP address').fill('203.0.113.7');
    await button('Test').click();
    const verdict = page.getByText('Allowed', { exact: true });
    await verdict.waitFor();
    await page.getByLabel('One rule per line').fill('198.51.100.0/24');
    await verdict.waitFor({ state: 'detached' });
  });
});

describe('the explanation of a refusal', () => {
  it('leads with the check that failed, and mends it by a button that asks first', async () => {
    await open('/explain');
    const { requestId } = api.state.refusals[0] ?? { requestId: '' };
    await page.goto(`${api.url}/explain?request=${requestId}`);
    await page.getByText('Failed: the whitelist admits the caller').waitFor();
    await button('Add 198.51.100.23 to the rules').click();
    expect(changes('PUT', `/api${keyPath()}/rules`)).toEqual([]);
    await page.getByRole('dialog').getByRole('button', { name: 'Add rule' }).click();
    await page.getByText('Rule added').waitFor();
    expect(api.state.keys[0]?.rules).toEqual(['203.0.113.0/24', '2001:db8::/32', '*.example.com', '198.51.100.23']);
  });

  it('adds no first rule to a key that lets everybody in by now', async () => {
    await open('/explain');
    api.state.changeKey(api.state.keys[0]?.id ?? '', { rules: [] });
    const { requestId } = api.state.refusals[0] ?? { requestId: '' };
    await page.goto(`${api.url}/explain?request=${requestId}`);
    await button('Add 198.51.100.23 to the rules').click();
    await page.getByRole('dialog').getByRole('button', { name: 'Add rule' }).click();
    await page.getByText('every caller is allowed. Nothing was changed').waitFor();
    expect(api.state.keys[0]?.rules).toEqual([]);
  });
});

describe('edits that were not saved', () => {
  const ask = () => page.getByRole('dialog', { name: 'Leave without saving?' });

  it.each([
    ['settings', 'Name'],
    ['rules', 'One rule per line'],
  ])('are not dropped by a link: %s', async (_what, field) => {
    await open('/keys');
    await page.getByRole('link', { name: 'Checkout server' }).click();
    await page.getByLabel(field, { exact: true }).fill('203.0.113.9');
    await page.getByRole('link', { name: 'Usage', exact: true }).click();
    await ask().waitFor();
    await button('Keep editing').click();
    await ask().waitFor({ state: 'detached' });
    expect(await page.getByLabel(field, { exact: true }).inputValue()).toBe('203.0.113.9');
    await page.getByRole('link', { name: 'Usage', exact: true }).click();
    await button('Leave without saving').click();
    await page.getByRole('heading', { name: 'Usage', exact: true }).waitFor();
  });

  it('are not dropped by a reload; once saved, nothing asks', async () => {
    await open('/keys');
    await page.getByRole('link', { name: 'Checkout server' }).click();
    await page.getByLabel('Name', { exact: true }).fill('Renamed');
    const asked = page.waitForEvent('dialog');
    void page.evaluate('location.reload()').catch(() => undefined);
    await (await asked).dismiss();
    await button('Save settings').click();
    await page.getByRole('heading', { name: 'Renamed' }).waitFor();
    await page.getByRole('link', { name: 'Usage', exact: true }).click();
    await page.getByRole('heading', { name: 'Usage', exact: true }).waitFor();
  });

  it('are not dropped by a click beside the form of a new key', async () => {
    await open('/keys');
    await button('Create a key').click();
    await page.getByRole('dialog').getByLabel('Name', { exact: true }).fill('Half a name');
    await page.keyboard.press('Escape');
    await page.mouse.click(5, 400);
    expect(await page.getByRole('dialog').getByLabel('Name', { exact: true }).inputValue()).toBe('Half a name');
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  });
});

describe('a page of a list', () => {
  it('is named by the address: a reload, a link and Back keep the place', async () => {
    await open('/keys', Object.assign(new FakeState(), { keys: manyKeys(100) }));
    await button('Next').click();
    await button('Next').click();
    await page.getByText('Customer 00051').waitFor();
    await page.reload();
    await page.getByText('Customer 00051').waitFor();
    await button('Previous').click();
    await page.getByText('Customer 00026').waitFor();
    await page.goBack();
    await page.getByText('Customer 00051').waitFor();
    const address = page.url();
    const { page: other } = await openPage(browser);
    await other.goto(address);
    await other.getByText('Page 3').waitFor();
    await other.getByRole('button', { name: 'First page' }).click();
    await other.getByText('Customer 00001').waitFor();
    await other.context().close();
  });

  it('begins at the first page again with another filter', async () => {
    await open('/keys', Object.assign(new FakeState(), { keys: manyKeys(100) }));
    await button('Next').click();
    await page.getByText('Customer 00026').waitFor();
    await page.getByLabel('State').selectOption('active');
    await page.getByText('Customer 00001').waitFor();
    expect(new URL(page.url()).search).toBe('?state=active');
  });
});

describe('a list that stays open', () => {
  it('shows by itself that a key was used', async () => {
    await open('/keys', Object.assign(new FakeState(), { keys: [makeKey({ name: 'Fresh', lastUsedAt: null, expiresAt: ago(-9 * DAY) })] }));
    await page.getByText('never', { exact: true }).waitFor();
    api.state.changeKey(api.state.keys[0]?.id ?? '', { lastUsedAt: ago(0) });
    await page.getByText('just now').waitFor();
  });
});

describe('a name that is hard to set', () => {
  it.each([
    ['without a place to break', 'N'.repeat(100)],
    ['that turns what follows it around', `\u202e${'gnorts'.repeat(8)}`],
  ])('%s breaks no page of a phone', async (_what, name) => {
    const state = Object.assign(new FakeState(), { keys: [makeKey({ name })] });
    api = await startFakeApi(state);
    ({ page } = await openPage(browser, { viewport: { width: 390, height: 844 } }));
    for (const path of ['/keys', `/keys/${state.keys[0]?.id}`]) {
      await page.goto(api.url + path);
      await settle(page);
      const shown = page.locator('bdi', { hasText: name });
      expect(await shown.first().isVisible()).toBe(true);
      expect(await page.evaluate('document.documentElement.scrollWidth - window.innerWidth')).toBeLessThanOrEqual(0);
    }
  });
});

describe('two people who edit one key', () => {
  it('lose nothing: the second sees what changed and saves on top of it', async () => {
    await open('/keys');
    await page.goto(api.url + keyPath());
    await settle(page);
    const id = api.state.keys[0]?.id ?? '';
    await page.getByLabel('Name', { exact: true }).fill('Mine');
    api.state.changeKey(id, { name: 'Theirs' });
    await button('Save settings').click();
    const notice = page.getByRole('alert').filter({ hasText: 'changed elsewhere' });
    await notice.getByText('Theirs').waitFor();
    expect(api.state.key(id).name).toBe('Theirs');
    await button('Keep my edits').click();
    await button('Save settings').click();
    await eventually(() => api.state.key(id).name === 'Mine');
  });
});

describe('a server that does not answer', () => {
  it('is said in a banner, which goes once it answers again', async () => {
    await open('/keys');
    api.state.isAway = true;
    await page.getByRole('link', { name: 'Plans' }).click();
    const banner = page.getByText('The server is not responding');
    await banner.waitFor();
    // Else the banner, which tries by itself, might go before the click.
    let answer: () => void = () => undefined;
    api.state.isAnswering = new Promise((resolve) => (answer = resolve));
    await button('Retry now').click();
    api.state.isAway = false;
    answer();
    await banner.waitFor({ state: 'detached' });
    await page.getByRole('heading', { name: 'Aadhaar' }).waitFor();
  });
});

describe('a page that could not be opened', () => {
  it('opens by itself once the server answers again', async () => {
    const state = new FakeState();
    state.isAway = true;
    api = await startFakeApi(state);
    ({ page } = await openPage(browser));
    await page.goto(`${api.url}/keys`);
    await page.getByRole('heading', { name: 'This page could not be loaded' }).waitFor();
    api.state.isAway = false;
    await page.getByRole('heading', { name: 'Keys' }).waitFor({ timeout: 20_000 });
  });

  it('shows its content once any request is answered again', async () => {
    await open('/keys');
    api.state.isAway = true;
    await page.getByRole('link', { name: 'Checkout server' }).click();
    await page.getByRole('alert').first().waitFor();
    api.state.isAway = false;
    await page.getByLabel('One rule per line').waitFor({ timeout: 20_000 });
  });
});

describe('a plan that is given on request', () => {
  it('is asked for with its price, shows as requested, and is withdrawn', async () => {
    await open('/plans');
    await button('Request Star of Glead').click();
    await button('Request Star for ₹999.00 a month').click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(changes('POST', '/api/plan-requests')[0]?.body).toMatchObject({
      product: 'api-glead',
      plan: 'Star',
      terms: { price: '999.00', currency: 'INR' },
    });
    await button('Withdraw the request: Glead').click();
    await button('Withdraw the request').click();
    await button('Request Star of Glead').waitFor();
  });

  it('says why it was declined, and can be asked for again', async () => {
    await open('/plans');
    await page.getByText('Please send us your company’s registration first.').waitFor();
    expect(await button('Request Star of Aadhaar').isVisible()).toBe(true);
  });
});

describe('changing a plan', () => {
  it('shows both plans with their prices, warns of a limit that falls, and sends what was agreed to', async () => {
    await open('/plans');
    await button('Change IP lookup to Base').click();
    const row = (name: RegExp) => page.getByRole('dialog').getByRole('row', { name });
    await row(/Plan Star Base/).waitFor();
    await row(/Requests a day 100,000 1,000/).waitFor();
    await row(/Price a month ₹499.00 Free/).waitFor();
    await page.getByText('The daily limit falls from 100,000 to 1,000 requests.').waitFor();
    await button('Change to Base for free').click();
    await page.getByText('You have used more than this plan allows').waitFor();
    expect(api.state.requests.at(-1)?.body).toMatchObject({
      plan: null,
      terms: { daily: 1_000, monthly: 30_000, price: null, currency: null },
    });
  });

  it('says that today’s use is above the new limit before anything changes', async () => {
    await open('/plans');
    await button('Change IP lookup to Base').click();
    await button('Change to Base for free').click();
    await page.getByText('You have used more than this plan allows').waitFor();
    expect(api.state.subscriptions[0]?.plan).toBe('Star');
    await button('Change to Base for free anyway').click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(api.state.subscriptions.find((each) => each.product === 'api-ip')?.plan).toBeNull();
  });
});

describe('an account with names that look like markup', () => {
  it('shows them as they were typed', async () => {
    await open('/keys');
    await page.getByText('<b>bold</b> & “quoted” 🚚📦', { exact: true }).waitFor();
  });
});

describe('the keyboard', () => {
  it('reaches the content past the navigation, and a new page says its name', async () => {
    await open('/keys');
    const focused = (): Promise<string> => page.evaluate('document.activeElement?.id');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await eventually(async () => (await focused()) === 'content');
    await page.getByRole('link', { name: 'Audit log' }).press('Enter');
    await page.getByRole('heading', { name: 'Audit log' }).waitFor();
    await eventually(async () => (await page.evaluate('document.activeElement?.textContent')) === 'Audit log');
  });

  it('returns to the button that opened a dialog when the dialog is closed', async () => {
    await open('/keys');
    await button('Create a key').press('Enter');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await eventually(async () => (await page.evaluate('document.activeElement?.textContent')) === 'Create a key');
  });
});

describe('the account page', () => {
  it('deletes the account by the password, and says on the sign-in page how to keep it', async () => {
    await open('/account');
    await button('Delete account…').click();
    await page.getByLabel('Your password').fill('a long password');
    await button('Delete account').click();
    await page.getByText('To keep it, sign in before then.').waitFor();
    expect(changes('POST', '/api/account/delete').map(({ body }) => body)).toEqual([{ password: 'a long password' }]);
  });

  it('exports what is known of the person as a file', async () => {
    await open('/account');
    await button('Export…').click();
    await page.getByLabel('Your password').fill('a long password');
    const [file] = await Promise.all([page.waitForEvent('download'), button('Export').click()]);
    expect(file.suggestedFilename()).toBe('tollgate-account.json');
    await page.getByText('Your data was exported.').waitFor();
  });

  it('asks for a new address, and the page of its links takes the token out of the address bar', async () => {
    await open('/account');
    await page.getByLabel('New email address').fill(' asha.new@example.com ');
    await page.getByLabel('Account password').fill('a long password');
    await button('Change email address').click();
    await page.getByText('Open both within an hour').waitFor();
    expect(changes('POST', '/api/account/email').map(({ body }) => body)).toEqual([
      { email: 'asha.new@example.com', password: 'a long password' },
    ]);
    await page.goto(`${api.url}/confirm-email?token=first`);
    await button('Confirm').waitFor();
    expect([page.url(), changes('POST', '/api/account/email/confirm')]).toEqual([`${api.url}/confirm-email`, []]);
    await page.reload();
    await button('Confirm').click();
    await page.getByText('Now open the link in the mail to the other address').waitFor();
    expect(changes('POST', '/api/account/email/confirm').map(({ body }) => body)).toEqual([{ token: 'first' }]);
  });
});
