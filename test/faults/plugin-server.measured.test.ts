import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isAlive } from '../../cli/postgres/embedded-postgres-process';
import { openOwnInstallation, type OwnInstallation, type IssuedKey } from '../acceptance/installation';
import { eventually } from '../support/eventually';
import { type ProbeTarget } from '../support/faults/fault-probe';
import { recordObservation } from '../support/faults/fault-report';
import { send } from '../support/http';
import { expectMeasured } from '../support/measured';
import { type RunningInstance } from '../support/system/instance';
import { expectDocumented, observeFault } from '../support/faults/observe-fault';

let tollgate: OwnInstallation;
let instance: RunningInstance;
let target: ProbeTarget;
/** A key of its own, so that asking whether the plugin server is back changes no count. */
let watcher: string;

const newKey = (): Promise<IssuedKey> => tollgate.createKey({ products: ['api-vahaan'], mode: 'test', daily: 100_000, monthly: 1_000_000 });

beforeAll(async () => {
  tollgate = await openOwnInstallation();
  instance = tollgate.instance;
  const [valid, revoked] = [await newKey(), await newKey()];
  watcher = (await newKey()).key;
  await tollgate.keys.revoke(revoked.id);
  target = { url: `${tollgate.gatewayUrl}/vahaan`, key: valid.key, revokedKey: revoked.key };
});

afterAll(() => tollgate.close());

const statusOf = (key: string): Promise<number> =>
  send(target.url, { headers: { 'X-API-Key': key } }).then(
    ({ status }) => status,
    () => 0,
  );

const untilServed = (key: string): Promise<void> => eventually(async () => (await statusOf(key)) === 200);

const pluginServer = (): number => instance.pidOf('plugin-server');

/** 401 while the plugin server answers, 500 or 503 while it does not; never a success, never a service's own answer. */
const REFUSALS = { statuses: [500, 503] };

describe('nothing unauthorised gets through while the plugin server', () => {
  it('is killed, and a valid key is admitted again within 15 s', async () => {
    const seen = await observeFault(target, {
      inflict: () => void process.kill(pluginServer(), 'SIGKILL'),
      lastsMs: 0,
      lift: () => undefined,
      recoversWithinMs: 15_000,
    });
    expectDocumented(seen, REFUSALS);
    recordObservation('plugin server killed (SIGKILL)', seen);
  });

  it('dies again and again', async () => {
    const dieThreeTimes = async (): Promise<void> => {
      for (let death = 0; death < 3; death++) {
        process.kill(pluginServer(), 'SIGKILL');
        await sleep(100);
        if (death < 2) await untilServed(watcher);
      }
    };
    const plan = { inflict: dieThreeTimes, lastsMs: 0, lift: () => undefined, recoversWithinMs: 15_000 };
    const seen = await observeFault(target, plan);
    expect(seen.answers.of('valid').length).toBeGreaterThan(50);
    expectDocumented(seen, REFUSALS);
    recordObservation('plugin server in a crash loop', seen, { note: 'killed three times' });
  });

  it('is stopped and goes on', async () => {
    const pid = pluginServer();
    const seen = await observeFault(target, {
      inflict: () => void process.kill(pid, 'SIGSTOP'),
      lastsMs: 2_000,
      lift: () => void process.kill(pid, 'SIGCONT'),
      recoversWithinMs: 15_000,
    });
    expectDocumented(seen, REFUSALS);
    recordObservation('plugin server stopped (SIGSTOP)', seen, { note: 'they wait meanwhile' });
  });

  it('is sent garbage on its socket, and nobody else notices', async () => {
    const socketPath = join(instance.dataDir, 'plugin.sock');
    const pieces = [
      randomBytes(4_096),
      Buffer.from('ffffffff00', 'hex'),
      Buffer.from('0a00000001', 'hex'),
      Buffer.from('GET / HTTP/1.1\r\n\r\n'),
    ];
    const sendGarbage = async (): Promise<void> => {
      for (let turn = 0; turn < 300; turn++) {
        const socket = connect(socketPath);
        socket.on('error', () => undefined);
        socket.write(pieces[turn % pieces.length] ?? '');
        setTimeout(() => socket.destroy(), 500).unref();
        await sleep(3);
      }
    };
    const pid = pluginServer();
    const seen = await observeFault(target, { inflict: sendGarbage, lastsMs: 500, lift: () => undefined, recoversWithinMs: 15_000 });
    expect(pluginServer()).toBe(pid);
    expectDocumented(seen, { statuses: [] });
    recordObservation('garbage on the plugin socket', seen, { note: '300 connections of it' });
  });
});

describe('the database', () => {
  it('that is killed is back within 30 s with every key', async () => {
    const file = readdirSync(instance.dataDir, { recursive: true })
      .map(String)
      .find((path) => path.endsWith('postmaster.pid'));
    const pid = Number(readFileSync(join(instance.dataDir, file ?? ''), 'utf8').split('\n')[0]);
    let fresh: IssuedKey | undefined;
    // Its commit waits for the disk, and so brings the counts of the tests before there, which are not to be lost here.
    await newKey();
    const untilKeysCanBeMade = async (): Promise<void> => {
      const diedAt = performance.now();
      await eventually(async () => {
        fresh = await newKey().catch(() => undefined);
        return fresh !== undefined || sleep(200, false);
      });
      expectMeasured(performance.now() - diedAt, 30_000);
    };
    const inflict = async (): Promise<void> => {
      process.kill(pid, 'SIGKILL');
      // Until then it may still answer.
      await eventually(() => !isAlive(pid));
    };
    const plan = { inflict, lastsMs: 0, lift: untilKeysCanBeMade, recoversWithinMs: 15_000 };
    const seen = await observeFault(target, plan);
    expect(fresh && (await statusOf(fresh.key))).toBe(200);
    expectDocumented(seen, { statuses: [500, 503], mostLost: seen.givenBefore(600) });
  });
});
