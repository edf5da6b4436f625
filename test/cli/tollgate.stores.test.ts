import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeConnectionError } from '../../cli/database-problem';
import { askForPlan } from '../../plugins/stores/postgres/subscriptions/ask-for-plan';
import { testDatabase } from '../support/postgres/postgres';
import { projectRoot, runCommand } from './support/run-command';
import { CUSTOMER, useCommands } from './support/use-commands';

const { database, run, json, failure, newCustomer, newKey } = useCommands();
const noSuchId = '00000000-0000-4000-8000-000000000000';

describe('customer create', () => {
  test('refuses a second customer with the same address in another case', async () => {
    expect(await failure('customer', 'create', '--email', CUSTOMER.toUpperCase())).toMatchObject({ code: 'customer_exists' });
  });

  test.each(['', 'nobody', 'a@b', 'two words@example.com', `${'a'.repeat(250)}@example.com`])('refuses %p as an address', async (email) => {
    expect(await failure('customer', 'create', '--email', email)).toMatchObject({ code: 'invalid_argument' });
  });
});

describe('sizes', () => {
  test('are told of every table, for people and for scripts', async () => {
    const { bytes, tables } = (await json('sizes')) as { bytes: number; tables: { table: string; bytes: number; rows: number | null }[] };
    expect(bytes).toBeGreaterThan(1_000_000);
    expect(tables.find(({ table }) => table === 'audit_log')?.bytes).toBeGreaterThan(8_000);
    expect((await run('sizes')).stdout).toMatch(/audit_log +0\.\d MB +[\d–]+ +\d{4}-\d\d-\d\d\n/);
  });
});

describe('customer limits', () => {
  test('are shown with what the customer has, and raised one by one', async () => {
    const email = await newCustomer();
    await json('key', 'create', '--customer', email, '--products', 'api-ip', '--allow', '10.0.0.0/8,*.example.com');
    const used = { keys: 1, rules: 2 };
    expect(await json('customer', 'limits', email)).toEqual({
      customer: email,
      limits: { keys: 200, rulesPerKey: 1_000, rules: 20_000, writesPerMinute: 120 },
      used,
    });
    const raised = await json(
      'customer',
      'limits',
      email,
      '--keys',
      '1',
      '--rules-per-key',
      '5000',
      '--rules',
      '30000',
      '--writes-per-minute',
      '9',
    );
    expect(raised).toEqual({ customer: email, limits: { keys: 1, rulesPerKey: 5_000, rules: 30_000, writesPerMinute: 9 }, used });
    expect((await run('customer', 'limits', email)).stdout).toMatch(/rules of one key +– +5000\n/);
    const refused = await failure('key', 'create', '--customer', email, '--products', 'api-ip');
    expect(refused.code).toBe('key_limit_reached');
    expect(refused.line).toContain('at most 1 keys');
    expect(refused.line).toContain('npx tollgate customer limits');
  });

  test.each([
    ['--keys', '0'],
    ['--rules', 'many'],
    ['--rules-per-key', '-1'],
  ])('refuse %s %p', async (option, value) => {
    expect(await failure('customer', 'limits', CUSTOMER, option, value)).toMatchObject({ code: 'invalid_argument' });
  });
});

describe('a webhook of the seller', () => {
  test('is added with its secret, listed without, tried, replayed and removed', async () => {
    const added = await json('webhook', 'add', 'http://127.0.0.1:9/hooks', '--events', 'statement.ready,quota.reached');
    expect(added).toMatchObject({ secret: expect.stringMatching(/^whsec_/), events: ['quota.reached', 'statement.ready'] });
    const listed = await run('webhook', 'list');
    expect(listed.stdout).toContain('http://127.0.0.1:9/hooks');
    expect(listed.stdout).not.toContain(added.secret);
    const tried = await json('webhook', 'test', added.id);
    const again = await json('webhook', 'replay', added.id, tried.id);
    expect((await json('webhook', 'deliveries', added.id)).map(({ id }: { id: string }) => id)).toEqual([again.id, tried.id]);
    expect(await failure('webhook', 'replay', added.id, noSuchId)).toMatchObject({ code: 'delivery_unknown' });
    expect(await json('webhook', 'remove', added.id)).toEqual({ id: added.id, removed: true });
    expect(await failure('webhook', 'remove', added.id)).toMatchObject({ code: 'webhook_unknown' });
  });

  test.each([
    ['ftp://example.com', undefined],
    ['nowhere', undefined],
    ['https://user:word@example.com/', undefined],
    ['https://example.com/', 'statement.done'],
    ['https://example.com/', ''],
  ])('is refused for %s and %s', async (url, events) => {
    const flags = events === undefined ? [] : ['--events', events];
    expect(await failure('webhook', 'add', url, ...flags)).toMatchObject({ code: 'invalid_argument' });
  });
});

