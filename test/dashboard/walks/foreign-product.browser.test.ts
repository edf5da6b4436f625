import { writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type Browser, type Page } from 'playwright-core';
import { eventually } from '../../support/eventually';
import { EXAMPLE_NAMES } from '../../support/example-names';
import { closeConnections, send } from '../../support/http';
import { step } from '../../support/step';
import { startInstance, type RunningInstance } from '../../support/system/instance';
import { ownShop, type OwnShop } from '../../support/system/own-shop';
import { openPage, settle, startBrowser } from '../support/browser';
import { enterPassword, type Entrant, setFirstPassword, setUpSecondFactor, signUp } from '../support/entrances';

const PASSWORD = 'eleven purple rickshaws';
const CUSTOMER = 'asha@example.com';
const OPERATOR = 'ops@tollgate.example';
/** More pages than there are: a walk that finds ever new ones is a defect of the walk. */
const MOST_PAGES = 80;

/** An operation whose path, query and cookies are not written as one text each. */
const DOCUMENT = {
  openapi: '3.1.0',
  info: { title: 'Weather', version: '1' },
  paths: {
    '/{city}/days{range}': {
      get: {
        operationId: 'days',
        summary: 'Days of a city',
        parameters: [
          { name: 'city', in: 'path', required: true, schema: { type: 'string' }, example: 'pune' },
          {
            name: 'range',
            in: 'path',
            required: true,
            style: 'matrix',
            explode: true,
            schema: { type: 'object' },
            example: { from: 1, upto: 3 },
          },
          { name: 'units', in: 'query', schema: { type: 'array', items: { type: 'string' } } },
          { name: 'theme', in: 'cookie', schema: { type: 'string' }, example: 'dark' },
        ],
        responses: { '200': { description: 'Fine', content: { 'application/json': { schema: { type: 'object' } } } } },
      },
    },
  },
};

let shop: OwnShop;
/** Path, query and cookies of what reached the API. */
const seen: string[] = [];
let api: Server;
let instance: RunningInstance;
let browser: Browser;

beforeAll(async () => {
  api = createServer((request, response) => {
    seen.push(`${request.url} ${request.headers.cookie}`);
    response.end(JSON.stringify({ path: request.url }));
  });
  await new Promise<void>((done) => api.listen(0, '127.0.0.1', done));
  shop = ownShop();
  const url = `http://127.0.0.1:${(api.address() as AddressInfo).port}`;
  shop.tollgate('product', 'new', 'weather', '--url', url, '--daily', '5', '--monthly', '90');
  writeFileSync(join(shop.folder, 'weather.json'), JSON.stringify(DOCUMENT));
  shop.addMembers('test_keys: live', 'first_call: /weather/pune', 'openapi: weather.json');
  instance = await startInstance({ TOLLGATE_CONFIG: shop.folder });
  expect((await instance.cli('catalogue', 'apply')).stderr).toBe('');
  browser = await startBrowser();
});
afterAll(async () => {
  await browser?.close();
  await instance?.stop();
  api.close();
  closeConnections();
  shop.remove();
});

/** Where a text names the example catalogue, each with what stands around it. */
function namesIn(place: string, text: string): string[] {
  return text.split('\n').flatMap((line) => {
    const { index } = EXAMPLE_NAMES.exec(line) ?? {};
    return index === undefined ? [] : [`${place}: ${line.slice(Math.max(0, index - 60), index + 60)}`];
  });
}

/** All that a page says, to people or to programs, without its scripts, styles and pictures. */
async function textOf(page: Page): Promise<string> {
  const html = await page.content();
  return html.replaceAll(/<(script|style)\b[^>]*>[^]*?<\/\1>/g, '').replaceAll(/data:[\w/+;=,-]+/g, '');
}

/** Opens every page that links lead to. @returns their paths, the names found, and which pages name the own product */
async function walk(page: Page, starts: readonly string[]): Promise<Record<'paths' | 'named' | 'ownNamed', string[]>> {
  const waiting = [...starts];
  const paths = new Set(starts);
  const named: string[] = [];
  const ownNamed: string[] = [];
  for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
    await page.goto(instance.dashboard + path);
    await settle(page);
    // Some parts of a page ask for more once it is shown.
    await page.waitForLoadState('networkidle');
    const text = await textOf(page);
    named.push(...namesIn(path, text));
    if (text.includes('Weather')) ownNamed.push(path);
    const links = await page.locator('a[href]').evaluateAll((all) => all.map((link) => (link as unknown as { href: string }).href));
    for (const { origin, pathname } of links.map((href) => new URL(href))) {
      if (origin !== instance.dashboard || /\.(json|txt|xml|csv)$|^\/api\//.test(pathname) || paths.has(pathname)) continue;
      paths.add(pathname);
      waiting.push(pathname);
    }
    if (paths.size > MOST_PAGES) throw new Error(`too many pages: ${[...paths].join(' ')}`);
  }
  return { paths: [...paths], named, ownNamed };
}

test('one product of one’s own: no page, mail, description or command names a product of the example catalogue', async () => {
  const { page } = await openPage(browser);
  const customer: Entrant = { page, dashboard: instance.dashboard, email: CUSTOMER, password: PASSWORD };
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

  await step('its reference makes a call of each kind of parameter, which the API itself answers', async () => {
    await page.goto(`${instance.dashboard}/reference/weather`);
    const form = page.getByRole('form', { name: 'Try GET /weather/{city}/days{range}', exact: true });
    await form.getByLabel('units').fill('celsius, kelvin');
    await form.getByRole('button', { name: 'Run it here' }).click();
    await form.getByText(/^Status 200 after \d+ ms$/).waitFor();
    expect(seen.at(-1)).toBe('/pune/days;from=1;upto=3?units=celsius&units=kelvin theme=dark');
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
    const { page: own } = await openPage(browser);
    const operator: Entrant = { page: own, dashboard: instance.dashboard, email: OPERATOR, password: PASSWORD };
    const { stdout } = await instance.cli('operator', 'create', '--email', OPERATOR, '--json');
    await setFirstPassword(operator, (JSON.parse(stdout) as { link: string }).link);
    await enterPassword(operator);
    await setUpSecondFactor(operator);
    const { paths, named, ownNamed } = await walk(own, ['/operator/customers']);
    expect(paths).toEqual(expect.arrayContaining(['/operator/products', '/operator/nodes', '/operator/requests']));
    expect(ownNamed).toEqual(expect.arrayContaining(['/operator/products']));
    expect(named).toEqual([]);
  });

  await step('no mail', async () => {
    await page.goto(`${instance.dashboard}/outbox`);
    await page.getByRole('article').filter({ hasText: 'Confirm your email address' }).first().waitFor();
    expect(namesIn('mail', await textOf(page))).toEqual([]);
  });

  await step('no command', async () => {
    const month = new Date().toISOString().slice(0, 7);
    const of = `--customer ${CUSTOMER}`;
    const lists = ['check', 'catalogue check', 'catalogue diff', 'customer list', `customer show ${CUSTOMER}`, `key list ${of}`];
    const answers = [...lists, `subscription list ${of}`, `usage ${of}`, `statement ${of} --month ${month}`, `explain ${refused}`];
    for (const command of [...answers, '--help', 'signing-key --help', 'data --help']) {
      const { code, stdout, stderr } = await instance.cli(...command.split(' '));
      expect([command, code, stderr]).toEqual([command, 0, '']);
      expect(namesIn(command, stdout)).toEqual([]);
    }
  });
});
