import { readFileSync, writeFileSync } from 'node:fs';
import { type IncomingMessage, type Server } from 'node:http';
import { join } from 'node:path';
import { type Pool } from 'pg';
import { type Browser, type Page } from 'playwright-core';
import { createPool } from '../../../plugins/stores/postgres/pool';
import { createKey } from '../../../services/selling/keys/create-key';
import { expireKey } from '../../../services/selling/keys/set-key-state';
import { suspendCustomer, suspendKey } from '../../../services/selling/suspensions/suspend';
import { eventually } from '../../support/eventually';
import { namesIn } from '../../support/example-names';
import { type FaultProxy, openFaultProxy } from '../../support/faults/fault-proxy';
import { closeConnections, type Reply, send, serve } from '../../support/http';
import { openedForTests } from '../../support/opened';
import { inTestAll, runsEveryScene } from '../../support/scenes';
import { step } from '../../support/step';
import { testDatabase } from '../../support/postgres/postgres';
import { startTestRedis } from '../../support/redis/redis';
import { type RunningInstance, startInstance } from '../../support/system/instance';
import { ownShop } from '../../support/system/own-shop';
import { runOn } from '../../support/system/run-on';
import { openPage, seeAll, settle, startBrowser } from '../support/browser';
import { enterPassword, type Entrant, setFirstPassword, setUpSecondFactor, signUp } from '../support/entrances';
import { WEATHER_DOCUMENT } from './weather-document';

const PASSWORD = 'eleven purple rickshaws';
const [CUSTOMER, SUSPENDED, OPERATOR] = ['asha@example.com', 'ravi@example.com', 'ops@tollgate.example'];
/** Of the gateway, for the API to answer in. */
const READ_TIMEOUT_MS = 1_500;

const opened = openedForTests();
/** What the API does now with a request, and those that it has seen. */
let api: { mode: 'well' | 'slow' | 'failing'; readonly server: Server; readonly port: number; readonly seen: IncomingMessage[] };
let instance: RunningInstance;
let [toPostgres, toRedis]: readonly FaultProxy[] = [];
let database: Pool;
let browser: Browser;
let [customer, stranger]: readonly Entrant[] = [];

function given<T>(part: T | undefined): T {
  if (part === undefined) throw new Error('the set-up has not come so far');
  return part;
}

async function startApi(): Promise<typeof api> {
  const { server, port } = await serve((request, response) => {
    api.seen.push(request);
    if (api.mode === 'slow') return;
    response.statusCode = api.mode === 'failing' ? 500 : 200;
    response.end('{"forecast":"rain"}');
  });
  return { mode: 'well', server, port, seen: [] };
}

/** Weather with a document; rivers, which is another product; and tides, with one free request a day and a plan that has more. */
function openShop(): string {
  const shop = ownShop();
  void opened.keep(Promise.resolve(shop), (each) => each.remove());
  for (const name of ['weather', 'rivers', 'tides']) {
    shop.tollgate('product', 'new', name, '--url', `http://127.0.0.1:${api.port}`, '--daily', name === 'tides' ? '1' : '1000');
    if (name === 'weather') shop.addMembers('test_keys: live', 'first_call: /weather/pune', 'openapi: weather.json');
  }
  const change = (name: string, by: (text: string) => string): void => {
    const file = join(shop.folder, name);
    writeFileSync(file, by(readFileSync(file, 'utf8')));
  };
  // Tides are the last.
  const gold = "[{ name: Gold, daily: 1000, monthly: 30000, price: '499.00', currency: INR }]";
  change('catalogue.yml', (text) => text.replace(/plans: \[\](?![^]*plans:)/, `plans: ${gold}`));
  change('kong.yml', (text) => text.replaceAll(/read_timeout: \d+/g, `read_timeout: ${READ_TIMEOUT_MS}`));
  writeFileSync(join(shop.folder, 'weather.json'), JSON.stringify(WEATHER_DOCUMENT));
  writeFileSync(join(shop.folder, 'brand.yml'), 'support: help@example.com\n');
  return shop.folder;
}

