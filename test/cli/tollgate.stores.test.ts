import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describeConnectionError } from '../../cli/database-problem';
import { askForPlan } from '../../services/selling/subscriptions/ask-for-plan';
import { testDatabase } from '../support/postgres/postgres';
import { runCommand } from '../support/run-command';
import { projectRoot } from '../support/project-root';
import { CUSTOMER, useCommands } from './support/use-commands';
import { newFolder } from '../support/run-folder';

const { database, run, json, failure, newCustomer, newKey } = useCommands();
const noSuchId = '00000000-0000-4000-8000-000000000000';

/** A command that succeeds, as one text. */
const ran = (words: string): Promise<any> => json(...words.split(' '));

it.each<[string, string]>([
  ['customer create --email nobody', 'invalid_argument'],
  [`customer create --email ${CUSTOMER.toUpperCase()}`, 'customer_exists'],
  ['customer suspend nobody@example.com', 'customer_unknown'],
  [`key suspend ${noSuchId}`, 'key_unknown'],
  ['webhook add ftp://example.com', 'invalid_argument'],
  [`statement --customer ${CUSTOMER} --month 2026-13`, 'invalid_argument'],
  ['subscription approve x', 'request_unknown'],
  [`subscription pause ${noSuchId}`, 'subscription_unknown'],
  [`subscription change ${noSuchId} --base --daily 5`, 'invalid_argument'],
  [`usage --customer ${CUSTOMER} --day 2026-02-30`, 'invalid_argument'],
  ['explain deadbeefdeadbeefdeadbeefdeadbeef', 'request_unknown'],
])('tollgate %s is refused: %s', async (words, code) => {
  expect(await failure(...words.split(' '))).toMatchObject({ code });
});

it('sizes are told of every table, for people and for scripts', async () => {
  const { bytes, tables } = (await ran('sizes')) as { bytes: number; tables: { table: string; bytes: number; rows: number | null }[] };
  expect(bytes).toBeGreaterThan(1_000_000);
  expect(tables.find(({ table }) => table === 'audit_log')?.bytes).toBeGreaterThan(8_000);
  expect((await run('sizes')).stdout).toMatch(/audit_log +0\.\d MB +[\d–]+ +\d{4}-\d\d-\d\d\n/);
});

it('customer limits are shown with what the customer has, and raised one by one', async () => {
  const email = await newCustomer();
  await ran(`key create --customer ${email} --products api-ip --allow 10.0.0.0/8,*.example.com`);
  const used = { keys: 1, rules: 2 };
  const limits = { keys: 200, rules: 20_000, writesPerMinute: 120 };
  expect(await ran(`customer limits ${email}`)).toEqual({ customer: email, limits, used });
  const raised = { keys: 1, rules: 30_000, writesPerMinute: 9 };
  const raise = '--keys 1 --rules 30000 --writes-per-minute 9';
  expect(await ran(`customer limits ${email} ${raise}`)).toEqual({ customer: email, limits: raised, used });
  expect((await run('customer', 'limits', email)).stdout).toMatch(/rules of one key +– +1000\n/);
  const refused = await failure('key', 'create', '--customer', email, '--products', 'api-ip');
  expect(refused).toMatchObject({ code: 'key_limit_reached', line: expect.stringMatching(/at most 1 keys.*npx tollgate customer limits/) });
});

it('a webhook of the seller is added with its secret, listed without, tried, replayed and removed', async () => {
  const added = await ran('webhook add http://127.0.0.1:9/hooks --events statement.ready,quota.reached');
  expect(added).toMatchObject({ secret: expect.stringMatching(/^whsec_/), events: ['quota.reached', 'statement.ready'] });
  const listed = await run('webhook', 'list');
  expect(listed.stdout).toContain('http://127.0.0.1:9/hooks');
  expect(listed.stdout).not.toContain(added.secret);
  const tried = await ran(`webhook test ${added.id}`);
  const again = await ran(`webhook replay ${added.id} ${tried.id}`);
  expect((await ran(`webhook deliveries ${added.id}`)).map(({ id }: { id: string }) => id)).toEqual([again.id, tried.id]);
  expect(await failure('webhook', 'replay', added.id, noSuchId)).toMatchObject({ code: 'delivery_unknown' });
  expect(await ran(`webhook remove ${added.id}`)).toEqual({ id: added.id, removed: true });
});

