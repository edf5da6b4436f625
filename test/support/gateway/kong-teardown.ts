import { takeRunningKong } from './running-kong';
import { endTestRun } from '../test-run';

async function endKongRun(): Promise<void> {
  await takeRunningKong()?.stop();
  await endTestRun();
}

export = endKongRun;
