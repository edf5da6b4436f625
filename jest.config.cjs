// Only decides how late a hang is reported: on a busy machine a test may have to wait long for its turn.
const TEST_TIMEOUT_MS = 300_000;

/** Packages that are ES modules alone, which jest cannot load untransformed. */
const ES_MODULES = [
  'better-auth',
  '@better-auth',
  'better-call',
  '@better-fetch',
  '@noble',
  'defu',
  'nanostores',
  'rou3',
  'htmlparser2',
  'dom-serializer',
  'domelementtype',
  'domhandler',
  'domutils',
  'entities',
  'jose',
  'oauth4webapi',
  'openid-client',
  'content-disposition',
  'cookie',
  'p-limit',
  'yocto-queue',
];

const shared = {
  rootDir: __dirname,
  roots: ['<rootDir>/test'],
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
  transformIgnorePatterns: [`/node_modules/(?!(.*/)?(${ES_MODULES.join('|')})/)`],
  // Modules that are loaded late are named as in dist/.
  moduleNameMapper: { '^(\\.{1,2}/.+)\\.js$': '$1' },
  modulePathIgnorePatterns: ['<rootDir>/dist/', '<rootDir>/.tollgate/', '<rootDir>/.test/'],
  testTimeout: TEST_TIMEOUT_MS,
};

/** The folder of the run, for tests that share a server or leave something behind. Several projects that name it run it once. */
const withRunFolder = {
  globalSetup: '<rootDir>/test/support/system/run-setup.ts',
  globalTeardown: '<rootDir>/test/support/system/run-teardown.ts',
};

/** A test file says by its name what it needs. */
/** @type {import('jest').Config} */
module.exports = {
  projects: [
    { ...shared, displayName: 'unit', testRegex: ['/[^./]+\\.test\\.ts$'] },
    { ...shared, ...withRunFolder, displayName: 'stores', testMatch: ['**/*.stores.test.ts'] },
    { ...shared, ...withRunFolder, displayName: 'system', testMatch: ['**/*.{system,browser,measured}.test.ts'] },
  ],
  testTimeout: TEST_TIMEOUT_MS,
  // On two cores: a third of the time of a file that starts processes or a browser is waiting.
  maxWorkers: 3,
};
