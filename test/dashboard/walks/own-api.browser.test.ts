import { writeFileSync } from 'node:fs';
import { type IncomingMessage, createServer, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Pool } from 'pg';
import { type Browser, type Page } from 'playwright-core';
import { createKey } from '../../../services/selling/keys/create-key';
import { eventually } from '../../support/eventually';
import { closeConnections, send } from '../../support/http';
import { inTestAll, runsEveryScene } from '../../support/scenes';
import { step } from '../../support/step';
import { startInstance, type RunningInstance } from '../../support/system/instance';
import { runOn } from '../../support/system/run-on';
import { ownShop, type OwnShop } from '../../support/system/own-shop';
import { openPage, seeAll, settle, startBrowser } from '../support/browser';
import { enterPassword, type Entrant, setFirstPassword, setUpSecondFactor, signUp } from '../support/entrances';
import { EXAMPLE_NAMES } from '../../support/example-names';
import { openedForTests } from '../../support/opened';
import { startGatewayDouble } from '../support/gateway-double';
import { WEATHER_DOCUMENT } from './weather-document';

/** More pages than there are: a walk that finds ever new ones is a defect of the walk. */
const MAX_PAGES = 80;

/** Where a text names the example catalogue, each with what stands around it. */
function namesIn(place: string, text: string): string[] {
  return text.split('\n').flatMap((line) => {
    const { index } = EXAMPLE_NAMES.exec(line) ?? {};
    return index === undefined ? [] : [`${place}: ${line.slice(Math.max(0, index - 60), index + 60)}`];
  });
}

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

interface Walk {
  /** Paths of all pages. */
  readonly paths: readonly string[];
  /** Where pages name the example catalogue. */
  readonly named: readonly string[];
  /** Paths of the pages that name the own product. */
  readonly ownNamed: readonly string[];
}

/** Opens every page of a dashboard that links lead to. @param own title of the own product */
async function walkPages(
  page: Page,
  { dashboard, starts, own }: { dashboard: string; starts: readonly string[]; own: string },
): Promise<Walk> {
  const waiting = [...starts];
  const paths = new Set(starts);
  const named: string[] = [];
  const ownNamed: string[] = [];
  for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
    const html = await readPage(page, dashboard + path);
    const text = textOf(html);
    named.push(...namesIn(path, text));
    if (text.includes(own)) ownNamed.push(path);
    const links = [...html.matchAll(/<a\b[^>]*\shref="([^"]*)"/g)].map(([, href = '']) => new URL(href, dashboard + path));
    for (const { origin, pathname } of links) {
      if (origin !== dashboard || /\.(json|txt|xml|csv)$|^\/api\//.test(pathname) || paths.has(pathname)) continue;
      paths.add(pathname);
      waiting.push(pathname);
    }
    if (paths.size > MAX_PAGES) throw new Error(`too many pages: ${[...paths].join(' ')}`);
  }
  return { paths: [...paths], named, ownNamed };
}

const PASSWORD = 'eleven purple rickshaws';
const CUSTOMER = 'asha@example.com';
/** Of the outage. */
const CALLER = 'ravi@example.com';
const OPERATOR = 'ops@tollgate.example';
const FAILURES = 500;
/** With so many, fewer than 20 % of the minute's answers are failures. */
const SUCCESSES = 2_200;

let shop: OwnShop;
let api: Server;
/** Its address. */
let live: string;
let instance: RunningInstance;
const seen: IncomingMessage[] = [];
const portOf = (server: Server): number => (server.address() as AddressInfo).port;
const listen = (server: Server, port = 0): Promise<void> => new Promise((done) => server.listen(port, '127.0.0.1', done));

let browser: Browser;
let database: Pool;
let operator: Entrant;

const opened = openedForTests();
beforeAll(async () => {
  api = createServer((request, response) => {
    seen.push(request);
    response.end('{"forecast":"rain"}');
  });
  await opened.keep(listen(api), () => api.close());
  shop = ownShop();
  void opened.keep(Promise.resolve(shop), (each) => each.remove());
  live = `http://127.0.0.1:${portOf(api)}`;
  shop.tollgate('product', 'new', 'weather', '--url', live, '--daily', '3', '--monthly', '60');
  writeFileSync(join(shop.folder, 'weather.json'), JSON.stringify(WEATHER_DOCUMENT));
  shop.addMembers('test_keys: live', 'first_call: /weather/pune', 'openapi: weather.json');
  writeFileSync(join(shop.folder, 'brand.yml'), 'support: help@example.com\n');
  instance = await opened.keep(startInstance({ TOLLGATE_CONFIG: shop.folder }), (each) => each.stop());
  await apply();
  browser = await opened.keep(startBrowser(), (each) => each.close());
  database = new Pool({ connectionString: instance.databaseUrl, max: 1 });
  void opened.keep(Promise.resolve(database), (each) => each.end());
  operator = await entrant(OPERATOR);
  const { stdout } = await runOn(instance, 'operator', 'create', '--email', OPERATOR, '--json');
  await setFirstPassword(operator, (JSON.parse(stdout) as { link: string }).link);
  await enterPassword(operator);
  await setUpSecondFactor(operator);
});
afterAll(closeConnections);

