import { createHash } from 'node:crypto';
import { isPlausibleKey } from '../../plugins/core/access/api-key';
import { runCommand, type CommandRun } from '../support/run-command';
import { projectRoot } from '../support/project-root';
import { CUSTOMER, useCommands } from './support/use-commands';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { type Finding } from '../../cli/commands/judge-system';
import { testDatabase } from '../support/postgres/postgres';
import { newFolder } from '../support/run-folder';

describe('tollgate key', () => {
  const { database, run, json, failure, newCustomer, newKey } = useCommands();
  const noSuchId = '00000000-0000-4000-8000-000000000000';

  describe('key create', () => {
    it('prints the key, its id and the subscriptions with the limits in force', async () => {
      const created = await json('key', 'create', '--customer', CUSTOMER, '--products', 'api-ip,api-vahaan', '--plan', 'Star');
      expect(created).toEqual({
        id: expect.any(String),
        key: expect.stringMatching(/^tg_live_/),
        subscriptions: [
          { id: expect.any(String), product: 'api-ip', plan: 'Star', daily: 100_000, monthly: 3_000_000 },
          { id: expect.any(String), product: 'api-vahaan', plan: 'Star', daily: 200, monthly: 6_000 },
        ],
      });
      expect(isPlausibleKey(created.key)).toBe(true);
    });

    it('keeps limits, expiry, rules, mode and name', async () => {
      const options = '--mode test --expires 2099-03-31T18:30:00+05:30 --name shop --daily 7 --monthly 70'.split(' ');
      const created = await newKey(...options, '--allow', ' 10.0.0.0/8 , *.Example.com');
      expect(created.key).toMatch(/^tg_test_/);
      expect(created.subscriptions[0]).toMatchObject({ plan: null, daily: 7, monthly: 70 });
      const kept = { mode: 'test', expiresAt: '2099-03-31T13:00:00.000Z', rules: ['*.example.com', '10.0.0.0/8'], name: 'shop' };
      expect(await json('key', 'show', created.id)).toMatchObject(kept);
    });

    it('subscribes nobody with --no-subscribe', async () => {
      const email = await newCustomer();
      const created = await json('key', 'create', '--customer', email, '--products', 'api-ip', '--no-subscribe');
      expect([created.subscriptions, await json('subscription', 'list', '--customer', email)]).toEqual([[], []]);
    });

    it('shows people the key once, with a call that is ready to run', async () => {
      const { stdout } = await run('key', 'create', '--customer', CUSTOMER, '--products', 'api-pincode');
      const key = stdout.split('\n')[0] ?? '';
      expect(isPlausibleKey(key)).toBe(true);
      expect(stdout).toContain(`curl -H 'X-API-Key: ${key}' 'http://127.0.0.1:`);
      expect(stdout).toContain('/pincode?country=IN&pin=110001');
    });

    it('offers a live key in place of a call that refuses the test key', async () => {
      const create = async (...more: string[]) =>
        (await run('key', 'create', '--customer', CUSTOMER, ...more, '--products', 'api-ip,api-vahaan')).stdout;
      const { pool } = database();
      const { rows } = await pool.query<{ definition: object }>("SELECT definition FROM product WHERE id = 'api-ip'");
      await pool.query("UPDATE product SET definition = definition - 'sandboxUrl' - 'testKeys' WHERE id = 'api-ip'");
      const shown = await create('--mode', 'test');
      expect(shown).toContain('/vahaan');
      expect(shown).not.toContain('/ip?');
      expect(shown).toContain('test keys of api-ip are refused');
      expect(shown).toContain(`for a live key: npx tollgate key create --customer ${CUSTOMER} --products api-ip\n`);
      expect(await create()).not.toContain('for a live key');
      await pool.query("UPDATE product SET definition = $1 WHERE id = 'api-ip'", [rows[0]?.definition]);
    });

    it('shows that call at the address by which customers reach the gateway', async () => {
      const argv = ['key', 'create', '--customer', CUSTOMER, '--products', 'api-ip'];
      const { stdout } = await runCommand(argv, { databaseUrl: database().url, env: { GATEWAY_URL: 'https://api.example.com/' } });
      expect(stdout).toContain(`'https://api.example.com/ip?`);
    });

    it.each([
      ['--products api-nope', 'product_unknown'],
      ['--products api-pan', 'product_without_limits'],
      ['--products api-ip --expires 2020-01-01', 'invalid_argument'],
      ['--products api-ip --allow 10.0.0.1/8', 'rule_malformed'],
      ['--products api-ip --daily 99999999999', 'invalid_argument'],
      ['--products api-ip --no-subscribe --daily 5', 'invalid_argument'],
      ['', 'invalid_argument'],
    ])('with "%s" is refused: %s, and makes nothing', async (more, code) => {
      const email = await newCustomer();
      expect(await failure('key', 'create', '--customer', email, ...more.split(' ').filter(Boolean))).toMatchObject({ code });
      expect(await json('key', 'list', '--customer', email)).toEqual([]);
      expect(await json('subscription', 'list', '--customer', email)).toEqual([]);
    });
  });

  it('key import takes a key of another system by its hash, once', async () => {
    const hash = createHash('sha256').update('legacy-key-of-another-system').digest('hex');
    const argv = ['key', 'import', '--customer', CUSTOMER, '--products', 'api-ip', '--hash'];
    const { id } = await json(...argv, hash);
    expect(await json('key', 'show', id)).toMatchObject({ mode: 'live', state: 'active', products: ['api-ip'] });
    expect(await failure(...argv, hash)).toMatchObject({ code: 'key_exists' });
    expect(await failure(...argv, 'abc')).toMatchObject({ code: 'hash_malformed' });
  });

  describe('a key', () => {
    it('is listed without its secret', async () => {
      const email = await newCustomer();
      const { key, id } = await json('key', 'create', '--customer', email, '--products', 'api-ip');
      const { stdout } = await run('key', 'list', '--customer', email);
      expect(stdout).toContain(id);
      expect(stdout).toContain(`tg_live…${key.slice(-4)}`);
      expect(stdout).not.toContain(key.slice(8, 20));
    });

    it('is switched off and on again, and revoked for good', async () => {
      const { id } = await newKey();
      expect(await json('key', 'deactivate', id)).toMatchObject({ id, state: 'inactive' });
      expect(await json('key', 'activate', id)).toMatchObject({ id, state: 'active' });
      expect(await json('key', 'revoke', id)).toMatchObject({ id, state: 'revoked' });
      expect((await failure('key', 'activate', id)).line).toMatch(/revoked/);
    });

    it('is rotated at once, or with an overlap in which the old one works', async () => {
      const old = await newKey();
      const rotated = await json('key', 'rotate', old.id);
      expect(rotated).toMatchObject({ rotatedFrom: old.id, oldKeyEndsAt: null, subscriptions: old.subscriptions });
      expect(await json('key', 'show', old.id)).toMatchObject({ state: 'revoked' });
      const before = Date.now();
      const { oldKeyEndsAt } = await json('key', 'rotate', rotated.id, '--overlap', '24h');
      expect(Math.abs(new Date(oldKeyEndsAt).getTime() - before - 86_400_000)).toBeLessThan(60_000);
      expect(await json('key', 'show', rotated.id)).toMatchObject({ state: 'active', expired: false });
    });

    it('ends now, or at a time that may be past; a date is the end of that day in the quota time zone', async () => {
      const { id } = await newKey();
      expect(await json('key', 'expire', id, '--at', '2020-01-01T00:00Z')).toMatchObject({
        expired: true,
        expiresAt: '2020-01-01T00:00:00.000Z',
      });
      expect(await json('key', 'expire', id, '--at', '2020-01-01')).toMatchObject({ expired: true, expiresAt: '2020-01-01T18:30:00.000Z' });
      const today = new Date(Date.now() + 19_800_000).toISOString().slice(0, 10);
      expect(await json('key', 'expire', id, '--at', today)).toMatchObject({ expired: false });
      const made = await run('key', 'create', '--customer', CUSTOMER, '--products', 'api-ip', '--expires', '2099-03-31');
      expect(made.stdout).toMatch(/it ends 2099-03-31 18:30 UTC/);
      expect(await json('key', 'expire', id, '--at', '2099-01-01')).toMatchObject({ expired: false });
      expect(await json('key', 'expire', id)).toMatchObject({ expired: true });
    });

    it('has its rules shown, replaced and removed', async () => {
      const { id } = await newKey('--allow', '10.0.0.0/8');
      expect(await json('key', 'rules', id)).toEqual({ id, rules: ['10.0.0.0/8'] });
      expect(await json('key', 'rules', id, '--allow', '192.0.2.1,app.example.com')).toEqual({
        id,
        rules: ['app.example.com', '192.0.2.1'],
      });
      expect(await json('key', 'rules', id, '--allow', '')).toEqual({ id, rules: [] });
    });

    it.each(['show', 'rotate', 'revoke', 'rules'])('unknown or absent is refused by %s', async (command) => {
      expect(await failure('key', command, noSuchId)).toMatchObject({ code: 'key_unknown' });
      expect(await failure('key', command)).toMatchObject({ code: 'invalid_argument' });
    });

    it('given for its id is refused without being repeated', async () => {
      const { key } = await newKey();
      const { code, line } = await failure('key', 'revoke', key);
      expect(code).toBe('invalid_argument');
      expect(line).not.toContain(key.slice(8, 20));
    });

    it.each([
      ['rotate', '--overlap', 'soon'],
      ['expire', '--at', '31.12.2099'],
      ['rules', '--allow', '999.1.1.1'],
    ])('refuses %s %s %s', async (command, option, value) => {
      const { id } = await newKey();
      expect((await failure('key', command, id, option, value)).code).toMatch(/^(invalid_argument|rule_malformed)$/);
    });
  });
});

