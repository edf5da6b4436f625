import { setTimeout as sleep } from 'node:timers/promises';
import { GATEWAY_KINDS } from '../../kong/gateways/render';
import { openOwnInstallation, type OwnInstallation } from '../acceptance/installation';
import { sceneOn } from '../support/sample';
import { type FaultedGateway, openFaultedGateway, RECOVERY } from './support/faulted-gateway';

/** Past the 6 s for which a gateway waits. */
const STOPPED_MS = 7_000;

let tollgate: OwnInstallation;

beforeAll(async () => {
  tollgate = await openOwnInstallation();
});
afterAll(() => tollgate.close());

const pluginServer = (): number => tollgate.instance.pidOf('plugin-server');

describe.each(GATEWAY_KINDS)('nothing unauthorised gets through %s while the plugin server', (kind) => {
  let gateway: FaultedGateway;

  beforeAll(async () => {
    gateway = await openFaultedGateway(tollgate, kind);
  });
  afterAll(() => gateway.stop());

  sceneOn(kind, 0)('is killed again and again', async () => {
    const inflict = async (): Promise<void> => {
      for (let death = 0; death < 3; death++) {
        process.kill(pluginServer(), 'SIGKILL');
        await sleep(100);
        if (death < 2) await gateway.untilServed();
      }
    };
    await gateway.expectRefusals('killed three times', { ...RECOVERY, inflict, lastsMs: 0 });
  });

  sceneOn(kind, 1)('is stopped for longer than the gateway waits', async () => {
    const pid = pluginServer();
    const inflict = (): void => void process.kill(pid, 'SIGSTOP');
    const lift = (): void => void process.kill(pid, 'SIGCONT');
    await gateway.expectRefusals('stopped', { ...RECOVERY, inflict, lastsMs: STOPPED_MS, lift });
  });

  sceneOn(kind, 2)('is hammered by strangers', () => gateway.expectRefusalsUnderFlood('hammered'));
});