/** Somebody with a page of their own. */
async function entrant(email: string): Promise<Entrant> {
  const { page } = await openPage(browser);
  return { page, dashboard: instance.dashboard, email, password: PASSWORD };
}

beforeAll(async () => {
  api = await opened.keep(startApi(), ({ server }) => server.close());
  const postgres = await opened.keep(testDatabase({ empty: true }));
  const redis = await opened.keep(startTestRedis());
  [toPostgres, toRedis] = [await opened.keep(openFaultProxy(postgres.url)), await opened.keep(openFaultProxy(redis.url))];
  database = await opened.keep(Promise.resolve(createPool(postgres.url, { max: 2 })));
  const env = { TOLLGATE_CONFIG: openShop(), DATABASE_URL: toPostgres.url, REDIS_URL: toRedis.url };
  instance = await opened.keep(startInstance(env));
  browser = await opened.keep(startBrowser());
  [customer, stranger] = [await entrant(CUSTOMER), await entrant('nobody@example.com')];
  await signUp(customer);
});
afterAll(closeConnections);

const call = (path: string, key?: string): Promise<Reply> =>
  send(instance.gateway + path, key === undefined ? {} : { headers: { 'X-API-Key': key } });
const keyFor = (product: string, email = CUSTOMER): Promise<{ key: string; id: string }> =>
  createKey(database, { customer: email, products: [product], actor: 'test' });

/** All that a page says, to people or to programs, without its scripts, styles and pictures. */
function textOf(html: string): string {
  return html.replaceAll(/<(script|style)\b[^>]*>[^]*?<\/\1>/g, '').replaceAll(/data:[\w/+;=,-]+/g, '');
}

/** Public pages come whole from the server. Only pages of the app need the browser. */
async function readPage(page: Page, url: string): Promise<string> {
  const html = await (await page.request.get(url)).text();
  if (!html.includes('id="root"')) return html;
  await page.goto(url);
  await settle(page);
  // Some parts of a page ask for more once it is shown.
  await page.waitForLoadState('networkidle');
  await seeAll(page);
  return page.content();
}

/** Opens these pages and, where told to, all that links lead to. @returns where pages name the example, and their paths */
async function readPages(page: Page, starts: readonly string[], { follows }: { follows: boolean }): Promise<[string[], string[]]> {
  const waiting = [...starts];
  const paths = new Set(starts);
  const named: string[] = [];
  for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
    const html = await readPage(page, instance.dashboard + path);
    named.push(...namesIn(path, textOf(html)));
    if (starts.includes(path)) expect([path, textOf(html)]).toEqual([path, expect.stringMatching(/weather/i)]);
    const links = [...html.matchAll(/<a\b[^>]*\shref="([^"]*)"/g)].map(([, href = '']) => new URL(href, instance.dashboard + path));
    for (const { origin, pathname } of follows ? links : []) {
      if (origin !== instance.dashboard || /\.(json|txt|xml|csv)$|^\/api\//.test(pathname) || paths.has(pathname)) continue;
      paths.add(pathname);
      waiting.push(pathname);
    }
    // More than there are: a walk that finds ever new ones is a defect of the walk.
    if (paths.size > 80) throw new Error(`too many pages: ${[...paths].join(' ')}`);
  }
  return [named, [...paths]];
}

