import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { checkHealth } from '../../cli/container/check-health';
import { migrateOnce } from '../../cli/container/migrate-once';
import { readSecrets } from '../../cli/container/read-secrets';
import { migrationNames } from '../../plugins/stores/postgres/migrate';
import { TestServer } from '../server/test-server';
import { PRODUCTS } from '../support/catalogue';
import { useDatabase } from '../support/postgres/use-database';
import { newFolder } from '../support/run-folder';

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
  beforeAll(() => (folder = newFolder()));

  it('become the variable that the program reads, without the line end; empty ones count as none', () => {
    expect(readSecrets({ GST_LINK_TOKEN_FILE: write('token', 'abc\n') })).toEqual({ GST_LINK_TOKEN: 'abc' });
    expect(readSecrets({ TOLLGATE_SIGNING_KEYS_FILE: '/dev/null', TOLLGATE_SIGNING_KEYS: 'k:…' })).toEqual({});
  });

  it('are refused without saying them: beside a variable for the same secret, and where they cannot be read', () => {
    const twice = { REDIS_URL: 'redis://one', REDIS_URL_FILE: write('redis', 'redis://two') };
    expect(() => readSecrets(twice)).toThrow('REDIS_URL and REDIS_URL_FILE are both set; remove one');
    const absent = { REDIS_URL_FILE: join(folder, 'absent') };
    expect(() => readSecrets(absent)).toThrow('REDIS_URL_FILE names a file that cannot be read (ENOENT)');
  });

  it('of other programs are left alone, readable or not', () => {
    expect(readSecrets({ TF_CLI_CONFIG_FILE: join(folder, 'absent'), SSL_CERT_FILE: write('ca.pem', 'authorities') })).toEqual({});
  });

  it('put a password with any characters into the database URL, and leave the one that a URL brings along', () => {
    const secret = 'a/b:c@d%e #?';
    const given = { DATABASE_URL: 'postgres://tollgate@db:5432/t', DATABASE_PASSWORD_FILE: write('password', secret) };
    const url = new URL(readSecrets(given)['DATABASE_URL'] ?? '');
    expect([decodeURIComponent(url.password), url.host, url.pathname]).toEqual([secret, 'db:5432', '/t']);
    const own = { DATABASE_URL: 'postgres://tollgate:own@db/t' };
    expect(readSecrets({ ...own, DATABASE_PASSWORD: 'other' })).toEqual(own);
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
  const database = useDatabase({ empty: true });

  it('succeed for everyone who runs them at the same time, and find nothing to do afterwards', async () => {
    const together = await Promise.all([migrateOnce(database.url), migrateOnce(database.url), migrateOnce(database.url)]);
    expect(together.flatMap(({ applied }) => applied)).toEqual(migrationNames());
    expect(await migrateOnce(database.url)).toEqual({ applied: [] });
    // Only npm start has a demonstration.
    const counts = 'SELECT (SELECT count(*)::int FROM product) AS products, (SELECT count(*)::int FROM customer) AS customers';
    expect((await database.pool.query(counts)).rows).toEqual([{ products: PRODUCTS.length, customers: 0 }]);
  });

  it('sell what stands in the folder that TOLLGATE_CONFIG names, and nothing else', async () => {
    const folder = newFolder();
    const texts = { id: 'weather', title: 'Weather', description: 'Rain.', prefix: '/weather' };
    const product = { ...texts, routes: [], base: { daily: 3, monthly: 60 }, plans: [] };
    writeFileSync(join(folder, 'catalogue.yml'), JSON.stringify({ version: 1, products: [product] }));
    const { code, stderr } = await runRole(['migrate'], { DATABASE_URL: database.url, TOLLGATE_CONFIG: folder });
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
