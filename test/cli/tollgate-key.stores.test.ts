import { createHash } from 'node:crypto';
import { hashApiKey, isPlausibleKey } from '../../plugins/core/access/api-key';
import { runCommand } from './support/run-command';
import { CUSTOMER, useCommands } from './support/use-commands';

const { database, run, json, failure, newCustomer, newKey } = useCommands();
const noSuchId = '00000000-0000-4000-8000-000000000000';

describe('key create', () => {
  test('prints the key, its id and the subscriptions with the limits in force', async () => {
    const created = await json('key', 'create', '--customer', CUSTOMER, '--products', 'api-ip,api-vahaan', '--plan', 'Star');
    expect(Object.keys(created).sort()).toEqual(['id', 'key', 'subscriptions']);
    expect(created.key).toMatch(/^tg_live_/);
    expect(isPlausibleKey(created.key)).toBe(true);
    expect(created.subscriptions).toEqual([
      { id: expect.any(String), product: 'api-ip', plan: 'Star', daily: 100_000, monthly: 3_000_000 },
      { id: expect.any(String), product: 'api-vahaan', plan: 'Star', daily: 200, monthly: 6_000 },
    ]);
  });

  test('stores the hash and never the key', async () => {
    const { key, id } = await newKey();
    const { rows } = await database().pool.query<{ hash: string; row: string }>(
      `SELECT encode(hash, 'hex') AS hash, row_to_json(credential)::text AS row FROM credential WHERE id = $1`,
      [id],
    );
    expect(rows[0]?.hash).toBe(hashApiKey(key));
    expect(rows[0]?.row).not.toContain(key.slice(8, 24));
  });

  test('joins the subscription that the customer has', async () => {
    const email = await newCustomer();
    const first = await json('key', 'create', '--customer', email, '--products', 'api-ip');
    const second = await json('key', 'create', '--customer', email, '--products', 'api-ip', '--mode', 'test');
    expect(second.key).toMatch(/^tg_test_/);
    expect(second.subscriptions[0].id).toBe(first.subscriptions[0].id);
  });

  test('sets the limits of the subscription alone', async () => {
    const { subscriptions } = await newKey('--daily', '7', '--monthly', '70');
    expect(subscriptions[0]).toMatchObject({ plan: null, daily: 7, monthly: 70 });
  });

  test('keeps expiry, rules, mode and name', async () => {
    const created = await newKey(
      '--mode',
      'test',
      '--expires',
      '2099-03-31T18:30:00+05:30',
      '--allow',
      ' 10.0.0.0/8 , *.Example.com',
      '--name',
      'shop',
    );
    expect(await json('key', 'show', created.id)).toMatchObject({
      mode: 'test',
      expiresAt: '2099-03-31T13:00:00.000Z',
      rules: ['*.example.com', '10.0.0.0/8'],
      name: 'shop',
    });
  });

  test('subscribes nobody with --no-subscribe', async () => {
    const email = await newCustomer();
    const created = await json('key', 'create', '--customer', email, '--products', 'api-ip', '--no-subscribe');
    expect(created.subscriptions).toEqual([]);
    expect(await json('subscription', 'list', '--customer', email)).toEqual([]);
  });

  test('shows people the key once, with a call that is ready to run', async () => {
    const { stdout } = await run('key', 'create', '--customer', CUSTOMER, '--products', 'api-pincode');
    const key = stdout.split('\n')[0] ?? '';
    expect(isPlausibleKey(key)).toBe(true);
    expect(stdout).toContain(`curl -H 'X-API-Key: ${key}' 'http://127.0.0.1:`);
    expect(stdout).toContain('/pincode?country=IN&pin=110001');
  });

  test('shows that call at the address by which customers reach the gateway', async () => {
    const argv = ['key', 'create', '--customer', CUSTOMER, '--products', 'api-ip'];
    const { stdout } = await runCommand(argv, { databaseUrl: database().url, env: { GATEWAY_URL: 'https://api.example.com/' } });
    expect(stdout).toContain(`'https://api.example.com/ip?`);
  });

  test.each<[string[], string]>([
    [['--products', 'api-nope'], 'product_unknown'],
    [['--products', ''], 'invalid_argument'],
    [['--products', 'api-ip', '--plan', 'Moon'], 'plan_unknown'],
    [['--products', 'api-image', '--plan', 'Star'], 'plan_unknown'],
    [['--products', 'api-pan'], 'product_without_limits'],
    [['--products', 'api-ip', '--mode', 'dev'], 'invalid_argument'],
    [['--products', 'api-ip', '--expires', 'tomorrow'], 'invalid_argument'],
    [['--products', 'api-ip', '--expires', '2099-02-30'], 'invalid_argument'],
    [['--products', 'api-ip', '--expires', '2020-01-01'], 'invalid_argument'],
    [['--products', 'api-ip', '--allow', '10.0.0.1/8'], 'rule_malformed'],
    [['--products', 'api-ip', '--allow', 'http://example.com'], 'rule_malformed'],
    [['--products', 'api-ip', '--allow', ''], 'invalid_argument'],
    [['--products', 'api-ip', '--allow', ' , '], 'invalid_argument'],
    [['--products', 'api-ip', '--daily', '0'], 'invalid_argument'],
    [['--products', 'api-ip', '--daily', '-5'], 'invalid_argument'],
    [['--products', 'api-ip', '--monthly', '1.5'], 'invalid_argument'],
    [['--products', 'api-ip', '--daily', '99999999999'], 'invalid_argument'],
    [['--products', 'api-ip', '--no-subscribe', '--daily', '5'], 'invalid_argument'],
    [['--products', 'api-ip', '--colour', 'red'], 'invalid_argument'],
    [['--products', 'api-ip', 'more'], 'invalid_argument'],
    [[], 'invalid_argument'],
  ])('refuses %p: %s, and makes nothing', async (more, code) => {
    const email = await newCustomer();
    expect(await failure('key', 'create', '--customer', email, ...more)).toMatchObject({ code });
    expect(await json('key', 'list', '--customer', email)).toEqual([]);
    expect(await json('subscription', 'list', '--customer', email)).toEqual([]);
  });

  test('refuses an unknown customer', async () => {
    expect(await failure('key', 'create', '--customer', 'who@example.com', '--products', 'api-ip')).toMatchObject({
      code: 'customer_unknown',
    });
  });
});

