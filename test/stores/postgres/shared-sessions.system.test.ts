import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findFreeRow } from '../../../cli/postgres/free-port';
import { sharesSessions } from '../../../plugins/stores/postgres/shared-sessions';
import { ensurePackages } from '../../support/debian-packages';
import { eventually } from '../../support/eventually';
import { openedForTests } from '../../support/opened';
import { useDatabase } from '../../support/postgres/use-database';

const opened = openedForTests();
const database = useDatabase();
beforeAll(() => ensurePackages(['pgbouncer'], 'The tests of poolers'));

async function end(pooler: ChildProcess): Promise<void> {
  pooler.kill('SIGINT');
  if (pooler.exitCode === null) await once(pooler, 'exit');
}

/** Runs PgBouncer before the database, with settings as its documentation gives them. @returns the URL that leads through it */
async function startPooler(mode: 'session' | 'transaction', poolSize: number): Promise<string> {
  const { hostname, port, username, password, pathname } = new URL(database.url);
  const own = await findFreeRow(1);
  const folder = mkdtempSync(join(tmpdir(), 'pooler-'));
  const file = join(folder, 'pgbouncer.ini');
  writeFileSync(
    file,
    [
      '[databases]',
      `* = host=${hostname} port=${port} user=${username} password=${password}`,
      '[pgbouncer]',
      `listen_addr = 127.0.0.1\nlisten_port = ${own}\nunix_socket_dir =\nauth_type = any`,
      `pool_mode = ${mode}\ndefault_pool_size = ${poolSize}`,
    ].join('\n'),
  );
  chmodSync(folder, 0o755);
  // It refuses to run as root, as which CI runs.
  const asOther = process.getuid?.() === 0 ? ['--user', 'nobody'] : [];
  const pooler = spawn('pgbouncer', [...asOther, file], { stdio: ['ignore', 'ignore', 'pipe'] });
  void opened.keep(Promise.resolve(pooler), end);
  let said = '';
  pooler.stderr.on('data', (chunk: Buffer) => (said += String(chunk)));
  await eventually(() => said.includes('process up') || pooler.exitCode !== null);
  if (pooler.exitCode !== null) throw new Error(`PgBouncer ended: ${said}`);
  return `postgres://somebody@127.0.0.1:${own}${pathname}`;
}

it.each([
  ['transaction', 1, true],
  ['transaction', 20, true],
  ['session', 20, false],
  ['session', 1, undefined],
] as const)('a pooler of the mode %s with %i sessions shares them: %s', async (mode, poolSize, shares) => {
  expect(await sharesSessions(await startPooler(mode, poolSize))).toBe(shares);
});

it('PostgreSQL itself shares none, and of one that is away it cannot be seen', async () => {
  expect(await sharesSessions(database.url)).toBe(false);
  expect(await sharesSessions('postgres://nobody@127.0.0.1:1/none')).toBeUndefined();
});
