// Checks whether node_modules matches package-lock.json, and installs only if it does not: the check takes milliseconds, `npm ci` half a
// minute.
import { spawnSync } from 'node:child_process';
import { lstatSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * @typedef {object} LockedPackage
 * @property {string} version
 * @property {boolean} [optional] may be absent: built for another platform
 */

/**
 * True when the installed tree satisfies the lock. A clone also builds, so it needs the development packages.
 * @param {Record<string, LockedPackage>} locked `packages` of package-lock.json
 * @param {Record<string, LockedPackage> | undefined} installed `packages` of node_modules/.package-lock.json
 */
export function satisfiesLock(locked, installed) {
  if (!installed) return false;
  return Object.entries(locked).every(([path, { version, optional }]) => {
    if (path === '') return true;
    const present = installed[path];
    return present ? present.version === version : optional === true;
  });
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

/**
 * @param {string} root the project's folder
 * @returns {boolean} true when there is nothing to install
 */
export function isInstalled(root) {
  const locked = readPackages(join(root, 'package-lock.json'));
  if (!locked) throw new Error('package-lock.json is missing or damaged; restore it from version control');
  return satisfiesLock(locked, readPackages(join(root, 'node_modules', '.package-lock.json')));
}

/**
 * Runs npm when needed. Its output goes to stderr, so that stdout stays free for the command's own.
 * @param {string} root the project's folder
 * @throws Error with one readable sentence
 */
export function installDependencies(root) {
  if (isInstalled(root)) return;
  // A linked folder belongs to another checkout; deleting its packages here would surprise the people who work there.
  if (isLink(join(root, 'node_modules')))
    throw new Error('node_modules is a link and does not match package-lock.json; run npm ci where it points to');
  console.error('tollgate: installing packages (npm ci; about half a minute)');
  // NODE_ENV=production would leave out the packages needed for building.
  const args = ['ci', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error'];
  const { status, error } = spawnSync('npm', args, { cwd: root, stdio: ['ignore', 2, 2], shell: process.platform === 'win32' });
  if (error || status !== 0) throw new Error(`npm ci failed${error ? `: ${error.message}` : '; its output is above'}`);
}
