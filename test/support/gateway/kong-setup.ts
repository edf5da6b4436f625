import { startKongInstallation } from './kong-container';
import { beginTestRun } from '../system/test-run';

/** Tells the acceptance suite where the Kong of this run is, as a person would tell it of any installation. */
async function beginKongRun(): Promise<void> {
  await beginTestRun();
  const kong = await startKongInstallation(process.env['KONG_IMAGE'] || 'kong:3.9');
  // The teardown runs in this process, but jest may load each module anew for it.
  Reflect.set(globalThis, Symbol.for('tollgate.test.kong'), kong);
  process.env['GATEWAY_URL'] = kong.gatewayUrl;
  process.env['DATABASE_URL'] = kong.databaseUrl;
  process.env['SANDBOX_URL'] = kong.sandboxUrl;
}

export = beginKongRun;
