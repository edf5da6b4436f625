/**
 * What a page paints and how long something takes also depend on who else uses the machine. In CI such a test may be asked a second time,
 * and cli/test-summary.mjs names it; anywhere else, and in every other kind of file, the first failure counts.
 */
const dependsOnTheMachine = /\.(browser|performance)\.test\.ts$/;

if (process.env['CI'] && dependsOnTheMachine.test(expect.getState().testPath ?? ''))
  jest.retryTimes(1, { logErrorsBeforeRetry: true, retryImmediately: true });
