// Which third of the other gateways' tests `npm test` runs. Each commit takes one, so that a failure can be repeated.
import { spawnSync } from 'node:child_process';

const SAMPLES = 3;

/** The commit's hash, or undefined outside a clone. */
export function readCommit(root) {
  const { status, stdout } = spawnSync('git', ['rev-parse', 'HEAD'], { cwd: root, encoding: 'utf8' });
  return status === 0 ? stdout.trim() : undefined;
}

/**
 * @param {string | undefined} wanted `1`, `2`, `3` or `all`; undefined or empty: the commit chooses
 * @param {string | undefined} commit a hash in hex
 * @returns {string}
 * @throws Error when anything else is wanted
 */
export function chooseSample(wanted, commit) {
  if (!wanted) return String((Number.parseInt(commit?.slice(0, 8) ?? '0', 16) % SAMPLES) + 1);
  if (wanted !== 'all' && !/^[1-3]$/.test(wanted)) throw new Error(`TEST_SAMPLE is 1, 2, 3 or all; not ${wanted}`);
  return wanted;
}