describe('a statement', () => {
  test('tells what a month cost, and null for one that is not known', async () => {
    const email = await newCustomer();
    await json('key', 'create', '--customer', email, '--products', 'api-grank', '--plan', 'Star');
    await database().pool.query("UPDATE subscription_term SET since = '2026-02-01T00:00:00+05:30' WHERE product_id = 'api-grank'");
    expect(await json('statement', '--customer', email, '--month', '2026-02')).toMatchObject({
      customer: email,
      month: '2026-02',
      closedAt: expect.any(String),
      lines: [{ product: 'api-grank', plan: 'Star', days: 28, used: 0, amount: '499.00' }],
      totals: [{ currency: 'INR', amount: '499.00' }],
    });
    expect((await run('statement', '--customer', email, '--month', '2026-02')).stdout).toContain('total 499.00 INR');
    expect(await json('statement', '--customer', email, '--month', '2026-01')).toBeNull();
    expect(await failure('statement', '--customer', email, '--month', '2026-13')).toMatchObject({ code: 'invalid_argument' });
    expect(await failure('statement', '--customer', 'no@example.com', '--month', '2026-01')).toMatchObject({ code: 'customer_unknown' });
  });
});

describe('a request for a plan', () => {
  test('is listed, approved and declined', async () => {
    await database().pool.query("UPDATE plan SET approval = 'request' WHERE product_id = 'api-grank'");
    const ask = async () =>
      askForPlan(database().pool, { customer: await newCustomer(), product: 'api-grank', plan: 'Star', actor: 'test' });
    const [first, second] = [await ask(), await ask()];
    const listed = await json('subscription', 'requests');
    expect(listed.map(({ id }: { id: string }) => id)).toEqual([first.id, second.id]);
    expect((await run('subscription', 'requests')).stdout).toContain('Star, 499.00 INR');
    expect(await json('subscription', 'approve', first.id)).toMatchObject({ state: 'approved', currentPlan: 'Star' });
    expect(await json('subscription', 'approve', first.id)).toMatchObject({ state: 'approved' });
    expect(await failure('subscription', 'decline', second.id)).toMatchObject({ code: 'invalid_argument' });
    expect(await json('subscription', 'decline', second.id, '--reason', 'Not yet.')).toMatchObject({
      state: 'declined',
      reason: 'Not yet.',
    });
    expect(await failure('subscription', 'approve', second.id)).toMatchObject({ code: 'request_closed' });
    expect(await failure('subscription', 'approve', 'x')).toMatchObject({ code: 'request_unknown' });
    expect(await json('subscription', 'requests')).toEqual([]);
  });
});

