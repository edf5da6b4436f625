import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { type Finding } from '../../cli/commands/judge-system';
import { testDatabase } from '../support/postgres/postgres';
import { type CommandRun, projectRoot, runCommand } from '../support/run-command';
import { runFolder } from '../support/run-folder';
import { CUSTOMER, useCommands } from './support/use-commands';

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
    const folder = mkdtempSync(join(runFolder(), 'doctor-'));
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