it('a statement tells what a month cost, and null for one that is not known', async () => {
  const email = await newCustomer();
  await ran(`key create --customer ${email} --products api-grank --plan Star`);
  await database().pool.query("UPDATE subscription_term SET since = '2026-02-01T00:00:00+05:30' WHERE product_id = 'api-grank'");
  expect(await ran(`statement --customer ${email} --month 2026-02`)).toMatchObject({
    closedAt: expect.any(String),
    lines: [{ product: 'api-grank', plan: 'Star', days: 28, used: 0, amount: '499.00' }],
    totals: [{ currency: 'INR', amount: '499.00' }],
  });
  const { stdout } = await run('statement', '--customer', email, '--month', '2026-02');
  expect(stdout).toContain('total 499.00 INR');
  expect(stdout).toMatch(/units used +units given back +counted/);
  expect(stdout).not.toMatch(/charged|refunded/);
  expect(await ran(`statement --customer ${email} --month 2026-01`)).toBeNull();
});

it('a request for a plan is listed, approved and declined', async () => {
  await database().pool.query("UPDATE plan SET approval = 'request' WHERE product_id = 'api-grank'");
  const ask = async () => askForPlan(database().pool, { customer: await newCustomer(), product: 'api-grank', plan: 'Star', actor: 'test' });
  const [first, second] = [await ask(), await ask()];
  expect((await ran('subscription requests')).map(({ id }: { id: string }) => id)).toEqual([first.id, second.id]);
  expect((await run('subscription', 'requests')).stdout).toContain('Star, 499.00 INR');
  expect(await ran(`subscription approve ${first.id}`)).toMatchObject({ state: 'approved', currentPlan: 'Star' });
  expect(await failure('subscription', 'decline', second.id)).toMatchObject({ code: 'invalid_argument' });
  expect(await ran(`subscription decline ${second.id} --reason Later.`)).toMatchObject({ state: 'declined', reason: 'Later.' });
  expect(await failure('subscription', 'approve', second.id)).toMatchObject({ code: 'request_closed' });
  expect(await ran('subscription requests')).toEqual([]);
});

it('a subscription is created, changes its plan and its limits, and goes back to the base', async () => {
  const create = `subscription create --customer ${await newCustomer()} --product api-gst --plan Star`;
  const { id, ...created } = await ran(create);
  expect(created).toMatchObject({ product: 'api-gst', plan: 'Star', daily: 100_000, monthly: 3_000_000, state: 'active' });
  expect(await failure(...create.split(' '))).toMatchObject({ code: 'subscription_exists' });
  expect(await ran(`subscription change ${id} --daily 5`)).toMatchObject({ plan: 'Star', daily: 5, monthly: 3_000_000 });
  expect(await ran(`subscription change ${id} --base`)).toMatchObject({ plan: null, daily: 1_000, monthly: 30_000 });
  // The limit that was given for this plan comes back with it.
  expect(await ran(`subscription change ${id} --plan Star`)).toMatchObject({ plan: 'Star', daily: 5 });
});

it('a subscription has a rate of its own, beside the limits that it has, until it goes back to the base', async () => {
  const email = await newCustomer();
  const { subscriptions } = await ran(`key create --customer ${email} --products api-gst --daily 7 --rate 600/min --burst 20`);
  expect(subscriptions).toMatchObject([{ daily: 7, rate: { limit: 600, windowSeconds: 60, burst: 20 } }]);
  const { id } = subscriptions[0];
  const rate = { limit: 10, windowSeconds: 1, burst: 10 };
  expect(await ran(`subscription change ${id} --rate 10/s`)).toMatchObject({ daily: 7, rate });
  expect((await ran(`usage --customer ${email}`)).subscriptions).toMatchObject([{ product: 'api-gst', rate }]);
  expect((await run('usage', '--customer', email)).stdout).toContain('10 requests a second, bursts of 10');
  expect(await ran(`subscription change ${id} --base`)).toMatchObject({ daily: 1_000, rate: null });
});

