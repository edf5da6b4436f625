import { type IncomingMessage, createServer, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Pool } from 'pg';
import { type Browser } from 'playwright-core';
import { type AnyGateway, type AnyRunningGateway, startAnyGateway } from '../../gateways/support/every-gateway';
import { ensurePackages } from '../../support/debian-packages';
import { eventually } from '../../support/eventually';
import { closeConnections, type Reply, send } from '../../support/http';
import { step } from '../../support/step';
import { startInstance, type RunningInstance } from '../../support/system/instance';
import { ownShop, type OwnShop } from '../../support/system/own-shop';
import { openPage, startBrowser } from '../support/browser';
import { enterPassword, type Entrant, setFirstPassword, setUpSecondFactor, signUp } from '../support/entrances';

const PASSWORD = 'eleven purple rickshaws';
const CUSTOMER = 'asha@example.com';
const OPERATOR = 'ops@tollgate.example';
/** Kong has one text for all that it answers itself, and no status in it (docs/codes.md). */
const SAID = {
  'kong-local': 'a service failed, not the request',
  nginx: 'did not answer. Your request is not at fault',
  caddy: 'did not answer. Your request is not at fault',
} as const;
const FAILURES = 500;
/** With so many, fewer than 20 % of the minute's answers are failures. */
const SUCCESSES = 2_200;

let shop: OwnShop;
let api: Server;
let instance: RunningInstance;
const gateways = new Map<AnyGateway, Pick<AnyRunningGateway, 'url' | 'stop'>>();
const seen: IncomingMessage[] = [];
const portOf = (server: Server): number => (server.address() as AddressInfo).port;
const listen = (server: Server, port = 0): Promise<void> => new Promise((done) => server.listen(port, '127.0.0.1', done));

beforeAll(async () => {
  await ensurePackages(['caddy'], 'The tests of other gateways');
  api = createServer((request, response) => {
    seen.push(request);
    response.end('{"forecast":"rain"}');
  });
  await listen(api);
  shop = ownShop();
  const live = `http://127.0.0.1:${portOf(api)}`;
  shop.tollgate('product', 'new', 'weather', '--url', live, '--daily', '3', '--monthly', '60');
  // Nobody listens on port 1.
  shop.tollgate('product', 'new', 'storms', '--url', 'http://127.0.0.1:1', '--daily', '30', '--monthly', '60');
  shop.tollgate('product', 'new', 'rivers', '--url', live, '--daily', '10000', '--monthly', '90000');
  instance = await startInstance({ TOLLGATE_CONFIG: shop.folder });
  const answersTo = new URL(instance.metrics['plugin-server'] ?? '').host;
  gateways.set('kong-local', { url: instance.gateway, stop: () => Promise.resolve() });
  for (const kind of ['nginx', 'caddy'] as const) {
    const places = { dataDir: instance.dataDir, services: {}, kongYml: join(shop.folder, 'kong.yml'), answersTo };
    gateways.set(kind, await startAnyGateway({ kind, ...places }));
  }
});
afterAll(async () => {
  await Promise.all([...gateways.values()].map((gateway) => gateway.stop()));
  await instance?.stop();
  api.close();
  closeConnections();
  shop.remove();
});

/** For a customer that exists or not yet. */
async function createKey(email: string, product: string): Promise<Record<string, string>> {
  await instance.cli('customer', 'create', '--email', email);
  const { stdout } = await instance.cli('key', 'create', '--customer', email, '--products', product, '--json');
  return { 'X-API-Key': String((JSON.parse(stdout) as { key: unknown }).key) };
}

/** Requests of today that count. */
async function usedBy(email: string): Promise<number> {
  const { subscriptions } = JSON.parse((await instance.cli('usage', '--customer', email, '--json')).stdout) as {
    subscriptions: { usedDaily: number }[];
  };
  return subscriptions.reduce((sum, { usedDaily }) => sum + usedDaily, 0);
}

describe.each(['kong-local', 'nginx', 'caddy'] as const)('an own API from an empty folder, behind %s', (kind) => {
  const call = (path: string, headers: Record<string, string>): Promise<Reply> => send((gateways.get(kind)?.url ?? '') + path, { headers });

  test('takes a key and calls up to the limit, with the prefix taken off and what remains told', async () => {
    const headers = await createKey(`${kind}@example.com`, 'weather');
    expect((await call('/weather/pune', {})).json().code).toBe('key_missing');
    seen.length = 0;
    for (const left of [2, 1, 0]) {
      const answer = await call('/weather/pune?days=2', headers);
      expect([answer.status, answer.text]).toEqual([200, '{"forecast":"rain"}']);
      expect(answer.headers['ratelimit']).toMatch(new RegExp(`^"daily";r=${left};`));
      expect(answer.headers['x-kong-request-id']).toMatch(/^[0-9a-f]{32}$/);
    }
    const refused = await call('/weather/pune?days=2', headers);
    expect([refused.status, refused.json().code]).toEqual([429, 'quota_daily_exceeded']);
    expect(seen.map(({ url, headers: { 'x-api-key': sent } }) => [url, sent])).toEqual(Array(3).fill(['/pune?days=2', undefined]));
  });

  test('says who did not answer, and charges nothing for it', async () => {
    const email = `${kind}-storms@example.com`;
    const headers = await createKey(email, 'storms');
    const failed = await Promise.all(Array.from({ length: 3 }, () => call('/storms/now', headers)));
    for (const answer of failed) {
      const problem = answer.json();
      expect([502, 503, 504]).toContain(answer.status);
      expect(problem).toMatchObject({ code: 'gateway_error', detail: expect.stringContaining(SAID[kind]) });
      if (kind !== 'kong-local') expect(problem.status).toBe(answer.status);
      expect(problem.request_id).toBe(answer.headers['x-kong-request-id']);
    }
    await eventually(async () => (await usedBy(email)) === 0);
  });
});

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