// In `npm test` test/core/catalogue/catalogue.test.ts holds that no source of a page names one: the main pages of the application are opened.
it('products of one’s own: no page, mail, description or command names a product of the example catalogue', async () => {
  const { page } = given(customer);

  await step('the first screen begins with the own product, and help is in the navigation', async () => {
    await page.getByText(/^tg_test_\w+$/).waitFor();
    expect(await page.locator('main').innerText()).toContain('/weather/pune');
    const help = page.getByRole('group', { name: 'Help' }).getByRole('link');
    expect(await help.allInnerTexts()).toEqual(['Docs', 'API reference', 'Status', 'Support']);
    expect(await help.last().getAttribute('href')).toBe('mailto:help@example.com');
  });

  await step('nothing that is public', async () => {
    const [named, paths] = await readPages(given(stranger).page, ['/', '/products', '/reference/weather'], { follows: true });
    expect([named, paths]).toEqual([[], expect.arrayContaining(['/products', '/reference/weather', '/reference/errors', '/sign-in'])]);
    for (const file of ['/openapi.json', '/llms.txt', '/sitemap.xml'])
      expect(namesIn(file, (await send(instance.dashboard + file)).text)).toEqual([]);
    for (const path of ['/', '/openapi.json', '/nowhere'])
      expect(namesIn(`gateway ${path}`, (await send(instance.gateway + path)).text)).toEqual([]);
  });

  await step('its reference makes a call of each kind of parameter, which the API itself answers', async () => {
    await page.goto(`${instance.dashboard}/reference/weather`);
    const form = page.getByRole('form', { name: 'Try GET /weather/{city}/days{range}', exact: true });
    await form.getByLabel('units').fill('celsius, kelvin');
    await form.getByRole('button', { name: 'Run it here' }).click();
    await form.getByText(/^Status 200 after \d+ ms$/).waitFor();
    const { url, headers } = api.seen.at(-1) ?? {};
    expect(`${url} ${headers?.cookie}`).toBe('/pune/days;from=1;upto=3?units=celsius&units=kelvin theme=dark');
    expect(namesIn('reference', textOf(await page.content()))).toEqual([]);
  });

  await step('no page of the customer', async () => {
    const [named] = await readPages(page, ['/keys', '/plans', '/usage', '/requests', '/alerts'], { follows: runsEveryScene });
    expect(named).toEqual([]);
  });

  await step('no page of the operator', async () => {
    const operator = await entrant(OPERATOR);
    const { stdout } = await runOn(instance, 'operator', 'create', '--email', OPERATOR, '--json');
    await setFirstPassword(operator, (JSON.parse(stdout) as { link: string }).link);
    await enterPassword(operator);
    await setUpSecondFactor(operator);
    const [named] = await readPages(operator.page, ['/operator/products', '/operator/requests'], { follows: runsEveryScene });
    expect(named).toEqual([]);
  });

  await step('no mail', async () => {
    await page.goto(`${instance.dashboard}/outbox`);
    await page.getByRole('article').filter({ hasText: 'Confirm your email address' }).first().waitFor();
    expect(namesIn('mail', textOf(await page.content()))).toEqual([]);
  });

  await step('no command', async () => {
    const refused = String((await call('/weather/pune', (await keyFor('rivers')).key)).headers['x-kong-request-id']);
    await eventually(async () => (await database.query('SELECT FROM decision WHERE request_id = $1', [refused])).rowCount === 1);
    const month = new Date().toISOString().slice(0, 7);
    const of = `--customer ${CUSTOMER}`;
    const lists = ['check', 'catalogue check', 'catalogue diff', 'customer list', `customer show ${CUSTOMER}`, `key list ${of}`];
    const more = [`subscription list ${of}`, 'signing-key --help', 'data --help', `usage ${of}`, ...lists];
    // One of each kind in `npm test`: of a request, of money, and what the command line says of itself.
    const some = [`explain ${refused}`, `statement ${of} --month ${month}`, '--help'];
    for (const command of runsEveryScene ? [...some, ...more] : some) {
      const { code, stdout, stderr } = await runOn(instance, ...command.split(' '));
      expect([command, code, stderr]).toEqual([command, 0, '']);
      expect(namesIn(command, stdout)).toEqual([]);
    }
  });
});

/** Opens an address until its page says so: a request has a record some seconds after its response. */
async function openUntil(page: Page, address: string, words: string | RegExp): Promise<void> {
  await eventually(async () => {
    await page.goto(address);
    await settle(page);
    return (await page.getByText(words).count()) > 0;
  });
}

interface Walk {
  readonly reply: Reply;
  readonly status: number;
  readonly code: string;
  /** Who opens the address; the customer unless given. */
  readonly as?: Entrant | undefined;
  /** On the page: what happened, and whose it is. */
  readonly says: string | RegExp;
  /** On the page: where the button or link leads that mends it. */
  readonly remedy: string;
}

