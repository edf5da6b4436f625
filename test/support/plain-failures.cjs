/** What of a failure JSON can hold: an error that names a socket, for example, holds itself, and `jest --json` would end without results. */
function plainOf(details) {
  try {
    JSON.stringify(details);
    return details;
  } catch {
    return { name: details?.name, message: details?.message, stack: details?.stack };
  }
}

/** A reporter that prints nothing: it sees to it that the results can be written, however a test failed. */
module.exports = class PlainFailures {
  onRunComplete(_contexts, { testResults }) {
    for (const { testResults: tests } of testResults) {
      for (const test of tests) test.failureDetails = test.failureDetails.map(plainOf);
    }
  }
};