describe('a subscription', () => {
  test('is created once per customer and product', async () => {
    const email = await newCustomer();
    const argv = ['subscription', 'create', '--customer', email, '--product', 'api-gst', '--plan', 'Star'];
    expect(await json(...argv)).toMatchObject({ product: 'api-gst', plan: 'Star', daily: 100_000, monthly: 3_000_000, state: 'active' });
    expect(await failure(...argv)).toMatchObject({ code: 'subscription_exists' });
  });

  test('changes its plan and its limits, and goes back to the base', async () => {
    const { subscriptions } = await newKey();
    const { id } = subscriptions[0];
    expect(await json('subscription', 'change', id, '--plan', 'Star')).toMatchObject({ plan: 'Star', daily: 100_000 });
    expect(await json('subscription', 'change', id, '--daily', '5')).toMatchObject({ plan: 'Star', daily: 5, monthly: 3_000_000 });
    expect(await json('subscription', 'change', id, '--base')).toMatchObject({ plan: null, daily: 1_000, monthly: 30_000 });
  });

  test('says what to change when nothing or too much is asked for', async () => {
    const { subscriptions } = await newKey();
    const { id } = subscriptions[0];
    expect(await failure('subscription', 'change', id)).toMatchObject({ code: 'invalid_argument' });
    expect(await failure('subscription', 'change', id, '--base', '--daily', '5')).toMatchObject({ code: 'invalid_argument' });
  });

  test('is paused, resumed and cancelled', async () => {
    const { subscriptions } = await newKey();
    const { id } = subscriptions[0];
    expect(await json('subscription', 'pause', id)).toMatchObject({ state: 'paused' });
    expect(await json('subscription', 'resume', id)).toMatchObject({ state: 'active' });
    expect(await json('subscription', 'cancel', id)).toMatchObject({ state: 'cancelled' });
    expect(await failure('subscription', 'resume', id)).toMatchObject({ code: 'subscription_cancelled' });
  });

  test.each([['pause'], ['resume'], ['cancel']])('that does not exist is refused by %s', async (command) => {
    expect(await failure('subscription', command, noSuchId)).toMatchObject({ code: 'subscription_unknown' });
  });

  test('that does not exist cannot be changed', async () => {
    expect(await failure('subscription', 'change', noSuchId, '--plan', 'Star')).toMatchObject({ code: 'subscription_unknown' });
  });
});

describe('suspended by the provider', () => {
  const suspended = { reason: 'unpaid', since: expect.any(String) };

  test('is a customer, with a reason, until it is restored', async () => {
    const email = await newCustomer();
    expect(await json('customer', 'suspend', email, '--reason', 'unpaid')).toMatchObject({ email, suspended, keys: 0, subscriptions: [] });
    expect((await run('customer', 'show', email)).stdout).toMatch(/suspended +since \d{4}-\d\d-\d\d \d\d:\d\d UTC: unpaid\n/);
    expect(await json('customer', 'list', '--suspended')).toMatchObject([{ email, suspended }]);
    expect((await run('customer', 'list', '--search', email)).stdout).toContain(': unpaid');
    expect(await json('customer', 'restore', email)).toMatchObject({ email, suspended: null });
    expect(await json('customer', 'list', '--suspended')).toEqual([]);
  });

  test('is a key or a subscription by its id, and resuming does not lift it', async () => {
    const { id, subscriptions } = await newKey();
    expect(await json('key', 'suspend', id, '--reason', 'leaked')).toMatchObject({ id, state: 'active', suspended: { reason: 'leaked' } });
    expect((await run('key', 'show', id)).stdout).toMatch(/state +suspended\nsuspended +since .*: leaked\n/);
    expect(await failure('key', 'rotate', id)).toMatchObject({ code: 'key_not_usable' });
    expect(await json('key', 'restore', id)).toMatchObject({ suspended: null });
    const subscription = subscriptions[0].id;
    expect(await json('subscription', 'suspend', subscription)).toMatchObject({ state: 'active', suspended: { reason: '' } });
    expect(await json('subscription', 'pause', subscription)).toMatchObject({ state: 'paused', suspended: { reason: '' } });
    expect(await json('subscription', 'resume', subscription)).toMatchObject({ state: 'active', suspended: { reason: '' } });
    // One that is cancelled and comes back is suspended as before, and says so.
    const { customer, product } = await json('subscription', 'cancel', subscription);
    const create = ['key', 'create', '--customer', customer, '--products', product];
    expect((await run(...create)).stdout).toMatch(/suspended since/);
    expect((await json(...create)).subscriptions).toMatchObject([{ id: subscription, suspended: { reason: '' } }]);
    expect((await run('subscription', 'list', '--customer', customer)).stdout).not.toMatch(/active/);
    expect((await run('subscription', 'restore', subscription)).stdout).not.toContain('suspended');
  });

  test.each(['suspend', 'restore'])('is refused of what does not exist: %s', async (command) => {
    expect(await failure('customer', command, 'nobody@example.com')).toMatchObject({ code: 'customer_unknown' });
    expect(await failure('key', command, noSuchId)).toMatchObject({ code: 'key_unknown' });
    expect(await failure('subscription', command, noSuchId)).toMatchObject({ code: 'subscription_unknown' });
    expect(await failure('key', command, 'seven')).toMatchObject({ code: 'key_unknown' });
    expect(await failure('customer', command)).toMatchObject({ code: 'invalid_argument' });
  });
});

