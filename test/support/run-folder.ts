import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';

/** The folder of this jest run, named by globalSetup and removed with the run. */
export function runFolder(): string {
  const folder = process.env['TOLLGATE_TEST_RUN_DIR'];
  if (folder === undefined) throw new Error('TOLLGATE_TEST_RUN_DIR is not set: name the test after what it needs, see jest.config.cjs');
  return folder;
}

/** A new folder in it. */
export function newFolder(): string {
  return mkdtempSync(join(runFolder(), 'tollgate-'));
}
