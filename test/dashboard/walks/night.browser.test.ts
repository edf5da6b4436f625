import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Pool } from 'pg';
import { type Page } from 'playwright-core';
import { createKey } from '../../../services/selling/keys/create-key';
import { expireKey } from '../../../services/selling/keys/set-key-state';
import { suspendCustomer, suspendKey } from '../../../services/selling/suspensions/suspend';
import { eventually } from '../../support/eventually';
import { type FaultProxy, openFaultProxy } from '../../support/faults/fault-proxy';
import { closeConnections, type Reply, send } from '../../support/http';
import { openedForTests } from '../../support/opened';
import { inTestAll } from '../../support/scenes';
import { testDatabase } from '../../support/postgres/postgres';
import { startTestRedis } from '../../support/redis/redis';
import { type RunningInstance, startInstance } from '../../support/system/instance';
import { ownShop } from '../../support/system/own-shop';
import { runOn } from '../../support/system/run-on';
import { openPage, settle, startBrowser } from '../support/browser';
import { type Entrant, signUp } from '../support/entrances';

const PASSWORD = 'eleven purple rickshaws';
const [CUSTOMER, SUSPENDED] = ['asha@example.com', 'ravi@example.com'];
/** Of the gateway, for the API to answer in. */
const READ_TIMEOUT_MS = 1_500;

const opened = openedForTests();
/** What the API does now with a request. */
let api: { mode: 'well' | 'slow' | 'failing'; readonly server: Server; readonly port: number };
let instance: RunningInstance;
let [toPostgres, toRedis]: readonly FaultProxy[] = [];
/** Past the line that breaks. */
let database: Pool;
let [customer, suspended, stranger]: readonly Entrant[] = [];

function given<T>(part: T | undefined): T {
  if (part === undefined) throw new Error('the set-up has not come so far');
  return part;
}

