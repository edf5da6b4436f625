import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { summarise } from '../../cli/test-summary.mjs';

const passed = { numPassedTests: 7, numFailedTests: 0, numPendingTests: 0, numTodoTests: 0, numRuntimeErrorTestSuites: 0 };

describe('the last line of CI', () => {
  test('counts passed tests and the checks', () => {
    expect(summarise({ results: passed, testExitCode: 0, checkExitCode: 0 })).toEqual({ line: '8 passed, 0 failed', ok: true });
  });

  test('names skipped tests', () => {
    const results = { ...passed, numPendingTests: 2, numTodoTests: 1 };
    expect(summarise({ results, testExitCode: 0, checkExitCode: 0 }).line).toBe('8 passed, 0 failed, 3 skipped');
  });

  test('counts failed tests, and suites that could not run', () => {
    const results = { ...passed, numFailedTests: 2, numRuntimeErrorTestSuites: 1 };
    expect(summarise({ results, testExitCode: 1, checkExitCode: 0 })).toEqual({ line: '8 passed, 3 failed', ok: false });
  });

  test('counts failed checks as a failed test', () => {
    expect(summarise({ results: passed, testExitCode: 0, checkExitCode: 1 })).toEqual({ line: '7 passed, 1 failed', ok: false });
  });

  test.each([
    ['results are missing', undefined, 0],
    ['jest failed for a reason outside its tests', passed, 1],
  ])('fails when %s', (_, results, testExitCode) => {
    expect(summarise({ results, testExitCode, checkExitCode: 0 })).toMatchObject({ ok: false, line: expect.stringContaining(' 1 failed') });
  });

  test('is printed alone, with the exit code to match', () => {
    const folder = mkdtempSync(join(tmpdir(), 'tollgate-summary-'));
    try {
      const file = join(folder, 'results.json');
      writeFileSync(file, JSON.stringify({ ...passed, numFailedTests: 1 }));
      const program = join(__dirname, '..', '..', 'cli', 'test-summary.mjs');
      const { status, stdout } = spawnSync(process.execPath, [program, file, '1', '0'], { encoding: 'utf8' });
      expect({ status, stdout }).toEqual({ status: 1, stdout: '8 passed, 1 failed\n' });
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  test('counts a test that failed with an error that holds itself', async () => {
    const { default: ours } = (await import(join(process.cwd(), 'jest.config.cjs'))) as { default: { reporters: unknown[] } };
    const folder = mkdtempSync(join(tmpdir(), 'tollgate-summary-'));
    try {
      const [file, jest] = [join(folder, 'results.json'), join(process.cwd(), 'node_modules', 'jest', 'bin', 'jest.js')];
      const fails = "test('a', () => { const e = new Error('refused'); e.socket = { e }; throw e; });\ntest('b', () => undefined);\n";
      writeFileSync(join(folder, 'one.test.js'), fails);
      const config = JSON.stringify({ rootDir: folder, reporters: ours.reporters });
      spawnSync(process.execPath, [jest, '--config', config, '--json', `--outputFile=${file}`], { cwd: folder });
      const results = JSON.parse(readFileSync(file, 'utf8'));
      expect(summarise({ results, testExitCode: 1, checkExitCode: 0 }).line).toBe('2 passed, 1 failed');
      expect(results.testResults[0].assertionResults[0].failureDetails[0].message).toContain('refused');
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
