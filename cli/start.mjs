#!/usr/bin/env node
// `npm start [-- --port 8000 --json]`: one instance a clone. The lock comes first, so that a second start says so at once.
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { bootstrap, fail, root } from './bootstrap.mjs';
import { identifyProcess, isSameProcess, takeLock } from './bootstrap/exclusive.mjs';

const dataDir = resolve(root, process.env.TOLLGATE_DATA_DIR || '.tollgate');

function lockFolder() {
  try {
    return takeLock(join(dataDir, 'start.lock'));
  } catch (error) {
    return fail(
      `nothing can be written to ${dataDir} (${error.code ?? error.message}); make it yours, or choose another folder with TOLLGATE_DATA_DIR`,
    );
  }
}

const lock = lockFolder();
if ('heldBy' in lock) fail(`it already runs from this folder (process ${lock.heldBy}); stop that one first`);
process.on('exit', () => lock.release());
await bootstrap();
const { runStart } = await import(pathToFileURL(join(root, 'dist', 'cli', 'run-start.js')).href);
await runStart({ root, argv: process.argv.slice(2), processes: { identifyProcess, isSameProcess } });
