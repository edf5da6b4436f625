// Two commands that are started at once in one clone must not install or build into each other's files.
import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * What Linux reports of a process, from its state on: names of programs may hold spaces and parentheses. Undefined without /proc.
 * @returns {string[] | undefined} field 3 of /proc/<pid>/stat and the following ones
 */
function readStat(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    return undefined;
  }
}

/** Field 22, which distinguishes a process from a later one with the same number. Empty without /proc. */
function startedAt(pid) {
  return readStat(pid)?.[19] ?? '';
}

/** False for a zombie too: in a container without an init, a zombie may never be collected. */
function isAlive(pid) {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (error.code !== 'EPERM') return false;
  }
  return !['Z', 'X'].includes(readStat(pid)?.[0] ?? '');
}

/**
 * Identifies a process so that it can be recognised later.
 * @param {number} pid
 * @returns {{ pid: number, startedAt: string }}
 */
export function identifyProcess(pid) {
  return { pid, startedAt: startedAt(pid) };
}

/** True while exactly that process runs. */
export function isSameProcess({ pid, startedAt: then }) {
  return Number.isInteger(pid) && pid > 0 && isAlive(pid) && startedAt(pid) === then;
}

function readHolder(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}

/** Creates the file with its content in one step, so that no process reads a partial file. */
function createWhole(file, content) {
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, content, { mode: 0o600 });
  try {
    linkSync(draft, file);
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Removes a lock whose holder is gone; puts it back if another process took it over in the meantime. */
function clearStale(file) {
  const aside = `${file}.stale.${process.pid}`;
  try {
    renameSync(file, aside);
  } catch {
    return;
  }
  const holder = readHolder(aside);
  if (holder && isSameProcess(holder)) createWhole(file, JSON.stringify(holder));
  rmSync(aside, { force: true });
}

/**
 * Takes the lock for this process, also from a holder that died without releasing it.
 * @param {string} file
 * @returns {{ release: () => void } | { heldBy: number }} heldBy: the process id of the living holder
 */
export function takeLock(file) {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  for (;;) {
    if (createWhole(file, JSON.stringify(identifyProcess(process.pid)))) return { release: () => rmSync(file, { force: true }) };
    const holder = readHolder(file);
    if (holder && isSameProcess(holder)) return { heldBy: holder.pid };
    clearStale(file);
  }
}

const RETRY_MS = 100;

/**
 * Runs `work` while no other process runs its own under the same lock; waits for as long as the other process lives.
 * @template T
 * @param {string} file
 * @param {() => T | Promise<T>} work
 * @returns {Promise<T>}
 */
export async function exclusively(file, work) {
  let lock = takeLock(file);
  while ('heldBy' in lock) {
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    lock = takeLock(file);
  }
  try {
    return await work();
  } finally {
    lock.release();
  }
}
