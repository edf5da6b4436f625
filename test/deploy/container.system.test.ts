import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { checkHealth } from '../../cli/container/check-health';
import { migrateOnce } from '../../cli/container/migrate-once';
import { readSecrets } from '../../cli/container/read-secrets';
import { migrationNames } from '../../plugins/stores/postgres/migrate';
import { TestServer } from '../server/test-server';
import { testDatabase, type TestDatabase } from '../support/postgres/postgres';

const ROOT = resolve(__dirname, '..', '..');

interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Runs one role of the built image's entry with nothing but these variables. */
function runRole(args: string[], env: Record<string, string>): Promise<Ended> {
  const child = spawn(process.execPath, [join(ROOT, 'dist', 'cli', 'run-container.js'), ...args], { env, cwd: tmpdir() });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk: Buffer) => (stdout += String(chunk)));
  child.stderr.on('data', (chunk: Buffer) => (stderr += String(chunk)));
  return new Promise((done) => child.once('close', (code) => done({ code, stdout, stderr })));
}

describe('secrets from files', () => {
  let folder: string;
  const write = (name: string, secret: string): string => {
    const path = join(folder, name);
    writeFileSync(path, secret);
    return path;
  };
  beforeAll(() => (folder = mkdtempSync(join(tmpdir(), 'tollgate-secrets-'))));
  afterAll(() => rmSync(folder, { recursive: true }));

  it('become the variable that the program reads, without the line end', () => {
    const env = { GST_LINK_TOKEN_FILE: write('token', 'abc\n') };
    expect(readSecrets(env)).toEqual({ GST_LINK_TOKEN: 'abc' });
  });

  it('that are empty count as none, so that the variable may be set instead', () => {
    expect(readSecrets({ TOLLGATE_SIGNING_KEYS_FILE: '/dev/null', TOLLGATE_SIGNING_KEYS: 'k:…' })).toEqual({});
  });

  it('and variables for the same secret are refused, without saying either', () => {
    const env = { REDIS_URL: 'redis://one', REDIS_URL_FILE: write('redis', 'redis://two') };
    expect(() => readSecrets(env)).toThrow('REDIS_URL and REDIS_URL_FILE are both set; remove one');
  });

  it('that cannot be read name the variable and the reason', () => {
    expect(() => readSecrets({ REDIS_URL_FILE: join(folder, 'absent') })).toThrow(
      'REDIS_URL_FILE names a file that cannot be read (ENOENT)',
    );
  });

  it('of other programs are left alone, readable or not', () => {
    expect(readSecrets({ TF_CLI_CONFIG_FILE: join(folder, 'absent'), SSL_CERT_FILE: write('ca.pem', 'authorities') })).toEqual({});
  });

  it('put a password with any characters into the database URL', () => {
    const secret = 'a/b:c@d%e #?';
    const { DATABASE_URL } = readSecrets({
      DATABASE_URL: 'postgres://tollgate@db:5432/t',
      DATABASE_PASSWORD_FILE: write('password', secret),
    });
    const url = new URL(DATABASE_URL ?? '');
    expect([decodeURIComponent(url.password), url.host, url.pathname]).toEqual([secret, 'db:5432', '/t']);
  });

  it('leave the password that a URL brings along', () => {
    const env = { DATABASE_URL: 'postgres://tollgate:own@db/t', DATABASE_PASSWORD: 'other' };
    expect(readSecrets(env)).toEqual({ DATABASE_URL: 'postgres://tollgate:own@db/t' });
  });
});