const apply = async (): Promise<void> => expect((await runOn(instance, 'catalogue', 'apply')).stderr).toBe('');

/** A person with a page of their own. */
async function entrant(email: string): Promise<Entrant> {
  const { page } = await openPage(browser);
  return { page, dashboard: instance.dashboard, email, password: PASSWORD };
}

it('one product of one’s own: no page, mail, description or command names a product of the example catalogue', async () => {
  const customer = await entrant(CUSTOMER);
  const { page } = customer;
  const walk = (on: Page, starts: readonly string[]) => walkPages(on, { dashboard: instance.dashboard, starts, own: 'Weather' });
  let key = '';
  let refused = '';

  await step('nothing that is public', async () => {
    const { paths, named, ownNamed } = await walk(page, ['/', '/sign-in', '/sign-up', '/forgot-password']);
    expect(paths).toEqual(expect.arrayContaining(['/products', '/reference/weather', '/reference/errors']));
    expect(ownNamed).toEqual(expect.arrayContaining(['/', '/products', '/reference/weather']));
    expect(named).toEqual([]);
    for (const file of ['/openapi.json', '/llms.txt', '/sitemap.xml', '/robots.txt'])
      expect(namesIn(file, (await send(instance.dashboard + file)).text)).toEqual([]);
    for (const path of ['/', '/openapi.json', '/nowhere'])
      expect(namesIn(`gateway ${path}`, (await send(instance.gateway + path)).text)).toEqual([]);
  });

  await step('the first screen begins with the own product', async () => {
    await signUp(customer);
    key = await page.getByText(/^tg_test_\w+$/).innerText();
    expect(await page.locator('main').innerText()).toContain('/weather/pune');
  });

  await step('help is in the navigation of a customer', async () => {
    const help = page.getByRole('group', { name: 'Help' }).getByRole('link');
    expect(await help.allInnerTexts()).toEqual(['Docs', 'API reference', 'Status', 'Support']);
    expect(await help.last().getAttribute('href')).toBe('mailto:help@example.com');
  });

  await step('its reference makes a call of each kind of parameter, which the API itself answers', async () => {
    await page.goto(`${instance.dashboard}/reference/weather`);
    const form = page.getByRole('form', { name: 'Try GET /weather/{city}/days{range}', exact: true });
    await form.getByLabel('units').fill('celsius, kelvin');
    await form.getByRole('button', { name: 'Run it here' }).click();
    await form.getByText(/^Status 200 after \d+ ms$/).waitFor();
    const { url, headers } = seen.at(-1) ?? {};
    expect(`${url} ${headers?.cookie}`).toBe('/pune/days;from=1;upto=3?units=celsius&units=kelvin theme=dark');
    expect(namesIn('reference', textOf(await page.content()))).toEqual([]);
  });

  await step('calls, up to the limit', async () => {
    const call = () => send(`${instance.gateway}/weather/pune`, { headers: { 'X-API-Key': key } });
    await eventually(async () => (await call()).status === 200);
    await eventually(async () => (await call()).status === 429);
    const { text, headers } = await call();
    refused = String(headers['x-kong-request-id']);
    expect(namesIn('429', text)).toEqual([]);
  });

  await step('no page of the customer', async () => {
    const { paths, named, ownNamed } = await walk(page, ['/', '/account']);
    expect(paths).toEqual(expect.arrayContaining(['/keys', '/plans', '/usage', '/requests', '/alerts', '/webhooks']));
    expect(ownNamed).toEqual(expect.arrayContaining(['/keys', '/plans', '/usage', '/requests', '/alerts']));
    expect(named).toEqual([]);
  });

  await step('no page of the operator', async () => {
    const { paths, named, ownNamed } = await walk(operator.page, ['/operator/customers']);
    expect(paths).toEqual(expect.arrayContaining(['/operator/products', '/operator/nodes', '/operator/requests']));
    expect(ownNamed).toEqual(expect.arrayContaining(['/operator/products']));
    expect(named).toEqual([]);
  });

  await step('no mail', async () => {
    await page.goto(`${instance.dashboard}/outbox`);
    await page.getByRole('article').filter({ hasText: 'Confirm your email address' }).first().waitFor();
    expect(namesIn('mail', textOf(await page.content()))).toEqual([]);
  });

  await step('no command', async () => {
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

/** Requests of today that count. */
async function usedBy(email: string): Promise<number> {
  const { subscriptions } = JSON.parse((await runOn(instance, 'usage', '--customer', email, '--json')).stdout) as {
    subscriptions: { usedDaily: number }[];
  };
  return subscriptions.reduce((sum, { usedDaily }) => sum + usedDaily, 0);
}

/** Calls so often, some at a time. @returns how often each status was answered */
async function callOften(times: number, headers: Record<string, string>): Promise<Record<number, number>> {
  const counts: Record<number, number> = {};
  let left = times;
  const caller = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      const { status = 0 } = await send(`${instance.gateway}/rivers/ganges`, { headers });
      counts[status] = (counts[status] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: 8 }, caller));
  return counts;
}

// In `npm test` test/dashboard/storefront/status.stores.test.ts tells and shows one, spread over ten minutes by a moved clock; here the
// failures are outnumbered in their own minute.
inTestAll(
  'an outage of 500 calls is shown to customer and seller, told once, not charged, and told once more when it is over',
  async () => {
    const receiver = await opened.keep(startGatewayDouble(), (each) => each.close());
    /** What the seller's webhook was told. */
    const told = () => receiver.seen.map(({ body }) => JSON.parse(String(body)) as { type: string; data: Record<string, unknown> });
    await runOn(instance, 'product', 'new', 'rivers', '--url', live, '--daily', '10000', '--monthly', '90000');
    await apply();
    await runOn(instance, 'webhook', 'add', `${receiver.url}/`, '--events', 'product.failing,product.recovered');
    const customer = await entrant(CALLER);
    const home = `${instance.dashboard}/operator/customers`;
    const isShown = async ({ page }: Entrant, path: string, words: string): Promise<void> => {
      await page.goto(path);
      await page.locator('.outage-notice').filter({ hasText: words }).waitFor();
    };
    const port = portOf(api);
    let headers: Record<string, string> = {};

    await step('the customer comes in', async () => {
      await signUp(customer);
      headers = { 'X-API-Key': (await createKey(database, { customer: CALLER, products: ['rivers'], actor: 'test' })).key };
    });

    await step('the API answers, and the dashboard has looked', async () => {
      expect(await callOften(5, headers)).toEqual({ 200: 5 });
      await eventually(async () => (await database.query("SELECT FROM product_pulse WHERE product_id = 'rivers'")).rowCount !== 0);
    });

    await step('it is away for 500 calls', async () => {
      api.closeAllConnections();
      await new Promise((done) => api.close(done));
      expect(await callOften(FAILURES, headers)).toEqual({ 502: FAILURES });
      await eventually(() => told().length > 0);
      expect(told()).toMatchObject([{ type: 'product.failing', data: { product: 'rivers', ended_at: null } }]);
      await isShown(operator, home, 'Rivers is failing');
      await isShown(customer, instance.dashboard, 'Rivers is failing');
    });

    await step('none of it is charged', async () => {
      await eventually(async () => (await usedBy(CALLER)) === 5);
      await customer.page.goto(`${instance.dashboard}/requests?product=rivers&status=5xx`);
      await customer.page.getByRole('row').filter({ hasText: '502' }).first().waitFor();
    });

    await step('it is over', async () => {
      await listen(api, port);
      expect(await callOften(SUCCESSES, headers)).toEqual({ 200: SUCCESSES });
      await eventually(() => told().length > 1);
      await isShown(operator, home, 'Rivers has recovered');
      await isShown(customer, instance.dashboard, 'Rivers has recovered');
      await eventually(async () => (await usedBy(CALLER)) === 5 + SUCCESSES);
    });

    await step('each was told once, and the statement has it', async () => {
      const { page } = customer;
      const mails = (subject: string) =>
        page
          .getByRole('article')
          .filter({ hasText: `to ${OPERATOR},` })
          .filter({ hasText: subject });
      await eventually(async () => {
        await page.goto(`${instance.dashboard}/outbox`);
        return (await mails('Rivers has recovered').count()) === 1;
      });
      expect(await mails('Rivers is failing').count()).toBe(1);
      expect(told().map(({ type, data }) => [type, data['product']])).toEqual([
        ['product.failing', 'rivers'],
        ['product.recovered', 'rivers'],
      ]);
      expect(told()[1]?.data).toMatchObject({ failed: FAILURES });
      const month = new Date().toISOString().slice(0, 7);
      const statement = (await runOn(instance, 'statement', '--customer', CALLER, '--month', month, '--json')).stdout;
      const line = (JSON.parse(statement) as { lines: object[] }).lines.find((each) => 'product' in each && each.product === 'rivers');
      const charged = 5 + FAILURES + SUCCESSES;
      expect(line).toMatchObject({ requests: charged, charged, refunded: FAILURES, used: 5 + SUCCESSES });
    });
  },
);
