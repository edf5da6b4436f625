// Makes sure that compiled code can run: Node.js, packages, dist/. It is plain JavaScript without dependencies, because a bare clone has no
// packages and no dist/; an installed package has both. `npm start`, `npm test`, `npm run check` and `npx tollgate` all begin here.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import './bootstrap/navigator.cjs';
import { installDependencies, isInstalled } from './bootstrap/dependencies.mjs';
import { exclusively } from './bootstrap/exclusive.mjs';
import { nodeTooOld } from './bootstrap/node-version.mjs';

/** The project's folder, also when called through a link, as npx does. */
export const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** Only a clone has the builder. An installed package comes built. */
const builder = join(root, 'cli', 'build.mjs');
const isClone = existsSync(builder);

/**
 * The folder that paths on the command line are relative to. npm and npx change folders, and pass on the folder in which they were called.
 */
const here = process.env.INIT_CWD || process.cwd();

/** The program's folder, the folder in which it keeps its data by default, and the folder in which it was called. */
export const places = { root, home: isClone ? root : here, here };

/** Prints one line on stderr and ends with exit code 1. */
export function fail(error) {
  console.error(`tollgate: ${error instanceof Error ? error.message : String(error)}`);
  process.exit(1);
}

/** Builds in a process that ends afterwards: the compilers take a gigabyte, which `npm start` must not hold for days. */
async function build() {
  console.error('tollgate: building; a few seconds, once for each version of the code');
  const args = ['--require', join(root, 'cli', 'supervisor', 'exit-with-parent.cjs'), builder];
  const [code] = await once(spawn(process.execPath, args, { cwd: root, stdio: ['pipe', 2, 2] }), 'close');
  if (code !== 0) throw new Error('the build failed; its output is above');
}

/** Ends the process with one readable line when something cannot be set up. */
export async function bootstrap() {
  try {
    const { engines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    const tooOld = nodeTooOld(engines.node, process.versions.node);
    if (tooOld) throw new Error(tooOld);
    if (!isClone) return;
    const { isBuilt } = await import('./build.mjs');
    // Usually there is nothing to do, and concurrent commands need not wait for each other.
    if (isInstalled(root) && isBuilt()) return;
    await exclusively(join(root, '.tollgate', 'bootstrap.lock'), async () => {
      installDependencies(root);
      if (!isBuilt()) await build();
    });
  } catch (error) {
    fail(error);
  }
}
