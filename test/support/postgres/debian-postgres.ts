import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findFreePorts } from '../../../cli/postgres/free-port';
import { ensurePackages } from '../debian-packages';

const run = promisify(execFile);

/** A PostgreSQL of the distribution: unlike the embedded one it comes with pg_dump and pg_restore. */
export interface DebianPostgres {
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
export async function startDebianPostgres(): Promise<DebianPostgres> {
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
