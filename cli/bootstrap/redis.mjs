// Tests run against a real redis-server; no npm package ships one.
import { spawnSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** @returns {string | undefined} the program's path */
export function findProgram(name, path = process.env.PATH ?? '') {
  for (const folder of path.split(delimiter).filter(Boolean)) {
    const file = join(folder, name);
    try {
      accessSync(file, constants.X_OK);
      return file;
    } catch {
      // Not in this folder.
    }
  }
  return undefined;
}

/** Debian's package manager, if there is one and we may use it. */
function findInstaller() {
  return process.getuid?.() === 0 ? findProgram('apt-get') : undefined;
}

function install(installer, name) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const run = (...args) => spawnSync(installer, args, { stdio: ['ignore', 2, 2], env }).status === 0;
  const attempt = () => run('install', '-y', '-qq', '--no-install-recommends', name);
  return attempt() || (run('update', '-qq') && attempt());
}

/**
 * Makes sure that tests find a Redis: REDIS_URL, otherwise redis-server on the PATH, otherwise Debian's package if we may install it.
 * @throws Error with one readable sentence
 */
export function ensureRedis() {
  if (process.env.REDIS_URL || findProgram('redis-server')) return;
  const installer = findInstaller();
  if (installer) {
    console.error('tollgate: installing redis-server for the tests (apt-get)');
    if (install(installer, 'redis-server') && findProgram('redis-server')) return;
  }
  throw new Error('the tests need Redis: install redis-server, or set REDIS_URL to a Redis whose data may be deleted');
}
