// Prints what a run of the tests and checks came to, for CI: node cli/test-summary.mjs <jest's results file> <jest's exit code> <check's exit code>
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

/** jest's own totals, or undefined when it ended before it could write them. */
function readResults(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}

/**
 * Counts a suite that could not run, a run that ended without results, a run that failed for a reason outside its tests, and failed
 * checks as one failed test each: nothing that went wrong may look like success.
 * @returns {{ line: string, ok: boolean }}
 */
export function summarise({ results, testExitCode, checkExitCode }) {
  const passed = (results?.numPassedTests ?? 0) + (checkExitCode === 0 ? 1 : 0);
  const skipped = (results?.numPendingTests ?? 0) + (results?.numTodoTests ?? 0);
  let failed = (results?.numFailedTests ?? 0) + (results?.numRuntimeErrorTestSuites ?? 0);
  if (failed === 0 && (!results || testExitCode !== 0)) failed += 1;
  if (checkExitCode !== 0) failed += 1;
  const line = `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
  return { line, ok: failed === 0 };
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [, , file, testExitCode, checkExitCode] = process.argv;
  const results = readResults(file);
  const { line, ok } = summarise({ results, testExitCode: Number(testExitCode), checkExitCode: Number(checkExitCode) });
  console.log(line);
  process.exit(ok ? 0 : 1);
}
