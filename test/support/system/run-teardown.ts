import { endTestRun } from './test-run';

export = endTestRun;