describe('suspended by the seller', () => {
  const suspended = { reason: 'unpaid', since: expect.any(String) };

  it('is a customer, with a reason, until it is restored', async () => {
    const email = await newCustomer();
    expect(await ran(`customer suspend ${email} --reason unpaid`)).toMatchObject({ email, suspended, keys: 0, subscriptions: [] });
    expect((await run('customer', 'show', email)).stdout).toMatch(/suspended +since \d{4}-\d\d-\d\d \d\d:\d\d UTC: unpaid\n/);
    expect(await ran('customer list --suspended')).toMatchObject([{ email, suspended }]);
    expect((await run('customer', 'list', '--search', email)).stdout).toContain(': unpaid');
    expect(await ran(`customer restore ${email}`)).toMatchObject({ email, suspended: null });
    expect(await ran('customer list --suspended')).toEqual([]);
  });

  it('is a key by its id', async () => {
    const { id } = await newKey();
    expect(await ran(`key suspend ${id} --reason leaked`)).toMatchObject({ id, state: 'active', suspended: { reason: 'leaked' } });
    expect((await run('key', 'show', id)).stdout).toMatch(/state +suspended\nsuspended +since .*: leaked\n/);
    expect(await ran(`key restore ${id}`)).toMatchObject({ suspended: null });
  });

  it('is a subscription by its id, which no pause, resumption or cancellation restores', async () => {
    const { id } = (await newKey()).subscriptions[0];
    expect(await ran(`subscription suspend ${id}`)).toMatchObject({ state: 'active', suspended: { reason: '' } });
    expect(await ran(`subscription pause ${id}`)).toMatchObject({ state: 'paused', suspended: { reason: '' } });
    expect(await ran(`subscription resume ${id}`)).toMatchObject({ state: 'active', suspended: { reason: '' } });
    const { customer: email } = await ran(`subscription cancel ${id}`);
    expect(await failure('subscription', 'resume', id)).toMatchObject({ code: 'subscription_cancelled' });
    // One that is cancelled and comes back is suspended as before, and says so.
    expect((await run('key', 'create', '--customer', email, '--products', 'api-ip')).stdout).toMatch(/suspended since/);
    expect((await run('subscription', 'list', '--customer', email)).stdout).not.toMatch(/active/);
    expect((await run('subscription', 'restore', id)).stdout).not.toContain('suspended');
  });
});

it('usage tells what a day and its month used, without what was given back', async () => {
  const email = await newCustomer();
  const { subscriptions } = await ran(`key create --customer ${email} --products api-ip --daily 10 --monthly 100`);
  const { id } = subscriptions[0];
  await database().pool.query(
    `INSERT INTO usage (subscription_id, day, spent_redis, spent_postgres, refunded)
     VALUES ($1, '2026-03-01', 3, 2, 1), ($1, '2026-03-31', 4, 0, 1), ($1, '2026-02-28', 50, 0, 0), (test_counter($1), '2026-03-31', 8, 0, 1)`,
    [id],
  );
  const live = { daily: 10, monthly: 100, usedDaily: 3, usedMonthly: 7, remainingDaily: 7, remainingMonthly: 93, refundedDaily: 1 };
  const test = { usedDaily: 7, usedMonthly: 7, remainingDaily: 3, remainingMonthly: 93, refundedDaily: 1 };
  expect(await ran(`usage --customer ${email} --day 2026-03-31`)).toMatchObject({
    ...{ customer: email, day: '2026-03-31', timeZone: 'Asia/Kolkata' },
    subscriptions: [{ id, product: 'api-ip', plan: null, state: 'active', ...live, test }],
  });
  const { stdout } = await run('usage', '--customer', email, '--day', '2026-03-31');
  expect(stdout).toMatch(/ live +3 of 10 +7 of 100 +1\n.* test +7 of 10 +7 of 100 +1\n/);
});

it('explain says which check refused a request and how to mend it', async () => {
  const requestId = 'feedfacefeedfacefeedfacefeedface';
  await database().pool.query(
    `INSERT INTO decision (request_id, at, outcome, products, key_place, masked_key) VALUES ($1, now(), 'key_unknown', '{api-ip}', 'x-api-key', 'tg_live…abcd')`,
    [requestId],
  );
  const remedy = expect.stringContaining('Check the key');
  expect(await ran(`explain ${requestId}`)).toMatchObject({ requestId, outcome: 'key_unknown', remedy });
  const { stdout } = await run('explain', requestId);
  expect(stdout).toMatch(/^Request → 401 key_unknown\. The request was refused: API key not valid\. Nothing was charged\.\n/);
  expect(stdout).toMatch(/^✗ the key exists and is active/m);
});

it('explain begins with what the caller got, whose fault it was, and since when the product fails', async () => {
  const requestId = 'beeffacebeeffacebeeffacebeefface';
  await database().pool.query(
    `INSERT INTO decision (request_id, at, outcome, products, product, standing, method, path, status, milliseconds, bytes, units, is_from_api)
     VALUES ($1, now(), 'admitted', '{}', 'api-seo', '2026-11-20 1 1 9 9', 'GET', '/seo', 502, 31, 107, 1, false)`,
    [requestId],
  );
  await database().pool.query(
    "INSERT INTO product_outage (product_id, began_at, failed_at, answered, failed) VALUES ('api-seo', '2026-11-20T13:00:00Z', now(), 9, 9)",
  );
  const { stdout } = await run('explain', requestId);
  expect(stdout.split('\n')[0]).toMatch(
    /^GET \/seo → 502 in 31 ms\. The request was admitted; .+ did not answer\. Charged\. Failing since 2026-11-20T13:00:00Z\.$/,
  );
  expect(stdout).toMatch(/^response, as the gateway reported it: 502, 31 ms, 107 bytes, units 1, /m);
  expect(await ran(`explain ${requestId}`)).toMatchObject({ answer: { status: 502 }, product: { failing: true } });
});

