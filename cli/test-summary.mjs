// Prints what CI's runs of jest and of the checks came to:
// node cli/test-summary.mjs <what `npm test` printed> <its exit code> <what `npm run test:kong` printed> <its exit code> <check's exit code>
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

/** jest's totals (`Tests:       1 failed, 2 skipped, 8524 passed, 8527 total`), or undefined when it ended before it printed them. */
function readTotals(output) {
  const line = output.match(/^Tests: .*$/gm)?.at(-1);
  if (line === undefined) return undefined;
  const count = (word) => Number(new RegExp(`(\\d+) ${word}`).exec(line)?.[1] ?? 0);
  return { passed: count('passed'), failed: count('failed'), skipped: count('skipped') + count('todo') };
}

/**
 * A run that ended without totals, or that failed for a reason outside its tests, counts as one failed test, and so do failed checks:
 * nothing that went wrong may look like success. Without a container engine the run on Kong has no totals and counts nothing.
 * @returns {{ line: string, ok: boolean }}
 */
export function summarise({ tests, kong, checkExitCode }) {
  const runs = [tests, kong].map(({ output, exitCode }) => ({ exitCode, totals: readTotals(output) }));
  const sum = (word) => runs.reduce((total, { totals }) => total + (totals?.[word] ?? 0), 0);
  const hasBroken = ({ totals, exitCode }) => exitCode !== 0 && !totals?.failed;
  const broken = runs.filter(hasBroken).length + (runs[0].totals || tests.exitCode !== 0 ? 0 : 1);
  const passed = sum('passed') + (checkExitCode === 0 ? 1 : 0);
  const failed = sum('failed') + broken + (checkExitCode === 0 ? 0 : 1);
  const skipped = sum('skipped');
  return { line: `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`, ok: failed === 0 };
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [, , testsFile, testsExitCode, kongFile, kongExitCode, checkExitCode] = process.argv;
  const run = (file, exitCode) => ({ output: readFileSync(file, 'utf8'), exitCode: Number(exitCode) });
  const tests = run(testsFile, testsExitCode);
  const { line, ok } = summarise({ tests, kong: run(kongFile, kongExitCode), checkExitCode: Number(checkExitCode) });
  console.log(line);
  process.exit(ok ? 0 : 1);
}