describe('usage', () => {
  test('tells what a day and its month used, without what was given back', async () => {
    const email = await newCustomer();
    const { subscriptions } = await json('key', 'create', '--customer', email, '--products', 'api-ip', '--daily', '10', '--monthly', '100');
    const { id } = subscriptions[0];
    await database().pool.query(
      `INSERT INTO usage (subscription_id, day, spent_redis, spent_postgres, refunded)
       VALUES ($1, '2026-03-01', 3, 2, 1), ($1, '2026-03-31', 4, 0, 1), ($1, '2026-02-28', 50, 0, 0)`,
      [id],
    );
    await database().pool.query(
      "INSERT INTO usage (subscription_id, day, spent_redis, refunded) VALUES (test_counter($1), '2026-03-31', 8, 1)",
      [id],
    );
    const report = await json('usage', '--customer', email, '--day', '2026-03-31');
    expect(report).toMatchObject({ customer: email, day: '2026-03-31', timeZone: 'Asia/Kolkata' });
    expect(report.subscriptions).toEqual([
      {
        id,
        product: 'api-ip',
        plan: null,
        state: 'active',
        daily: 10,
        monthly: 100,
        usedDaily: 3,
        usedMonthly: 7,
        remainingDaily: 7,
        remainingMonthly: 93,
        refundedDaily: 1,
        test: { usedDaily: 7, usedMonthly: 7, remainingDaily: 3, remainingMonthly: 93, refundedDaily: 1 },
      },
    ]);
    const { stdout } = await run('usage', '--customer', email, '--day', '2026-03-31');
    expect(stdout).toMatch(/ live +3 of 10 +7 of 100 +1\n.* test +7 of 10 +7 of 100 +1\n/);
  });

  test.each(['yesterday', '2026-02-30', '2026-3-1'])('refuses %p as a day', async (day) => {
    expect(await failure('usage', '--customer', CUSTOMER, '--day', day)).toMatchObject({ code: 'invalid_argument' });
  });
});

describe('explain', () => {
  test('says which check refused a request and how to mend it', async () => {
    const requestId = 'feedfacefeedfacefeedfacefeedface';
    await database().pool.query(
      `INSERT INTO decision (request_id, at, outcome, products, key_place, masked_key) VALUES ($1, now(), 'key_unknown', '{api-ip}', 'x-api-key', 'tg_live…abcd')`,
      [requestId],
    );
    expect(await json('explain', requestId)).toMatchObject({
      requestId,
      outcome: 'key_unknown',
      remedy: expect.stringContaining('Check the key'),
    });
    const { stdout } = await run('explain', requestId);
    expect(stdout).toMatch(/^✗ the key exists and is active/m);
  });

  test('refuses an id that nobody knows, and one that is none', async () => {
    expect(await failure('explain', 'deadbeefdeadbeefdeadbeefdeadbeef')).toMatchObject({ code: 'request_unknown' });
    expect(await failure('explain', '?')).toMatchObject({ code: 'invalid_argument' });
  });
});

describe('a database that cannot be used', () => {
  test('because it does not exist is named in one line, without its password', async () => {
    const url = new URL(database().url);
    url.pathname = '/nowhere';
    const { code, stderr } = await runCommand(['usage', '--customer', CUSTOMER], { databaseUrl: url.href });
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(/^tollgate: [^\n]*no database of that name \(3D000\)[^\n]*\n$/),
    });
  });

  test.each(['28P01', '3D000', '53300', 'ENOTFOUND', 'ECONNREFUSED', undefined])(
    'is told with its host and never its password (%s)',
    (code) => {
      const text = describeConnectionError(
        Object.assign(new Error('hunter2'), { code }),
        'postgres://user:hunter2@db.example:5433/tollgate',
      );
      expect(text).toMatch(/^PostgreSQL at db\.example:5433 [^\n]+$/);
      expect(text).not.toMatch(/hunter2|user:/);
    },
  );

  test('that was never prepared sends the reader to the check', async () => {
    const empty = await testDatabase({ empty: true });
    try {
      const { code, stderr } = await runCommand(['usage', '--customer', CUSTOMER], { databaseUrl: empty.url });
      expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(/^tollgate: [^\n]*npx tollgate check[^\n]*\n$/) });
    } finally {
      await empty.close();
    }
  });

  test('is named by the check of a restored copy', async () => {
    expect((await failure('restore-check', 'nowhere')).line).toMatch(/"nowhere" cannot be read: [^\n]*no database of that name/);
  });
});