async function startApi(): Promise<typeof api> {
  const server = createServer((_request, response) => {
    if (api.mode === 'slow') return;
    response.statusCode = api.mode === 'failing' ? 500 : 200;
    response.end('{"forecast":"rain"}');
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return { mode: 'well', server, port: (server.address() as AddressInfo).port };
}

/** Weather; rivers, which is another product; and tides, with one free request a day and a plan that has more. */
function openShop(): string {
  const shop = ownShop();
  void opened.keep(Promise.resolve(shop), (each) => each.remove());
  for (const name of ['weather', 'rivers', 'tides'])
    shop.tollgate('product', 'new', name, '--url', `http://127.0.0.1:${api.port}`, '--daily', name === 'tides' ? '1' : '1000');
  const change = (name: string, by: (text: string) => string): void => {
    const file = join(shop.folder, name);
    writeFileSync(file, by(readFileSync(file, 'utf8')));
  };
  // Tides are the last.
  const gold = "[{ name: Gold, daily: 1000, monthly: 30000, price: '499.00', currency: INR }]";
  change('catalogue.yml', (text) => text.replace(/plans: \[\](?![^]*plans:)/, `plans: ${gold}`));
  change('kong.yml', (text) => text.replaceAll(/read_timeout: \d+/g, `read_timeout: ${READ_TIMEOUT_MS}`));
  writeFileSync(join(shop.folder, 'brand.yml'), 'support: help@example.com\n');
  return shop.folder;
}

beforeAll(async () => {
  api = await opened.keep(startApi(), ({ server }) => server.close());
  const postgres = await opened.keep(testDatabase(), (each) => each.close());
  const redis = await opened.keep(startTestRedis(), (each) => each.close());
  [toPostgres, toRedis] = [
    await opened.keep(openFaultProxy(postgres.url), (each) => each.close()),
    await opened.keep(openFaultProxy(redis.url), (each) => each.close()),
  ];
  database = await opened.keep(Promise.resolve(new Pool({ connectionString: postgres.url, max: 2 })), (each) => each.end());
  const env = { TOLLGATE_CONFIG: openShop(), DATABASE_URL: toPostgres.url, REDIS_URL: toRedis.url };
  instance = await opened.keep(startInstance(env), (each) => each.stop());
  const browser = await opened.keep(startBrowser(), (each) => each.close());
  const entrant = async (email: string): Promise<Entrant> => {
    const { page } = await openPage(browser);
    return { page, dashboard: instance.dashboard, email, password: PASSWORD };
  };
  [customer, suspended, stranger] = [await entrant(CUSTOMER), await entrant(SUSPENDED), await entrant('nobody@example.com')];
  await signUp(customer);
});
afterAll(closeConnections);

const call = (path: string, key?: string): Promise<Reply> =>
  send(instance.gateway + path, key === undefined ? {} : { headers: { 'X-API-Key': key } });

const keyFor = (product: string, email = CUSTOMER): Promise<{ key: string; id: string }> =>
  createKey(database, { customer: email, products: [product], actor: 'test' });

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
  expect([reply.status, problem.code]).toEqual([status, code]);
  expect(problem.request_id).toBe(reply.headers['x-kong-request-id']);
  const help = String(problem.help);
  // Kong's own text has one place for the request id alone: its page asks for it.
  const address = help.includes('?') ? help : `${help}?request=${String(problem.request_id)}`;
  expect(new URL(help).origin).toBe(instance.dashboard);
  await openUntil(page, address, says);
  await page.locator(`main a[href^="${remedy}"]`).first().waitFor();
}

/** What the command for platform engineers says of a part. */
async function doctorOf(name: string): Promise<{ state: string; todo?: string }> {
  const { stdout } = await runOn(instance, 'doctor', '--json');
  const { findings } = JSON.parse(stdout) as { findings: { name: string; state: string; todo?: string }[] };
  return findings.find((each) => each.name === name) ?? { state: 'absent' };
}

// A refusal of each origin in `npm test`: the caller, the key, the plan, the API, our own parts. What each code's page says is in
// test/selling/requests/explain.test.ts, where it links to in test/access-layer/links.test.ts.
describe('a person with a refusal in hand finds in two steps what happened, whose it is and what mends it:', () => {
  it('no key', async () => {
    const reply = await call('/weather/pune');
    const page = { as: stranger, says: 'Failed: exactly one key is sent', remedy: '/sign-up?then=%2Fkeys' };
    await walk({ reply, status: 401, code: 'key_missing', ...page });
    await walk({
      reply,
      status: 401,
      code: 'key_missing',
      says: 'Failed: exactly one key is sent',
      remedy: '/reference/errors#key_missing',
    });
  });

  inTestAll('a key that does not exist', async () => {
    const reply = await call('/weather/pune', 'mistyped');
    await walk({ reply, status: 401, code: 'key_unknown', as: stranger, says: 'Failed: the key exists', remedy: '/sign-in?then=%2Fkeys' });
  });

  it('an expired key', async () => {
    const { key, id } = await keyFor('weather');
    await expireKey(database, { id, actor: 'test' });
    await eventually(async () => (await call('/weather/pune', key)).status === 401);
    const reply = await call('/weather/pune', key);
    await walk({ reply, status: 401, code: 'key_expired', says: 'Move the expiry of the key', remedy: `/keys/${id}` });
    // Without the account's session nothing of it is shown.
    await walk({
      reply,
      status: 401,
      code: 'key_expired',
      as: stranger,
      says: 'Sign in to see this request',
      remedy: '/sign-in?then=%2Fexplain',
    });
  });

  inTestAll('a suspended key', async () => {
    const { key, id } = await keyFor('weather');
    await suspendKey(database, { id, reason: 'It is in a public repository.', actor: 'test' });
    await eventually(async () => (await call('/weather/pune', key)).status === 401);
    const reply = await call('/weather/pune', key);
    await walk({
      reply,
      status: 401,
      code: 'key_unknown',
      says: /suspended by the seller: It is in a public/,
      remedy: 'mailto:help@example.com',
    });
  });

  inTestAll('a suspended customer', async () => {
    await signUp(given(suspended));
    const { key } = await keyFor('weather', SUSPENDED);
    await suspendCustomer(database, { customer: SUSPENDED, reason: 'An invoice is open.', actor: 'test' });
    await eventually(async () => (await call('/weather/pune', key)).status === 401);
    const reply = await call('/weather/pune', key);
    const page = { as: suspended, says: /suspended by the seller: An invoice is open/, remedy: 'mailto:help@example.com' };
    await walk({ reply, status: 401, code: 'subscription_inactive', ...page });
  });

  inTestAll('the key of another product', async () => {
    const { key, id } = await keyFor('rivers');
    const reply = await call('/weather/pune', key);
    await walk({ reply, status: 401, code: 'product_not_authorised', says: 'Authorise the key for weather', remedy: `/keys/${id}` });
  });

  it('a limit that is reached', async () => {
    const { key } = await keyFor('tides');
    expect((await call('/tides/goa', key)).status).toBe(200);
    const reply = await call('/tides/goa', key);
    await walk({ reply, status: 429, code: 'quota_daily_exceeded', says: 'a higher limit counts at once', remedy: '/plans?product=tides' });
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

    inTestAll('is slow', async () => {
      api.mode = 'slow';
      const reply = await call('/weather/pune', key);
      await walk({ reply, status: 504, code: 'gateway_error', says: 'Weather did not answer in time. Given back.', remedy: '/status' });
      expect(await explained(reply)).toContain('See that Weather runs and can be reached from the gateway.');
    });

    inTestAll('answers 500, in its own words: the request id is in the header', async () => {
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
      const reply = await call('/weather/pune', key);
      await walk({
        reply,
        status: 502,
        code: 'gateway_error',
        says: 'Weather did not answer. Given back.',
        remedy: 'mailto:help@example.com',
      });
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
    const page = { says: 'the gateway could not check it and charged nothing', remedy: '/status' };
    await walk({ reply, status: 500, code: 'gateway_error', ...page });
    await walk({
      reply,
      status: 500,
      code: 'gateway_error',
      as: stranger,
      says: 'the gateway could not check the request',
      remedy: '/status',
    });
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
