import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DEBIAN_PACKAGES } from '../support/debian-packages';
import { type JestRun, summarise } from '../../cli/test-summary.mjs';

it('CI installs every Debian package that a test uses', () => {
  const script = readFileSync(join(__dirname, '../../.ci/run'), 'utf8');
  const installed = Object.fromEntries([...script.matchAll(/^ {2}\[(\S+)\]=(\S+)$/gm)].map(([, wanted = '', name]) => [wanted, name]));
  expect(installed).toEqual(DEBIAN_PACKAGES);
});

const printed = (totals: string, exitCode = 0): JestRun => ({
  output: `PASS unit test/core/day.test.ts\n\nTest Suites: 3 passed, 3 total\nTests:       ${totals}\nSnapshots:   0 total\nTime:        3 s\n`,
  exitCode,
});
const seven = printed('7 passed, 7 total');
const noEngine: JestRun = { output: 'test:kong: not run: no container engine can be reached\n', exitCode: 0 };

it.each<[string, Partial<Parameters<typeof summarise>[0]>, string, boolean]>([
  ['passed tests and the checks', {}, '8 passed, 0 failed', true],
  ['skipped tests', { tests: printed('2 skipped, 1 todo, 7 passed, 10 total') }, '8 passed, 0 failed, 3 skipped', true],
  ['failed tests', { tests: printed('2 failed, 7 passed, 9 total', 1) }, '8 passed, 2 failed', false],
  ['failed checks', { checkExitCode: 1 }, '7 passed, 1 failed', false],
  ['a suite that could not run', { tests: { ...seven, exitCode: 1 } }, '8 passed, 1 failed', false],
  ['a run that ended without totals', { tests: { output: '', exitCode: 0 } }, '1 passed, 1 failed', false],
  ['a run on Kong that broke off', { kong: { output: '', exitCode: 1 } }, '8 passed, 1 failed', false],
])('the last line of CI counts %s', (_what, runs, line, ok) => {
  expect(summarise({ tests: seven, kong: noEngine, checkExitCode: 0, ...runs })).toEqual({ line, ok });
});
