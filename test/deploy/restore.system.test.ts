import { randomBytes } from 'node:crypto';
import { resolve } from 'node:path';
import { runTollgate } from '../../cli/run-tollgate';
import { createCustomer } from '../../services/selling/customers/create-customer';
import { createKey } from '../../services/selling/keys/create-key';
import { migrate } from '../../plugins/stores/postgres/migrate';
import { createPool } from '../../plugins/stores/postgres/pool';
import { applyCatalogue } from '../../services/selling/catalogue/apply-catalogue';
import { revokeKey } from '../../services/selling/keys/set-key-state';
import { startDebianPostgres, type DebianPostgres } from '../support/postgres/debian-postgres';
import { closeConnections, send } from '../support/http';
import { startNode, type GatewayNode } from '../support/system/node';
import { CATALOGUE } from '../support/catalogue';

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
    await postgres.stop();
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
