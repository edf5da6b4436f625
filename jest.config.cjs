// Jest on Node 20 cannot require() packages published as ES modules only, so those few are transformed too.
const esmOnly = [
  'better-auth',
  '@better-auth',
  'better-call',
  '@better-fetch',
  'rou3',
  'nanostores',
  '@noble',
  'defu',
  'jose',
  'content-disposition',
  'cookie',
  'htmlparser2',
  'domhandler',
  'domutils',
  'dom-serializer',
  'domelementtype',
  'entities',
  'node-pg-migrate',
  'p-limit',
  'p-timeout',
  'yocto-queue',
  'ansi-regex',
  'ansi-styles',
  'cliui',
  'string-width',
  'strip-ansi',
  'wrap-ansi',
  'yargs',
  'yargs-parser',
  'get-east-asian-width',
];

/** @type {import('jest').Config} */
module.exports = {
  rootDir: __dirname,
  roots: ['<rootDir>/test'],
  testMatch: ['**/*.test.ts'],
  testEnvironment: 'node',
  globalSetup: '<rootDir>/test/support/postgres/postgres-setup.ts',
  globalTeardown: '<rootDir>/test/support/postgres/postgres-teardown.ts',
  transform: {
    '^.+\\.(ts|tsx|[cm]?js)$': [
      '@swc/jest',
      { jsc: { parser: { syntax: 'typescript', tsx: true }, target: 'es2022' }, module: { type: 'commonjs' } },
    ],
  },
  transformIgnorePatterns: [`/node_modules/(?!(.*/)?(${esmOnly.join('|')})/)`],
  modulePathIgnorePatterns: ['<rootDir>/dist/', '<rootDir>/.tollgate/', '<rootDir>/.test/'],
  // Only decides how late a hang is reported: on a busy machine a test may have to wait long for its turn.
  testTimeout: 300_000,
  maxWorkers: 2,
};
