import { type KongInstallation } from './kong-container';
import { endTestRun } from '../system/test-run';

async function endKongRun(): Promise<void> {
  await (Reflect.get(globalThis, Symbol.for('tollgate.test.kong')) as KongInstallation | undefined)?.stop();
  await endTestRun();
}

export = endKongRun;
