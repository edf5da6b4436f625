import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { disownPidFile, readPidFile, type ServerFiles } from './embedded-postgres-files';

/** False for a zombie too, because in a container it may never be collected. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
  if (process.platform !== 'linux') return true;
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return !/^[ZX]/.test(stat.slice(stat.lastIndexOf(')') + 2));
  } catch {
    return false;
  }
}

function commandLineOf(pid: number): string {
  if (process.platform === 'linux') {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
    } catch {
      return '';
    }
  }
  return spawnSync('ps', ['-o', 'args=', '-p', String(pid)], { encoding: 'utf8' }).stdout;
}

/** True when the process is a PostgreSQL server on this data directory, rather than another process with the same id. */
export function isServerOf(pid: number, { cluster }: { readonly cluster: string }): boolean {
  if (!isAlive(pid)) return false;
  const command = commandLineOf(pid);
  return command.includes('postgres') && command.includes(`-D ${cluster} `);
}

async function waitForExit(pid: number, timeoutMs: number): Promise<boolean> {
  const end = performance.now() + timeoutMs;
  while (performance.now() < end) {
    if (!isAlive(pid)) return true;
    await sleep(20);
  }
  return !isAlive(pid);
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** Empty without /proc. In that case only a frozen backend takes longer to end. */
function childrenOf(pid: number): number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number);
  } catch {
    return [];
  }
}

/**
 * Ends a server. SIGINT lets it close cleanly. SIGQUIT after 5 s leaves recovery to the next start, and loses nothing committed. SIGKILL is
 * the last resort. Frozen processes are woken first, because they cannot react.
 */
export async function stopServer(pid: number): Promise<void> {
  for (const [name, timeoutMs] of [
    ['SIGINT', 5_000],
    // After 5 s the server itself kills backends that do not end.
    ['SIGQUIT', 6_000],
    ['SIGKILL', 2_000],
  ] as const) {
    if (!isAlive(pid)) return;
    signal(pid, name);
    for (const frozen of [pid, ...childrenOf(pid)]) signal(frozen, 'SIGCONT');
    if (await waitForExit(pid, timeoutMs)) return;
  }
  throw new Error(`the embedded PostgreSQL (process ${pid}) could not be stopped`);
}

/**
 * Ends the server that an earlier run left on the folder, if there is one. PostgreSQL refuses to start while the process in its pid file
 * exists, and an uncollected process still exists, so the file must not name a server that has ended.
 */
export async function endLeftover(files: ServerFiles): Promise<void> {
  const pid = readPidFile(files);
  if (pid === undefined) return;
  if (isServerOf(pid, files)) await stopServer(pid);
  if (existsSync(files.pidFile)) disownPidFile(files);
}
