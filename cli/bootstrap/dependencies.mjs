// Decides whether node_modules is what package-lock.json asks for, and installs only when it is not: asking costs milliseconds, `npm ci` half a minute.
import { spawnSync } from 'node:child_process';
import { lstatSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** `production` runs Tollgate; `everything` also tests and checks it. */
/** @typedef {'production' | 'everything'} Needs */

/**
 * @typedef {object} LockedPackage
 * @property {string} version
 * @property {boolean} [optional] may be absent: built for another platform
 * @property {boolean} [dev]
 * @property {boolean} [devOptional]
 */

/**
 * What to do so that the installed tree satisfies the lock.
 * A version that differs, or a production package that is missing, means a fresh install. When development packages alone are missing they
 * are added beside the others, because a fresh install would delete the files of an instance that runs from this folder.
 * @param {Record<string, LockedPackage>} locked `packages` of package-lock.json
 * @param {Record<string, LockedPackage> | undefined} installed `packages` of node_modules/.package-lock.json
 * @param {Needs} needs
 * @returns {'nothing' | 'add' | 'fresh'}
 */
export function installationNeeded(locked, installed, needs) {
  if (!installed) return 'fresh';
  let missingDevelopment = false;
  for (const [path, wanted] of Object.entries(locked)) {
    if (path === '') continue;
    const present = installed[path];
    if (present && present.version !== wanted.version) return 'fresh';
    if (present || wanted.optional) continue;
    if (!wanted.dev && !wanted.devOptional) return 'fresh';
    missingDevelopment = true;
  }
  return missingDevelopment && needs === 'everything' ? 'add' : 'nothing';
}

/**
 * What a fresh install brings: development packages too where they were before, so that `npm start` in a checkout that somebody works in
 * does not take away what its tests need.
 * @param {Record<string, LockedPackage> | undefined} installed `packages` of node_modules/.package-lock.json
 * @param {Needs} needs
 * @returns {Needs}
 */
export function freshInstallBrings(installed, needs) {
  return Object.values(installed ?? {}).some(({ dev }) => dev) ? 'everything' : needs;
}

/** @returns {Record<string, LockedPackage> | undefined} undefined when the file is absent or damaged */
function readPackages(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8')).packages;
  } catch {
    return undefined;
  }
}

function isLink(path) {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
}

const readInstalled = (root) => readPackages(join(root, 'node_modules', '.package-lock.json'));

/** @returns {'nothing' | 'add' | 'fresh'} */
function readNeed(root, needs) {
  const locked = readPackages(join(root, 'package-lock.json'));
  if (!locked) throw new Error('package-lock.json is missing or damaged; restore it from version control');
  return installationNeeded(locked, readInstalled(root), needs);
}

/**
 * @param {string} root the project's folder
 * @param {Needs} needs
 * @returns {boolean} true when nothing is to be installed
 */
export function isInstalled(root, needs) {
  return readNeed(root, needs) === 'nothing';
}

/**
 * Runs npm when it is needed, its output on stderr so that stdout stays free for the command's own.
 * @param {string} root the project's folder
 * @param {Needs} needs
 * @throws Error with one readable sentence
 */
export function installDependencies(root, needs) {
  const wanted = readNeed(root, needs);
  if (wanted === 'nothing') return;
  // Another folder owns what a link points to; deleting its packages here would surprise whoever works there.
  if (isLink(join(root, 'node_modules')))
    throw new Error('node_modules is a link and does not match package-lock.json; run npm ci where it points to');
  const quiet = ['--no-audit', '--no-fund', '--loglevel=error'];
  const brings = wanted === 'fresh' ? freshInstallBrings(readInstalled(root), needs) : needs;
  const only = brings === 'production' ? ['--omit=dev'] : ['--include=dev'];
  const args = wanted === 'fresh' ? ['ci', ...only, ...quiet] : ['install', '--no-save', ...only, ...quiet];
  console.error(`tollgate: installing packages (npm ${args[0]}; about half a minute)`);
  const { status, error } = spawnSync('npm', args, { cwd: root, stdio: ['ignore', 2, 2], shell: process.platform === 'win32' });
  if (error || status !== 0) throw new Error(`npm ${args[0]} failed${error ? `: ${error.message}` : '; its output is above'}`);
}
