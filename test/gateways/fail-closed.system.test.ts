import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { GATEWAY_KINDS } from '../../kong/gateways/render';
import { generateApiKey } from '../../plugins/core/api-key';
import { openOwnInstallation, type OwnInstallation, type IssuedKey } from '../acceptance/installation';
import { type ProbeTarget } from '../support/faults/fault-probe';
import { describeStatuses } from '../support/faults/fault-report';
import { expectDocumented, observeFault, type FaultPlan } from '../support/faults/observe-fault';
import { send } from '../support/http';
import { flood } from '../support/system/flood';
import { startGateway, type RunningGateway } from './support/running-gateway';

/** What the holder of a valid key sees while nobody can decide: nginx and HAProxy say 503, Caddy 502 or, past its time-out, 504. */
const UNDECIDED = { nginx: [503], caddy: [502, 503, 504], haproxy: [503] } as const;

/** Past the 6 s for which a gateway waits. */
const STOPPED_MS = 7_000;
const HAMMERED = 10_000;

let tollgate: OwnInstallation;
let revoked: IssuedKey;

const newKey = (): Promise<IssuedKey> =>
  tollgate.createKey({ products: ['api-vahaan'], mode: 'test', daily: 1_000_000, monthly: 1_000_000 });

beforeAll(async () => {
  tollgate = await openOwnInstallation();
  revoked = await newKey();
  await tollgate.keys.revoke(revoked.id);
});

afterAll(() => tollgate.close());

const pluginServer = (): number => tollgate.instance.pidOf('plugin-server');

describe.each(GATEWAY_KINDS)('nothing unauthorised gets through %s while the plugin server', (kind) => {
  let gateway: RunningGateway;
  let target: ProbeTarget;
  let watcher: string;

  beforeAll(async () => {
    const { dataDir, services } = tollgate.instance;
    gateway = await startGateway({ kind, forwardAuthSocket: join(dataDir, 'forward-auth.sock'), services });
    watcher = (await newKey()).key;
    target = { url: `${gateway.url}/vahaan`, key: (await newKey()).key, revokedKey: revoked.key };
  });

  afterAll(() => gateway.stop());

  async function untilServed(): Promise<void> {
    const deadline = performance.now() + 15_000;
    while ((await send(target.url, { headers: { 'X-API-Key': watcher } })).status !== 200) {
      if (performance.now() > deadline) throw new Error('a valid key was not admitted again within 15 s');
      await sleep(50);
    }
  }

  /** Inflicts a fault, judges what was seen, and leaves a row for the table in docs/gateways.md. */
  async function expectRefusals(
    fault: string,
    plan: FaultPlan,
    rejected: () => ReadonlyMap<number, number> = () => new Map(),
  ): Promise<void> {
    const seen = await observeFault(target, plan);
    expectDocumented(seen, { statuses: UNDECIDED[kind] });
    const strangers = [...seen.answers.statuses('stranger', 'revoked'), ...rejected()];
    expect(strangers.filter(([status]) => status >= 200 && status < 400)).toEqual([]);
    const folder = resolve(__dirname, '../../.test/gateways');
    mkdirSync(folder, { recursive: true });
    const asked = strangers.reduce((sum, [, count]) => sum + count, 0);
    const cells = [
      kind,
      fault,
      describeStatuses(seen.answers.statuses('valid')),
      `0 of ${asked.toLocaleString('en-GB')}`,
      seen.recoveredInMs,
    ];
    writeFileSync(join(folder, `${kind}-${fault.replaceAll(' ', '-')}.txt`), `| ${cells.join(' | ')} |\n`);
  }

  it('is killed again and again', async () => {
    const dieThreeTimes = async (): Promise<void> => {
      for (let death = 0; death < 3; death++) {
        process.kill(pluginServer(), 'SIGKILL');
        await sleep(100);
        if (death < 2) await untilServed();
      }
    };
    await expectRefusals('killed three times', { inflict: dieThreeTimes, lastsMs: 0, lift: () => undefined, recoversWithinMs: 15_000 });
  });

  it('is stopped for longer than the gateway waits', async () => {
    const pid = pluginServer();
    await expectRefusals('stopped', {
      inflict: () => void process.kill(pid, 'SIGSTOP'),
      lastsMs: STOPPED_MS,
      lift: () => void process.kill(pid, 'SIGCONT'),
      recoversWithinMs: 15_000,
    });
  });

  it('is hammered by strangers', async () => {
    let rejected: ReadonlyMap<number, number> = new Map();
    const hammer = async (): Promise<void> => {
      const headers = (index: number): string => (index % 10 === 0 ? `X-API-Key: ${generateApiKey('live')}\r\n` : '');
      rejected = await flood(target.url, { requests: HAMMERED, connections: 64, headers });
    };
    await expectRefusals('hammered', { inflict: hammer, lastsMs: 0, lift: () => undefined, recoversWithinMs: 15_000 }, () => rejected);
  });
});