describe('an outage of 500 calls', () => {
  let browser: Browser;
  let receiver: Server;
  let database: Pool;
  /** What the seller's webhook was told. */
  const told: { type: string; data: Record<string, unknown> }[] = [];
  beforeAll(async () => {
    browser = await startBrowser();
    database = new Pool({ connectionString: instance.databaseUrl, max: 1 });
    receiver = createServer((request, response) => {
      const parts: Buffer[] = [];
      request
        .on('data', (part: Buffer) => parts.push(part))
        .on('end', () => {
          told.push(JSON.parse(Buffer.concat(parts).toString()) as (typeof told)[number]);
          response.end();
        });
    });
    await listen(receiver);
    await instance.cli('webhook', 'add', `http://127.0.0.1:${portOf(receiver)}/`, '--events', 'product.failing,product.recovered');
  });
  afterAll(async () => {
    await browser.close();
    await database.end();
    receiver.close();
  });

  // Ten minutes pass in some seconds: the failures are outnumbered in their own minute. With a moved clock they are spread over ten minutes in
  // test/dashboard/alerts/outages.stores.test.ts.
  test('is shown to customer and seller, told once, not charged, and told once more when it is over', async () => {
    const customer: Entrant = { page: (await openPage(browser)).page, dashboard: instance.dashboard, email: CUSTOMER, password: PASSWORD };
    const operator: Entrant = { ...customer, page: (await openPage(browser)).page, email: OPERATOR };
    const home = `${instance.dashboard}/operator/customers`;
    const isShown = async ({ page }: Entrant, path: string, words: string): Promise<void> => {
      await page.goto(path);
      await page.locator('.outage-notice').filter({ hasText: words }).waitFor();
    };
    const port = portOf(api);
    let headers: Record<string, string> = {};

    await step('customer and seller come in', async () => {
      await signUp(customer);
      headers = await createKey(CUSTOMER, 'rivers');
      const { stdout } = await instance.cli('operator', 'create', '--email', OPERATOR, '--json');
      await setFirstPassword(operator, (JSON.parse(stdout) as { link: string }).link);
      await enterPassword(operator);
      await setUpSecondFactor(operator);
    });

    await step('the API answers, and the dashboard has looked', async () => {
      expect(await callOften(5, headers)).toEqual({ 200: 5 });
      await eventually(async () => (await database.query("SELECT FROM product_pulse WHERE product_id = 'rivers'")).rowCount !== 0);
    });

    await step('it is away for 500 calls', async () => {
      api.closeAllConnections();
      await new Promise((done) => api.close(done));
      expect(await callOften(FAILURES, headers)).toEqual({ 502: FAILURES });
      await eventually(() => told.length > 0);
      expect(told).toMatchObject([{ type: 'product.failing', data: { product: 'rivers', ended_at: null } }]);
      await isShown(operator, home, 'Rivers is failing');
      await isShown(customer, instance.dashboard, 'Rivers is failing');
    });

    await step('none of it is charged', async () => {
      await eventually(async () => (await usedBy(CUSTOMER)) === 5);
      await customer.page.goto(`${instance.dashboard}/requests?product=rivers&status=5xx`);
      await customer.page.getByRole('row').filter({ hasText: '502' }).first().waitFor();
    });

    await step('it is over', async () => {
      await listen(api, port);
      expect(await callOften(SUCCESSES, headers)).toEqual({ 200: SUCCESSES });
      await eventually(() => told.length > 1);
      await isShown(operator, home, 'Rivers has recovered');
      await isShown(customer, instance.dashboard, 'Rivers has recovered');
      await eventually(async () => (await usedBy(CUSTOMER)) === 5 + SUCCESSES);
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
      expect(told.map(({ type, data }) => [type, data['product']])).toEqual([
        ['product.failing', 'rivers'],
        ['product.recovered', 'rivers'],
      ]);
      expect(told[1]?.data).toMatchObject({ failed: FAILURES });
      const month = new Date().toISOString().slice(0, 7);
      const statement = (await instance.cli('statement', '--customer', CUSTOMER, '--month', month, '--json')).stdout;
      const line = (JSON.parse(statement) as { lines: object[] }).lines.find((each) => 'product' in each && each.product === 'rivers');
      const charged = 5 + FAILURES + SUCCESSES;
      expect(line).toMatchObject({ requests: charged, charged, refunded: FAILURES, used: 5 + SUCCESSES });
    });
  });
});