describe('a container without its secrets ends at once and says what is missing', () => {
  const database = { DATABASE_URL: 'postgres://nobody@127.0.0.1:9/none' };
  it.each([
    [
      'plugin-server',
      ['plugin-server'],
      { ...database, PLUGIN_SOCKET: '/tmp/unused.sock' },
      'TOLLGATE_CONTEXT_SECRETS: is required and not set',
    ],
    ['service', ['service', 'vahaan'], database, 'TOLLGATE_CONTEXT_KEYS: is required and not set'],
    ['service without products', ['service', 'none'], database, 'TOLLGATE_CONTEXT_KEYS: is required and not set'],
    ['dashboard', ['dashboard'], { ...database, GATEWAY_URL: 'http://localhost:8000' }, 'DASHBOARD_SECRET: is required and not set'],
    ['migrate', ['migrate'], {}, 'DATABASE_URL is required'],
  ])('%s', async (_role, args, env, message) => {
    const { code, stdout, stderr } = await runRole(args, env);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain(message);
  });

  it('and knows no role that the image does not have', async () => {
    expect((await runRole(['worker', '../main'], {})).code).toBe(1);
    expect((await runRole(['nonsense'], {})).stderr).toContain('there is no role "nonsense"');
  });
});

describe('the migrations as a one-shot', () => {
  let database: TestDatabase;
  beforeAll(async () => (database = await testDatabase({ empty: true })));
  afterAll(() => database.close());

  it('succeed for everyone who runs them at the same time, and find nothing to do afterwards', async () => {
    const together = await Promise.all([migrateOnce(database.url), migrateOnce(database.url), migrateOnce(database.url)]);
    expect(together.flatMap(({ applied }) => applied)).toEqual(migrationNames());
    expect(await migrateOnce(database.url)).toEqual({ applied: [] });
    const { rows } = await database.pool.query<{ count: number }>('SELECT count(*)::int FROM product');
    expect(rows[0]?.count).toBeGreaterThan(0);
  });

  it('make no customer: only npm start has a demonstration', async () => {
    const { rows } = await database.pool.query<{ count: number }>('SELECT count(*)::int FROM customer');
    expect(rows[0]?.count).toBe(0);
  });

  it('sell what stands in the folder that TOLLGATE_CONFIG names, and nothing else', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tollgate-sold-'));
    const product = {
      id: 'weather',
      title: 'Weather',
      description: 'Rain.',
      prefix: '/weather',
      routes: [],
      base: { daily: 3, monthly: 60 },
      plans: [],
    };
    writeFileSync(join(folder, 'catalogue.yml'), JSON.stringify({ version: 1, products: [product] }));
    const { code, stderr } = await runRole(['migrate'], { DATABASE_URL: database.url, TOLLGATE_CONFIG: folder });
    rmSync(folder, { recursive: true });
    expect([code, stderr]).toEqual([0, '']);
    const { rows } = await database.pool.query('SELECT id FROM product WHERE active');
    expect(rows).toEqual([{ id: 'weather' }]);
  });

  it('leave a database of a newer version alone', async () => {
    await database.pool.query("INSERT INTO schema_migration (name) VALUES ('9999_future')");
    await expect(migrateOnce(database.url)).rejects.toThrow('newer version of Tollgate (migration 9999_future)');
  });
});

describe('the health check of a plugin server', () => {
  it('passes while it answers, and fails once it is gone', async () => {
    const server = await TestServer.start(() => undefined);
    const env = { PLUGIN_SOCKET: server.socketPath };
    await checkHealth('plugin-server', env);
    await server.stop();
    await expect(checkHealth('plugin-server', env)).rejects.toThrow();
  });
});

describe('the image', () => {
  const dockerfile = readFileSync(join(ROOT, 'Dockerfile'), 'utf8');

  it('runs as a numbered user who is not root, with its program as the process that gets signals', () => {
    const last = dockerfile.slice(dockerfile.lastIndexOf('\nFROM '));
    expect(last).toMatch(/^USER \$\{TOLLGATE_UID\}:\$\{TOLLGATE_UID\}$/m);
    expect(last).toMatch(/^ENTRYPOINT \["node", /m);
    expect(dockerfile).toMatch(/^ARG TOLLGATE_UID=[1-9]\d{3,}$/m);
  });

  it('is built from a context that names what belongs in it, so that secrets and data cannot', () => {
    const ignored = readFileSync(join(ROOT, '.dockerignore'), 'utf8').split('\n');
    expect(ignored).toContain('*');
    expect(ignored.filter((line) => line.startsWith('!'))).not.toEqual(
      expect.arrayContaining([expect.stringMatching(/secret|\.env|\.tollgate|test/)]),
    );
  });
});
