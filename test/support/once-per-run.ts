import { existsSync, mkdirSync, readFileSync, renameSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from './eventually';
import { runFolder } from './run-folder';

/** A first start of everything on a busy machine; decides only how late a failure is told. */
const START_LIMIT_MS = 240_000;

/**
 * Starts what all test files of a run share: the first that asks starts it, the others wait for that. Test files run in processes of
 * their own and meet in the folder of the run.
 * @param name names the file that keeps what `start` returned; only its owner can read it
 * @returns what `start` returned, when it was called
 */
export async function oncePerRun(name: string, start: () => Promise<string>): Promise<string> {
  const file = join(runFolder(), name);
  const starting = `${file}-starting`;
  await eventually(async () => {
    if (existsSync(file)) return true;
    try {
      mkdirSync(starting);
    } catch {
      return false;
    }
    try {
      if (!existsSync(file)) {
        writeFileSync(`${file}.new`, await start(), { mode: 0o600 });
        renameSync(`${file}.new`, file);
      }
    } finally {
      rmdirSync(starting);
    }
    return true;
  }, START_LIMIT_MS);
  return readFileSync(file, 'utf8');
}
