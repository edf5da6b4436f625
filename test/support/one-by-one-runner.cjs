/**
 * Runs test files one after the other. jest runs the files of one runner before those of the next, so that files of a project with this
 * runner, when it is the last project, have the machine to themselves.
 */
const { default: TestRunner } = require('jest-runner');

module.exports = class OneByOneRunner extends TestRunner {
  constructor(globalConfig, context) {
    super({ ...globalConfig, maxWorkers: 1 }, context);
  }
};