/** One step from the response to the page, one from there to what mends it. */
async function walk({ reply, status, code, as, says, remedy }: Walk): Promise<void> {
  const { page } = as ?? given(customer);
  const problem = reply.json();
  expect([reply.status, problem.code, namesIn(code, reply.text)]).toEqual([status, code, []]);
  expect(problem.request_id).toBe(reply.headers['x-kong-request-id']);
  const help = String(problem.help);
  // Kong's own text has one place for the request id alone: its page asks for it.
  const address = help.includes('?') ? help : `${help}?request=${String(problem.request_id)}`;
  expect(new URL(help).origin).toBe(instance.dashboard);
  await openUntil(page, address, says);
  await page.locator(`main a[href^="${remedy}"]`).first().waitFor();
}

/** Once the gateway knows of the change. */
async function refusedCall(key: string): Promise<Reply> {
  await eventually(async () => (await call('/weather/pune', key)).status === 401);
  return call('/weather/pune', key);
}

/** What the command for platform engineers says of a part. */
async function doctorOf(name: string): Promise<{ state: string; todo?: string }> {
  const { stdout } = await runOn(instance, 'doctor', '--json');
  const { findings } = JSON.parse(stdout) as { findings: { name: string; state: string; todo?: string }[] };
  return findings.find((each) => each.name === name) ?? { state: 'absent' };
}