describe('help', () => {
  test.each([
    [[]],
    [['key']],
    [['key', 'create']],
    [['key', 'import']],
    [['key', 'rotate']],
    [['key', 'rules']],
    [['subscription', 'change']],
    [['usage']],
    [['explain']],
    [['customer', 'create']],
  ])('of %p teaches with examples', async (words) => {
    const { code, stdout, stderr } = await run(...words, '--help');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^Usage: tollgate/);
    if (words.length !== 1 || words[0] !== 'key') expect(stdout).toMatch(/npx tollgate /);
  });

  test('of a misspelt command suggests the right one', async () => {
    expect((await failure('key', 'creat')).line).toMatch(/create/);
    expect((await failure('kye')).line).toMatch(/key/);
  });

  test('is pointed to when a group is called without a command', async () => {
    expect((await failure('key')).line).toMatch(/--help/);
  });

  test.each([
    [['kye'], 'npx tollgate --help'],
    [['key', 'lost'], 'npx tollgate key --help'],
    [['key', 'list'], 'npx tollgate key list --help'],
    [['key', 'show'], 'npx tollgate key show --help'],
    [['usage', '--month'], 'npx tollgate usage --help'],
  ])('of the part that was understood is named after %p', async (words, help) => {
    expect((await failure(...words)).line).toMatch(new RegExp(`; see ${help}\n$`));
  });

  test('tells the version', async () => {
    const { version } = JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8'));
    expect(await run('--version')).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
  });
});

describe('what does not exist', () => {
  test.each([
    [['key', 'show', noSuchId], 'key list'],
    [['subscription', 'pause', noSuchId], 'subscription list'],
    [['key', 'list', '--customer', 'nobody@example.com'], 'customer create'],
    [['key', 'create', '--customer', CUSTOMER, '--products', 'api-pi'], 'api-pincode'],
  ])('%p says where to look', async (words, hint) => {
    expect((await failure(...words)).line).toContain(hint);
  });
});

describe('which database', () => {
  let root: string;

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'tollgate-root-'));
    mkdirSync(join(root, '.tollgate'));
  });

  afterEach(() => rmSync(root, { recursive: true, force: true }));

  function writeInstance(): void {
    const supervisor = { pid: process.pid, startedAt: '1' };
    const state = { supervisor, children: [], databaseUrl: database().url, gateway: 'http://127.0.0.1:4711', dataDir: root };
    writeFileSync(join(root, '.tollgate', 'state.json'), JSON.stringify(state));
  }

  test('is that of the instance that runs from the folder', async () => {
    writeInstance();
    const { code, stdout } = await runCommand(['key', 'create', '--customer', CUSTOMER, '--products', 'api-seo'], {
      root,
      isSameProcess: () => true,
    });
    expect(code).toBe(0);
    expect(stdout).toContain(`'http://127.0.0.1:4711/seo'`);
  });

  test.each([
    ['nothing was started', (): void => undefined],
    ['the instance has ended', writeInstance],
  ])('is asked for when %s', async (_, prepare) => {
    prepare();
    const { code, stderr } = await runCommand(['key', 'list', '--customer', CUSTOMER], { root });
    expect(code).toBe(1);
    expect(stderr).toMatch(/^tollgate: [^\n]*npm start[^\n]*DATABASE_URL\n$/);
  });

  test('that does not answer is named in one line without its password', async () => {
    const databaseUrl = 'postgres://someone:hunter2@127.0.0.1:1/none';
    const { code, stderr } = await runCommand(['key', 'list', '--customer', CUSTOMER], { databaseUrl, root: projectRoot });
    expect(code).toBe(1);
    expect(stderr).toMatch(/^tollgate: PostgreSQL at 127\.0\.0\.1:1 does not answer \(ECONNREFUSED\)[^\n]*\n$/);
    expect(stderr).not.toContain('hunter2');
  });
});
