import { beginTestRun } from './test-run';

export = beginTestRun;
