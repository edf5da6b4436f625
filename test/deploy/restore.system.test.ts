import { randomBytes } from 'node:crypto';
import { resolve, join } from 'node:path';
import { runTollgate } from '../../cli/run-tollgate';
import { createCustomer } from '../../services/selling/customers/create-customer';
import { createKey } from '../../services/selling/keys/create-key';
import { migrate } from '../../plugins/stores/postgres/migrate';
import { createPool } from '../../plugins/stores/postgres/pool';
import { applyCatalogue } from '../../services/selling/catalogue/apply-catalogue';
import { revokeKey } from '../../services/selling/keys/set-key-state';
import { closeConnections, send } from '../support/http';
import { startNode, type GatewayNode } from '../support/system/node';
import { CATALOGUE } from '../support/catalogue';
import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { promisify } from 'node:util';
import { findFreePorts } from '../../cli/postgres/free-port';
import { ensurePackages } from '../support/debian-packages';

const run = promisify(execFile);

/** A PostgreSQL of the distribution: unlike the embedded one it comes with pg_dump and pg_restore. */
interface DebianPostgres {
  /** URL of a database on it, whether it exists or not. */
  url(database: string): string;
  /** Runs one of its programs, for example `pg_dump`. @returns what it printed */
  run(program: string, ...args: string[]): Promise<string>;
  /** A file that the server's account and this process can both write. */
  file(name: string): string;
  stop(): Promise<void>;
}

const FOLDER = '/usr/lib/postgresql';

/** The newest version there is, installed when there is none. */
async function findPrograms(): Promise<string> {
  await ensurePackages([FOLDER], 'The tests of backups');
  const [newest = ''] = readdirSync(FOLDER)
    .filter((name) => /^\d+$/.test(name))
    .sort((a, b) => Number(b) - Number(a));
  return join(FOLDER, newest, 'bin');
}

/** Starts a server of its own on a free port. PostgreSQL refuses to run as root: then the package's account runs it. */
async function startDebianPostgres(): Promise<DebianPostgres> {
  const programs = await findPrograms();
  const isRoot = process.getuid?.() === 0;
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-debian-postgres-'));
  if (isRoot) execFileSync('chown', ['postgres', folder]);
  const [port = 0] = await findFreePorts(1);
  const call = async (program: string, ...args: string[]): Promise<string> => {
    const words = [join(programs, program), ...args];
    const [command = '', ...rest] = isRoot ? ['runuser', '-u', 'postgres', '--', ...words] : words;
    const { stdout } = await run(command, rest, { cwd: folder, maxBuffer: 64 * 1024 * 1024 });
    return stdout;
  };
  const data = join(folder, 'data');
  await call('initdb', '--pgdata', data, '--username', 'tollgate', '--auth', 'trust', '--encoding', 'UTF8', '--no-sync');
  const options = `-c port=${port} -c listen_addresses=127.0.0.1 -c unix_socket_directories='' -c fsync=off`;
  await call('pg_ctl', 'start', '--pgdata', data, '--wait', '--silent', '--log', join(folder, 'log'), '--options', options);
  return {
    url: (database) => `postgresql://tollgate@127.0.0.1:${port}/${database}`,
    run: call,
    file: (name) => join(folder, name),
    async stop() {
      await call('pg_ctl', 'stop', '--pgdata', data, '--mode', 'immediate', '--silent');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const ROOT = resolve(__dirname, '..', '..');

let postgres: DebianPostgres;
let working: string;
let revoked: string;

/** A database in use: keys in several states, rules, usage, refusals, an audit trail. */
async function fillDatabase(url: string): Promise<void> {
  await migrate(url);
  const db = createPool(url, { max: 2 });
  try {
    await applyCatalogue(db, CATALOGUE, { actor: 'test' });
    await createCustomer(db, { email: 'backup@example.com', actor: 'test' });
    const issue = (rules: string[]): Promise<{ key: string; id: string }> =>
      createKey(db, { customer: 'backup@example.com', products: ['api-vahaan'], mode: 'test', rules, actor: 'test' });
    working = (await issue(['127.0.0.0/8', '*.example.com'])).key;
    const second = await issue([]);
    revoked = second.key;
    await revokeKey(db, { id: second.id, actor: 'test' });
    await db.query("INSERT INTO usage SELECT id, '2026-11-20', 7, 5, 1 FROM subscription");
    await db.query("INSERT INTO denial_count VALUES (NULL, 'api-vahaan', '2026-11-20', 'key_unknown', 12)");
  } finally {
    await db.end();
  }
}

/** Dumps and restores with the commands of docs/operate/backup.md. */
async function dumpAndRestore(): Promise<void> {
  const dump = postgres.file('tollgate.dump');
  await postgres.run('pg_dump', '--dbname', postgres.url('tollgate'), '--format', 'custom', '--file', dump);
  await postgres.run('createdb', '--maintenance-db', postgres.url('postgres'), 'restored');
  await postgres.run('pg_restore', '--dbname', postgres.url('restored'), '--exit-on-error', dump);
}

/** Runs `tollgate restore-check` on both databases. */
async function checkRestore(): Promise<{ code: number; printed: string }> {
  let printed = '';
  const write = (text: string): void => void (printed += text);
  const env = { DATABASE_URL: postgres.url('tollgate') };
  const streams = { stdout: { write }, stderr: { write } };
  const code = await runTollgate({ root: ROOT, isSameProcess: () => false, argv: ['restore-check', 'restored'], env, streams });
  return { code, printed };
}

describe('a backup', () => {
  let node: GatewayNode | undefined;

  beforeAll(async () => {
    postgres = await startDebianPostgres();
    await postgres.run('createdb', '--maintenance-db', postgres.url('postgres'), 'tollgate');
    await fillDatabase(postgres.url('tollgate'));
    await dumpAndRestore();
  });

  afterAll(async () => {
    closeConnections();
    await node?.stop();
    await postgres?.stop();
  });

  it('restores to a database that holds the same, and restore-check says so', async () => {
    const { code, printed } = await checkRestore();
    expect([code, printed]).toEqual([0, expect.stringMatching(/✓ +credential +2 +2/)]);
    expect(printed).not.toContain('✗');
  });

  it('serves the keys that worked, and refuses the ones that were revoked', async () => {
    const upstreams = { vahaan: 'http://127.0.0.1:9' };
    node = await startNode({
      databaseUrl: postgres.url('restored'),
      signingKeys: `test:${randomBytes(32).toString('base64')}`,
      upstreams,
    });
    const statusOf = async (key: string): Promise<number> =>
      (await send(`${node?.gateway}/vahaan`, { headers: { 'X-API-Key': key } })).status;
    // Nothing listens behind this gateway: 502 says that the access layer let the request through.
    expect([await statusOf(working), await statusOf(revoked)]).toEqual([502, 401]);
  });

  it('that lost one row, or one change, is found out', async () => {
    const db = createPool(postgres.url('restored'), { max: 1 });
    try {
      await db.query("UPDATE whitelist_rule SET rule = '*.example.org' WHERE rule = '*.example.com'");
      await db.query('DELETE FROM quota_refund; DROP TABLE quota_refund');
    } finally {
      await db.end();
    }
    const { code, printed } = await checkRestore();
    expect([code, printed]).toEqual([1, expect.stringContaining('these tables differ')]);
    expect(printed).toMatch(/✗ +whitelist_rule/);
    expect(printed).toMatch(/✗ +quota_refund +0 +missing/);
  });
});