describe('a database that cannot be used', () => {
  it('because it does not exist is named in one line, without its password', async () => {
    const url = new URL(database().url);
    url.pathname = '/nowhere';
    const { code, stderr } = await runCommand(['usage', '--customer', CUSTOMER], { databaseUrl: url.href });
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(/^tollgate: [^\n]*no database with that name \(3D000\)[^\n]*\n$/),
    });
  });

  it.each(['28P01', 'ENOTFOUND', undefined])('is told with its host and never its password (%s)', (code) => {
    const text = describeConnectionError(Object.assign(new Error('hunter2'), { code }), 'postgres://user:hunter2@db.example:5433/tollgate');
    expect(text).toMatch(/^PostgreSQL at db\.example:5433 [^\n]+$/);
    expect(text).not.toMatch(/hunter2|user:/);
  });

  it('that was never prepared sends the reader to the doctor', async () => {
    const empty = await testDatabase({ empty: true });
    try {
      const { code, stderr } = await runCommand(['usage', '--customer', CUSTOMER], { databaseUrl: empty.url });
      expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(/^tollgate: [^\n]*npx tollgate doctor[^\n]*\n$/) });
    } finally {
      await empty.close();
    }
  });
});

describe('help', () => {
  it.each(['', 'key create', 'explain'])('of "%s" teaches with examples', async (words) => {
    const { code, stdout, stderr } = await run(...words.split(' ').filter(Boolean), '--help');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^Usage: tollgate[^]*npx tollgate /);
  });

  it.each([
    ['kye', /key[^]*; see npx tollgate --help\n$/],
    ['key creat', /create[^]*; see npx tollgate key --help\n$/],
    ['usage --month', /; see npx tollgate usage --help\n$/],
    [`key show ${noSuchId}`, /key list/],
    [`key create --customer ${CUSTOMER} --products api-pi`, /api-pincode/],
  ])('is pointed to after the mistake "%s"', async (words, help) => {
    expect((await failure(...words.split(' '))).line).toMatch(help);
  });

  it('tells the version', async () => {
    const { version } = JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8'));
    expect(await run('--version')).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
  });
});

describe('which database', () => {
  let root: string;

  beforeEach(() => {
    root = newFolder();
    mkdirSync(join(root, '.tollgate'));
  });

  function writeInstance(): void {
    const supervisor = { pid: process.pid, startedAt: '1' };
    const state = { supervisor, children: [], databaseUrl: database().url, gateway: 'http://127.0.0.1:4711', dataDir: root };
    writeFileSync(join(root, '.tollgate', 'state.json'), JSON.stringify(state));
  }

  it('is that of the instance that runs from the folder', async () => {
    writeInstance();
    const { code, stdout } = await runCommand(['key', 'create', '--customer', CUSTOMER, '--products', 'api-seo'], {
      root,
      isSameProcess: () => true,
    });
    expect(code).toBe(0);
    expect(stdout).toContain(`'http://127.0.0.1:4711/seo'`);
  });

  it.each([
    ['nothing was started', (): void => undefined],
    ['the instance has ended', writeInstance],
  ])('is asked for when %s', async (_, prepare) => {
    prepare();
    const { code, stderr } = await runCommand(['key', 'list', '--customer', CUSTOMER], { root });
    expect(code).toBe(1);
    expect(stderr).toMatch(/^tollgate: [^\n]*npm start[^\n]*DATABASE_URL\n$/);
  });

  it('that does not answer is named in one line without its password', async () => {
    const databaseUrl = 'postgres://someone:hunter2@127.0.0.1:1/none';
    const { code, stderr } = await runCommand(['key', 'list', '--customer', CUSTOMER], { databaseUrl, root: projectRoot });
    expect(code).toBe(1);
    expect(stderr).toMatch(/^tollgate: PostgreSQL at 127\.0\.0\.1:1 does not respond \(ECONNREFUSED\)[^\n]*\n$/);
    expect(stderr).not.toContain('hunter2');
  });
});