// A refusal of each origin in `npm test`: the caller, the key, the plan, the API, our own parts. What each code's page says is in
// test/selling/requests/explain.test.ts, where it links to in test/access-layer/kinds-of-callers.test.ts.
describe('a person with a refusal in hand finds in two steps what happened, whose it is and what mends it:', () => {
  it('no key', async () => {
    const refusal = { reply: await call('/weather/pune'), status: 401, code: 'key_missing', says: 'Failed: exactly one key is sent' };
    await walk({ ...refusal, as: stranger, remedy: '/sign-up?then=%2Fkeys' });
    await walk({ ...refusal, remedy: '/reference/errors#key_missing' });
  });

  it('an expired key', async () => {
    const { key, id } = await keyFor('weather');
    await expireKey(database, { id, actor: 'test' });
    const refusal = { reply: await refusedCall(key), status: 401, code: 'key_expired' };
    await walk({ ...refusal, says: 'Move the expiry of the key', remedy: `/keys/${id}` });
    // Without the account's session nothing of it is shown.
    await walk({ ...refusal, as: stranger, says: 'Sign in to see this request', remedy: '/sign-in?then=%2Fexplain' });
  });

  inTestAll('a suspended key, and a suspended customer', async () => {
    const { key, id } = await keyFor('weather');
    await suspendKey(database, { id, reason: 'It is in a public repository.', actor: 'test' });
    const remedy = 'mailto:help@example.com';
    const ofKey = { reply: await refusedCall(key), status: 401, code: 'key_unknown' };
    await walk({ ...ofKey, says: /suspended by the seller: It is in a public/, remedy });
    const as = await entrant(SUSPENDED);
    await signUp(as);
    const theirs = await keyFor('weather', SUSPENDED);
    await suspendCustomer(database, { customer: SUSPENDED, reason: 'An invoice is open.', actor: 'test' });
    const ofCustomer = { reply: await refusedCall(theirs.key), status: 401, code: 'subscription_inactive' };
    await walk({ ...ofCustomer, as, says: /suspended by the seller: An invoice is open/, remedy });
  });

  inTestAll('a key that does not exist, and the key of another product', async () => {
    const unknown = { reply: await call('/weather/pune', 'mistyped'), status: 401, code: 'key_unknown' };
    await walk({ ...unknown, as: stranger, says: 'Failed: the key exists', remedy: '/sign-in?then=%2Fkeys' });
    const { key, id } = await keyFor('rivers');
    const foreign = { reply: await call('/weather/pune', key), status: 401, code: 'product_not_authorised' };
    await walk({ ...foreign, says: 'Authorise the key for weather', remedy: `/keys/${id}` });
  });

  it('a limit that is reached', async () => {
    const { key } = await keyFor('tides');
    expect((await call('/tides/goa', key)).status).toBe(200);
    const reply = await call('/tides/goa', key);
    await walk({
      reply,
      status: 429,
      code: 'quota_daily_exceeded',
      says: 'a higher limit takes effect at once',
      remedy: '/plans?product=tides',
    });
    const { page } = given(customer);
    await page.goto(String(reply.json().upgrade));
    await page.getByRole('dialog').getByText('Gold').first().waitFor();
  });

  describe('the API', () => {
    let key: string;
    beforeAll(async () => void ({ key } = await keyFor('weather')));
    afterEach(() => void (api.mode = 'well'));
    const explained = async (reply: Reply): Promise<string> =>
      (await runOn(instance, 'explain', String(reply.headers['x-kong-request-id']))).stdout;

    inTestAll('is slow, or answers 500 in its own words: the request id is in the header', async () => {
      api.mode = 'slow';
      const late = await call('/weather/pune', key);
      await walk({
        reply: late,
        status: 504,
        code: 'gateway_error',
        says: 'Weather did not answer in time. Given back.',
        remedy: '/status',
      });
      expect(await explained(late)).toContain('Check that Weather runs and can be reached from the gateway.');
      api.mode = 'failing';
      const reply = await call('/weather/pune', key);
      expect(reply.status).toBe(500);
      const address = `${instance.dashboard}/explain?request=${String(reply.headers['x-kong-request-id'])}`;
      const { page } = given(customer);
      await openUntil(page, address, /→ 500 in \d+ ms\. Your request was admitted; Weather failed\./);
      await page.getByRole('link', { name: 'Write to help@example.com' }).waitFor();
      expect(await explained(reply)).toContain('in the log of Weather');
    });

    it('is stopped', async () => {
      const { server, port } = api;
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
      const refusal = { reply: await call('/weather/pune', key), status: 502, code: 'gateway_error' };
      await walk({ ...refusal, says: 'Weather did not answer. Given back.', remedy: 'mailto:help@example.com' });
      await new Promise<void>((done) => server.listen(port, '127.0.0.1', done));
    });
  });

  inTestAll('Redis is stopped: callers do not notice, and doctor says what to do', async () => {
    const { key } = await keyFor('weather');
    expect((await call('/weather/pune', key)).status).toBe(200);
    toRedis?.setMode('reset');
    try {
      expect((await call('/weather/pune', key)).status).toBe(200);
      await eventually(async () => (await doctorOf('redis')).state === 'unwell');
      expect((await doctorOf('redis')).todo).toContain('Bring Redis back');
    } finally {
      toRedis?.setMode('pass');
    }
  });

  it('the plugin server is stopped', async () => {
    const { key } = await keyFor('weather');
    let reply = await call('/weather/pune', key);
    await eventually(async () => {
      process.kill(instance.pidOf('plugin-server'), 'SIGKILL');
      reply = await call('/weather/pune', key);
      return reply.status === 500;
    });
    // It was not recorded, and the page says why.
    const refusal = { reply, status: 500, code: 'gateway_error', remedy: '/status' };
    await walk({ ...refusal, says: 'the gateway could not check it and charged nothing' });
    await walk({ ...refusal, as: stranger, says: 'the gateway could not check the request' });
    await eventually(async () => (await call('/weather/pune', key)).status === 200);
  });

  it('the database is stopped', async () => {
    const { key } = await keyFor('weather');
    toPostgres?.setMode('reset');
    try {
      await eventually(async () => (await call('/weather/pune', key)).status === 503);
      const reply = await call('/weather/pune', key);
      const says = 'The record of requests cannot be read right now';
      for (const as of [stranger, customer])
        await walk({ reply, status: 503, code: 'access_layer_unavailable', as, says, remedy: 'mailto:help@example.com' });
      expect(await doctorOf('database')).toMatchObject({ state: 'unwell', todo: expect.any(String) });
    } finally {
      toPostgres?.setMode('pass');
    }
  });
});