describe('key import', () => {
  test('takes a key of another system by its hash, once', async () => {
    const hash = createHash('sha256').update('legacy-key-of-another-system').digest('hex');
    const argv = ['key', 'import', '--customer', CUSTOMER, '--products', 'api-ip', '--hash', hash];
    const { id } = await json(...argv);
    expect(await json('key', 'show', id)).toMatchObject({ mode: 'live', state: 'active', products: ['api-ip'] });
    expect(await failure(...argv)).toMatchObject({ code: 'key_exists' });
  });

  test('refuses what is not a SHA-256', async () => {
    const argv = ['key', 'import', '--customer', CUSTOMER, '--products', 'api-ip', '--hash', 'abc'];
    expect(await failure(...argv)).toMatchObject({ code: 'hash_malformed' });
  });
});

describe('a key', () => {
  test('is listed without its secret', async () => {
    const email = await newCustomer();
    const { key, id } = await json('key', 'create', '--customer', email, '--products', 'api-ip');
    const { stdout } = await run('key', 'list', '--customer', email);
    expect(stdout).toContain(id);
    expect(stdout).toContain(`tg_live…${key.slice(-4)}`);
    expect(stdout).not.toContain(key.slice(8, 20));
  });

  test('is switched off and on again', async () => {
    const { id } = await newKey();
    expect(await json('key', 'deactivate', id)).toMatchObject({ id, state: 'inactive' });
    expect(await json('key', 'activate', id)).toMatchObject({ id, state: 'active' });
  });

  test('is revoked for good', async () => {
    const { id } = await newKey();
    expect(await json('key', 'revoke', id)).toMatchObject({ state: 'revoked' });
    expect((await failure('key', 'activate', id)).line).toMatch(/revoked/);
  });

  test('is rotated at once, keeping products, rules, mode and subscription', async () => {
    const old = await newKey('--mode', 'test', '--allow', '10.0.0.0/8');
    const rotated = await json('key', 'rotate', old.id);
    expect(rotated).toMatchObject({ rotatedFrom: old.id, oldKeyEndsAt: null, subscriptions: old.subscriptions });
    expect(rotated.key).toMatch(/^tg_test_/);
    expect(await json('key', 'show', rotated.id)).toMatchObject({ products: ['api-ip'], rules: ['10.0.0.0/8'], state: 'active' });
    expect(await json('key', 'show', old.id)).toMatchObject({ state: 'revoked' });
  });

  test('is rotated with an overlap, in which the old one works', async () => {
    const old = await newKey();
    const before = Date.now();
    const { oldKeyEndsAt } = await json('key', 'rotate', old.id, '--overlap', '24h');
    const lengthMs = new Date(oldKeyEndsAt).getTime() - before;
    expect(Math.abs(lengthMs - 86_400_000)).toBeLessThan(60_000);
    expect(await json('key', 'show', old.id)).toMatchObject({ state: 'active', expired: false });
  });

  test('ends now, or at a moment that may be past', async () => {
    const { id } = await newKey();
    expect(await json('key', 'expire', id, '--at', '2020-01-01')).toMatchObject({ expired: true, expiresAt: '2020-01-01T00:00:00.000Z' });
    expect(await json('key', 'expire', id, '--at', '2099-01-01')).toMatchObject({ expired: false });
    expect(await json('key', 'expire', id)).toMatchObject({ expired: true });
  });

  test('has its rules shown, replaced and removed', async () => {
    const { id } = await newKey('--allow', '10.0.0.0/8');
    expect(await json('key', 'rules', id)).toEqual({ id, rules: ['10.0.0.0/8'] });
    expect(await json('key', 'rules', id, '--allow', '192.0.2.1,app.example.com')).toEqual({ id, rules: ['app.example.com', '192.0.2.1'] });
    expect(await json('key', 'rules', id, '--allow', '')).toEqual({ id, rules: [] });
  });

  test.each([['show'], ['rotate'], ['deactivate'], ['activate'], ['revoke'], ['expire'], ['rules']])(
    'that does not exist is refused by %s',
    async (command) => {
      expect(await failure('key', command, noSuchId)).toMatchObject({ code: 'key_unknown' });
      expect(await failure('key', command, 'nonsense')).toMatchObject({ code: 'key_unknown' });
      expect(await failure('key', command)).toMatchObject({ code: 'invalid_argument' });
    },
  );

  test('given for its id is refused without being repeated', async () => {
    const { key } = await newKey();
    const { code, line } = await failure('key', 'revoke', key);
    expect(code).toBe('invalid_argument');
    expect(line).not.toContain(key.slice(8, 20));
  });

  test.each([
    ['rotate', '--overlap', 'soon'],
    ['rotate', '--overlap', '0h'],
    ['rotate', '--overlap', '9999d'],
    ['expire', '--at', '31.12.2099'],
    ['rules', '--allow', '999.1.1.1'],
    ['rules', '--allow', ','],
  ])('refuses %s %s %s', async (command, option, value) => {
    const { id } = await newKey();
    expect((await failure('key', command, id, option, value)).code).toMatch(/^(invalid_argument|rule_malformed)$/);
  });
});
