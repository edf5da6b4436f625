const { projects } = require('./jest.config.cjs');

const [, stores] = projects;

/** Every bound in milliseconds, megabytes or a rate. `npm run test:performance` runs the files one after the other, alone on the machine. */
/** @type {import('jest').Config} */
module.exports = {
  ...stores,
  displayName: 'performance',
  testMatch: ['**/*.{performance,measured}.test.ts'],
  globals: { isMeasured: true },
};
