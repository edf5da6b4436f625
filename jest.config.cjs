const { join } = require('node:path');

// Only decides how late a hang is reported: on a busy machine a test may have to wait long for its turn.
const TEST_TIMEOUT_MS = 300_000;

const shared = {
  rootDir: __dirname,
  roots: ['<rootDir>/test', '<rootDir>/bench'],
  testEnvironment: '<rootDir>/test/support/one-realm-environment.cjs',
  runtime: '<rootDir>/test/support/shared-packages-runtime.cjs',
  setupFiles: ['<rootDir>/test/support/own-ports.cjs'],
  transform: {
    '^.+\\.(ts|tsx|[cm]?js)$': [
      '@swc/jest',
      {
        jsc: { parser: { syntax: 'typescript', tsx: true }, transform: { react: { runtime: 'automatic' } }, target: 'es2022' },
        module: { type: 'commonjs' },
      },
    ],
  },
  // Modules that are loaded late are named as in dist/.
  moduleNameMapper: { '^(\\.{1,2}/.+)\\.js$': '$1' },
  modulePathIgnorePatterns: ['<rootDir>/dist/', '<rootDir>/.tollgate/', '<rootDir>/.test/'],
  testTimeout: TEST_TIMEOUT_MS,
};

/** The folder of the run, for tests that share a server or leave something behind. Several projects that name it run it once. */
const withRunFolder = {
  globalSetup: '<rootDir>/test/support/run-setup.ts',
  globalTeardown: '<rootDir>/test/support/run-teardown.ts',
};

/** A test file says by its name what it needs. */
/** @type {import('jest').Config} */
module.exports = {
  projects: [
    {
      ...shared,
      displayName: 'unit',
      testRegex: ['/[^./]+\\.test\\.ts$'],
    },
    { ...shared, ...withRunFolder, displayName: 'stores', testMatch: ['**/*.stores.test.ts'] },
    { ...shared, ...withRunFolder, displayName: 'system', testMatch: ['**/*.{system,browser,measured}.test.ts'] },
    {
      ...shared,
      ...withRunFolder,
      displayName: 'performance',
      testMatch: ['**/*.{performance,measured}.test.ts'],
      globals: { isMeasured: true },
      runner: '<rootDir>/test/support/one-by-one-runner.cjs',
    },
  ],
  testTimeout: TEST_TIMEOUT_MS,
  reporters: ['default', join(__dirname, 'test/support/plain-failures.cjs')],
  testSequencer: '<rootDir>/test/support/longest-first-sequencer.cjs',
  // On two cores: a third of the time of a file that starts processes or a browser is waiting.
  maxWorkers: 3,
};
