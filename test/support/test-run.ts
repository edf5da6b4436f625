import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { serverFiles } from '../../cli/postgres/embedded-postgres-files';
import { endLeftover, isAlive } from '../../cli/postgres/embedded-postgres-process';
import { endSharedInstance } from './system/shared-instance';

const ROOT = resolve(__dirname, '../../.test');

async function removeRun(folder: string): Promise<void> {
  await endSharedInstance(folder);
  for (const name of existsSync(folder) ? readdirSync(folder) : []) {
    if (!name.startsWith('postgres')) continue;
    await endLeftover(serverFiles(join(folder, name)));
  }
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}

/** Names the folder of this run and removes what killed runs left behind, servers included. Starts nothing: most tests need none. */
export async function beginTestRun(): Promise<void> {
  mkdirSync(ROOT, { recursive: true });
  for (const name of readdirSync(ROOT)) {
    const owner = /^run-(\d+)$/.exec(name)?.[1];
    if (owner !== undefined && !isAlive(Number(owner))) await removeRun(join(ROOT, name));
  }
  const folder = join(ROOT, `run-${process.pid}`);
  mkdirSync(folder, { recursive: true });
  process.env['TOLLGATE_TEST_RUN_DIR'] = folder;
}

/** Stops what the test files shared, if one of them started it, and removes its data. */
export async function endTestRun(): Promise<void> {
  const folder = process.env['TOLLGATE_TEST_RUN_DIR'];
  if (folder !== undefined) await removeRun(folder);
}
