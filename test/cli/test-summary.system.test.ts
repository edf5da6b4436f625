import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { summarise } from '../../cli/test-summary.mjs';
import { runFolder } from '../support/run-folder';

const passed = { numPassedTests: 7, numFailedTests: 0, numPendingTests: 0, numTodoTests: 0, numRuntimeErrorTestSuites: 0 };

describe('the last line of CI', () => {
  it.each<[string, object, [number, number], object]>([
    ['passed tests and the checks', {}, [0, 0], { line: '8 passed, 0 failed', ok: true }],
    ['skipped tests', { numPendingTests: 2, numTodoTests: 1 }, [0, 0], { line: '8 passed, 0 failed, 3 skipped', ok: true }],
    [
      'failed tests, and suites that could not run',
      { numFailedTests: 2, numRuntimeErrorTestSuites: 1 },
      [1, 0],
      { line: '8 passed, 3 failed', ok: false },
    ],
    ['failed checks as a failed test', {}, [0, 1], { line: '7 passed, 1 failed', ok: false }],
  ])('counts %s', (_what, counts, [testExitCode, checkExitCode], summary) => {
    expect(summarise({ results: { ...passed, ...counts }, testExitCode, checkExitCode })).toEqual(summary);
  });

  it.each([
    ['results are missing', undefined, 0],
    ['jest failed for a reason outside its tests', passed, 1],
  ])('fails when %s', (_, results, testExitCode) => {
    expect(summarise({ results, testExitCode, checkExitCode: 0 })).toMatchObject({ ok: false, line: expect.stringContaining(' 1 failed') });
  });

  it('is printed alone, with the exit code to match, and counts a test that failed with an error that holds itself', async () => {
    const { default: ours } = (await import(join(process.cwd(), 'jest.config.cjs'))) as { default: { reporters: unknown[] } };
    const folder = mkdtempSync(join(runFolder(), 'tollgate-summary-'));
    const [file, jest] = [join(folder, 'results.json'), join(process.cwd(), 'node_modules', 'jest', 'bin', 'jest.js')];
    const fails = "test('a', () => { const e = new Error('refused'); e.socket = { e }; throw e; });\ntest('b', () => undefined);\n";
    writeFileSync(join(folder, 'one.test.js'), fails);
    const config = JSON.stringify({ rootDir: folder, reporters: ours.reporters });
    spawnSync(process.execPath, [jest, '--config', config, '--json', `--outputFile=${file}`], { cwd: folder });
    const program = join(process.cwd(), 'cli', 'test-summary.mjs');
    const { status, stdout } = spawnSync(process.execPath, [program, file, '1', '0'], { encoding: 'utf8' });
    expect({ status, stdout }).toEqual({ status: 1, stdout: '2 passed, 1 failed\n' });
    const results = JSON.parse(readFileSync(file, 'utf8'));
    expect(results.testResults[0].assertionResults[0].failureDetails[0].message).toContain('refused');
  });
});