describe('tollgate operator and doctor', () => {
  const { database, failure } = useCommands();
  const DASHBOARD_URL = 'https://dashboard.example.com';
  const EMAIL = 'ops@example.com';

  const operator = (...argv: string[]): Promise<CommandRun> =>
    runCommand(['operator', ...argv], { databaseUrl: database().url, root: projectRoot, env: { DASHBOARD_URL } });
  async function json(...argv: string[]): Promise<any> {
    const { code, stdout, stderr } = await operator(...argv, '--json');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    return JSON.parse(stdout);
  }

  describe('operator create', () => {
    it('prints a link that lives an hour, and says so, and keeps no token that could be read', async () => {
      const made = await json('create', '--email', EMAIL);
      expect(made).toMatchObject({ email: EMAIL, isReady: false, link: expect.stringContaining(`${DASHBOARD_URL}/reset-password?token=`) });
      expect(Math.abs(Date.parse(made.expiresAt) - Date.now() - 3_600_000)).toBeLessThan(600_000);
      const { rows } = await database().pool.query('SELECT * FROM auth_verification');
      expect(rows.length).toBeGreaterThan(0);
      expect(JSON.stringify(rows)).not.toContain(new URL(made.link).searchParams.get('token'));
      const { stdout } = await operator('create', '--email', 'second@example.com');
      expect(stdout).toMatch(
        /within an hour[^\n]*once[^\n]*:\n\n {2}https:\/\/dashboard\.example\.com\/reset-password\?token=\S+\n\nshown this once/,
      );
    });

    it('refuses an operator that there is, and the address of a customer or of an account', async () => {
      const refused = async (email: string) => {
        const { code, stderr } = await operator('create', '--email', email, '--json');
        return [code, JSON.parse(stderr).error.code];
      };
      await json('create', '--email', 'twice@example.com');
      expect(await refused('TWICE@example.com')).toEqual([1, 'operator_exists']);
      expect(await refused(CUSTOMER)).toEqual([1, 'email_taken']);
      await database().pool.query(
        "INSERT INTO auth_user (name, email, email_verified, created_at, updated_at) VALUES ('', 'account@example.com', false, now(), now())",
      );
      expect(await refused('account@example.com')).toEqual([1, 'email_taken']);
      expect((await json('list')).map(({ email }: { email: string }) => email)).not.toContain('account@example.com');
    });

    it('wants to know where the dashboard is before it makes anything', async () => {
      expect(await failure('operator', 'create', '--email', 'lost@example.com')).toMatchObject({
        code: 'not_running',
        line: expect.stringContaining('DASHBOARD_URL'),
      });
      expect((await json('list')).map(({ email }: { email: string }) => email)).not.toContain('lost@example.com');
    });
  });

  describe('operator reset, remove and list', () => {
    it('give a new link, and end an account', async () => {
      await json('create', '--email', 'leaving@example.com');
      expect((await json('reset', 'leaving@example.com')).link).toContain('token=');
      expect((await operator('list')).stdout).toMatch(/leaving@example\.com +not set up/);
      expect((await json('remove', 'leaving@example.com')).email).toBe('leaving@example.com');
      const { code, stderr } = await operator('reset', 'leaving@example.com', '--json');
      expect([code, JSON.parse(stderr).error.code]).toEqual([1, 'operator_unknown']);
      const { rows } = await database().pool.query(
        "SELECT action FROM audit_log WHERE details->>'email' = 'leaving@example.com' AND actor = 'cli' ORDER BY id",
      );
      expect(rows.map(({ action }) => action)).toEqual(['operator.create', 'operator.reset', 'operator.remove']);
    });
  });

  async function examine(databaseUrl: string, env: Record<string, string> = {}) {
    const { code, stdout, stderr } = await runCommand(['doctor', '--json'], { databaseUrl, env });
    const { ok, findings, lookedAt } = JSON.parse(stdout) as { ok: boolean; findings: Finding[]; lookedAt: string };
    const of = (name: string): Finding | undefined => findings.find((each) => each.name === name);
    return { code, stdout: stdout + stderr, ok, lookedAt, of };
  }

  describe('doctor', () => {
    it('names what is wrong with a system that does not run, ends with 1, and prints no password', async () => {
      const { code, ok, of, stdout, lookedAt } = await examine(database().url);
      expect([code, ok]).toEqual([1, false]);
      expect(of('database')).toMatchObject({ state: 'well', saw: expect.stringContaining('PostgreSQL') });
      expect(of('migrations')).toMatchObject({ state: 'well' });
      expect(of('clocks')).toMatchObject({ state: 'well' });
      expect(of('plugin server')).toMatchObject({ state: 'unwell', todo: expect.stringContaining('Kong responds with 500') });
      const { password, host, pathname } = new URL(database().url);
      expect(stdout).not.toContain(`:${password}@`);
      expect(lookedAt).toBe(`PostgreSQL at ${host}, database ${pathname.slice(1)}, as DATABASE_URL says`);
    });

    it('names missing migrations, and a database that is away', async () => {
      const empty = await testDatabase({ empty: true });
      try {
        expect((await examine(empty.url)).of('migrations')).toMatchObject({
          state: 'unwell',
          saw: expect.stringContaining('0001_catalogue'),
        });
      } finally {
        await empty.close();
      }
      const { code, of } = await examine('postgres://nobody:secret-word@127.0.0.1:1/none');
      expect(code).toBe(1);
      expect(of('database')).toMatchObject({ state: 'unwell', saw: expect.stringContaining('127.0.0.1:1') });
      expect(of('database')?.saw).not.toContain('secret-word');
      expect(of('migrations')).toMatchObject({ state: 'unknown' });
    });

    it('sees whether anybody listens on the socket, and the last error of a log without the rest of its line', async () => {
      const folder = newFolder();
      const socket = join(folder, 's.sock');
      mkdirSync(join(folder, 'logs'));
      const line = { level: 50, time: Date.now() - 1_000, msg: 'it broke', secret: 'tg_live_abc' };
      writeFileSync(
        join(folder, 'logs', 'dashboard.log'),
        `${JSON.stringify(line)}\n${JSON.stringify({ ...line, level: 30, msg: 'fine' })}\n`,
      );
      const env = { PLUGIN_SOCKET: socket, TOLLGATE_DATA_DIR: folder };
      expect((await examine(database().url, env)).of('socket')).toMatchObject({ state: 'unwell' });
      const server = createServer().listen(socket);
      const { of, stdout } = await examine(database().url, env);
      server.close();
      expect(of('socket')).toMatchObject({ state: 'well' });
      expect(of('last errors')).toMatchObject({
        state: 'unwell',
        saw: expect.stringMatching(/^1 in the last hour; 0 min ago dashboard: it broke$/),
      });
      expect(stdout).not.toContain('tg_live_abc');
    });
  });
});
