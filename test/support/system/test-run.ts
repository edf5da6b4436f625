import { existsSync, mkdirSync, readdirSync, rmSync, statfsSync, symlinkSync } from 'node:fs';
import { freemem, userInfo } from 'node:os';
import { join, resolve } from 'node:path';
import { serverFiles } from '../../../cli/postgres/embedded-postgres-files';
import { endLeftover, isAlive } from '../../../cli/postgres/embedded-postgres-process';
import { endSharedInstance } from './shared-instance';

const ON_DISK = resolve(__dirname, '../../../.test');
const IN_MEMORY = '/dev/shm';
/** Several times what a whole run was seen to hold at once, so that it never takes memory that its own processes need. */
const ROOM_BYTES = 8 * 1024 ** 3;

/** The folder of a process's run begins with this. Short in memory, for the sake of socket paths, and not another user's. */
const PLACES = [
  { root: ON_DISK, prefix: 'run-' },
  { root: IN_MEMORY, prefix: `tg-${String(userInfo().uid)}-` },
] as const;

/**
 * Each test has a database of its own, some 300 files. On ext4 creating a file passes over every inode deleted in the last minutes, one
 * by one, and cost half of the CPU time of such tests; in memory it costs nothing.
 */
function choosePlace(): (typeof PLACES)[number] {
  const [onDisk, inMemory] = PLACES;
  if (!existsSync(IN_MEMORY)) return onDisk;
  const { bavail, bsize } = statfsSync(IN_MEMORY);
  return Math.min(bavail * bsize, freemem()) >= ROOM_BYTES ? inMemory : onDisk;
}

async function removeRun(folder: string): Promise<void> {
  await endSharedInstance(folder);
  for (const name of existsSync(folder) ? readdirSync(folder) : []) {
    if (!name.startsWith('postgres')) continue;
    await endLeftover(serverFiles(join(folder, name)));
  }
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}

async function removeLeftovers(): Promise<void> {
  for (const { root, prefix } of PLACES) {
    for (const name of existsSync(root) ? readdirSync(root) : []) {
      const owner = name.startsWith(prefix) ? Number(name.slice(prefix.length)) : NaN;
      if (Number.isInteger(owner) && !isAlive(owner)) await removeRun(join(root, name));
    }
  }
}

/** Names the folder of this run and removes what killed runs left behind, servers included. Starts nothing: most tests need none. */
export async function beginTestRun(): Promise<void> {
  mkdirSync(ON_DISK, { recursive: true });
  await removeLeftovers();
  const { root, prefix } = choosePlace();
  const folder = join(root, `${prefix}${process.pid}`);
  mkdirSync(folder, { recursive: true });
  // Programs that tests compile into it find their packages as they do below the repository.
  if (root !== ON_DISK) symlinkSync(resolve(ON_DISK, '../node_modules'), join(folder, 'node_modules'));
  process.env['TOLLGATE_TEST_RUN_DIR'] = folder;
  // What tests put into a temporary folder lies there too, and goes with the run.
  process.env['TMPDIR'] = folder;
}

/** Stops what the test files shared, if one of them started it, and removes its data. */
export async function endTestRun(): Promise<void> {
  const folder = process.env['TOLLGATE_TEST_RUN_DIR'];
  if (folder !== undefined) await removeRun(folder);
}
