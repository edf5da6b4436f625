/**
 * Runs test files one after the other. jest ends the files of one runner before it begins with those of another: a project with this
 * runner has the machine to itself.
 */
const { default: TestRunner } = require('jest-runner');

module.exports = class OneByOneRunner extends TestRunner {
  constructor(globalConfig, context) {
    super({ ...globalConfig, maxWorkers: 1 }, context);
  }
};
