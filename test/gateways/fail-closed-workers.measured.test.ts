import { setTimeout as sleep } from 'node:timers/promises';
import { openOwnInstallation } from '../acceptance/installation';
import { eventually } from '../support/eventually';
import { send } from '../support/http';
import { useOpened } from '../support/opened';
import { sceneOn } from '../support/scenes';
import { childProcesses } from '../support/system/child-processes';
import { REAL_GATEWAYS } from './support/every-gateway';
import { openFaultedGateway, RECOVERY as OF_ONE_PROCESS } from './support/faulted-gateway';

const WORKERS = 3;
/** Three processes start at once on the two cores that load and stores use too. */
const RECOVERY = { ...OF_ONE_PROCESS, recoversWithinMs: 30_000 };
/** Past the 6 s for which a gateway waits. */
const STOPPED_MS = 7_000;
/** Several lives of a worker. */
const CRASHING_MS = 2_000;

const tollgate = useOpened(() => openOwnInstallation({ PLUGIN_SERVER_WORKERS: String(WORKERS) }));

const workers = (): number[] => childProcesses(tollgate.instance.pidOf('plugin-server'));

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It ended by itself meanwhile.
  }
}

/** As their parent tells it. */
async function servingWorkers(): Promise<number> {
  const { text } = await send(tollgate.instance.metrics['plugin-server'] ?? '');
  return Number(/^tollgate_plugin_workers (\d+)$/m.exec(text)?.[1] ?? 0);
}

const untilAllServe = (): Promise<void> => eventually(async () => workers().length === WORKERS && (await servingWorkers()) === WORKERS);

describe.each(REAL_GATEWAYS)('nothing unauthorised gets through %s while of three workers of the plugin server', (kind) => {
  const gateway = useOpened(() => openFaultedGateway(tollgate, kind));
  beforeEach(untilAllServe);

  sceneOn(kind, 'nginx-lua')('one is killed again and again', async () => {
    const inflict = async (): Promise<void> => {
      for (let death = 0; death < 3; death++) {
        const [dead = 0] = workers();
        kill(dead);
        await eventually(() => workers()[0] !== dead);
        await untilAllServe();
      }
    };
    await gateway.expectRefusals('one worker killed three times', { ...RECOVERY, inflict, lastsMs: 0, deaths: 3 });
  });

  sceneOn(kind, 'nginx-lua')('all are killed at once', async () => {
    const inflict = (): void => workers().forEach(kill);
    await gateway.expectRefusals('all workers killed', { ...RECOVERY, inflict, lastsMs: 0, deaths: 1 });
  });

  sceneOn(kind, 'nginx-lua')('each is killed as soon as it is there', async () => {
    let isCrashing = true;
    const crash = async (): Promise<void> => {
      for (; isCrashing; await sleep(20)) workers().forEach(kill);
    };
    let crashing: Promise<void> | undefined;
    await gateway.expectRefusals('workers in a crash loop', {
      ...RECOVERY,
      inflict: () => void (crashing = crash()),
      lastsMs: CRASHING_MS,
      deaths: 1,
      lift: async () => {
        isCrashing = false;
        await crashing;
      },
    });
  });

  sceneOn(kind, 'nginx-lua')('one is stopped for longer than the gateway waits', async () => {
    const [stopped = 0] = workers();
    const inflict = (): void => void process.kill(stopped, 'SIGSTOP');
    const lift = (): void => void process.kill(stopped, 'SIGCONT');
    await gateway.expectRefusals('one worker stopped', { ...RECOVERY, inflict, lastsMs: STOPPED_MS, lift });
  });

  sceneOn(kind, 'nginx-lua')('all are hammered by strangers', () => gateway.expectRefusalsUnderFlood('hammered, three workers'));
});
