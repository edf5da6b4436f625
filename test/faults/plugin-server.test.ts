import { setTimeout as sleep } from 'node:timers/promises';
import { generateApiKey } from '../../plugins/core/api-key';
import { openInstallation, type Installation, type IssuedKey } from '../acceptance/installation';
import { send } from '../support/http';
import { type RunningInstance } from '../support/instance';

let tollgate: Installation;
let instance: RunningInstance;
let issued: IssuedKey;

beforeAll(async () => {
  tollgate = await openInstallation();
  if (!tollgate.instance) throw new Error('faults are tested on an instance of their own: unset GATEWAY_URL');
  instance = tollgate.instance;
  issued = await tollgate.createKey({ products: ['api-vahaan'], mode: 'test', daily: 100_000, monthly: 1_000_000 });
}, 120_000);

afterAll(() => tollgate.close());

const statusOf = (headers: Record<string, string> = {}): Promise<number> =>
  send(`${tollgate.gatewayUrl}/vahaan`, { headers }).then(
    ({ status }) => status,
    () => 0,
  );

/** Probes without a key and with keys that were never issued, and counts the answers until told to stop. */
function probe(): { stop(): Promise<Map<number, number>> } {
  const counts = new Map<number, number>();
  let running = true;
  const loop = async (worker: number): Promise<void> => {
    for (let turn = 0; running; turn++) {
      const status = await statusOf((turn + worker) % 2 === 0 ? {} : { 'X-API-Key': generateApiKey('live') });
      counts.set(status, (counts.get(status) ?? 0) + 1);
    }
  };
  const loops = Promise.all(Array.from({ length: 8 }, (_, worker) => loop(worker)));
  return {
    async stop() {
      running = false;
      await loops;
      return counts;
    },
  };
}

async function recovered(): Promise<void> {
  const deadline = Date.now() + 15_000;
  while ((await statusOf({ 'X-API-Key': issued.key })) !== 200) {
    if (Date.now() > deadline) throw new Error('a valid key was not admitted again within 15 s');
    await sleep(50);
  }
}

/** 401 while the plugin server answers, 500 or 503 while it does not; never a success, never a service's own answer. */
function expectNothingAdmitted(counts: Map<number, number>): void {
  const seen = [...counts.keys()].filter((status) => ![401, 500, 503].includes(status));
  expect(seen).toEqual([]);
  expect([...counts.values()].reduce((sum, count) => sum + count, 0)).toBeGreaterThan(50);
}

describe('nothing unauthorised gets through while the plugin server', () => {
  it('is killed, and a valid key is admitted again within 15 s', async () => {
    const running = probe();
    await sleep(300);
    process.kill(instance.pidOf('plugin-server'), 'SIGKILL');
    await sleep(200);
    await recovered();
    expectNothingAdmitted(await running.stop());
  }, 60_000);

  it('dies again and again', async () => {
    const running = probe();
    for (let death = 0; death < 3; death++) {
      process.kill(instance.pidOf('plugin-server'), 'SIGKILL');
      await sleep(100);
      await recovered();
    }
    expectNothingAdmitted(await running.stop());
  }, 90_000);

  it('is stopped and goes on', async () => {
    const running = probe();
    await sleep(200);
    const pid = instance.pidOf('plugin-server');
    process.kill(pid, 'SIGSTOP');
    await sleep(2_000);
    process.kill(pid, 'SIGCONT');
    await recovered();
    expectNothingAdmitted(await running.stop());
  }, 60_000);
});

describe('a service', () => {
  it('refuses whoever goes around the gateway, with 401 gateway_proof_missing', async () => {
    const url = instance.services['vahaan'] ?? Object.values(instance.services).find((each) => each.includes('vahaan')) ?? '';
    for (const headers of [{}, { 'X-API-Key': issued.key }, { 'X-Tollgate-Context': 'v1.e30.AAAA' }]) {
      const reply = await send(`${url.replace(/\/$/, '')}/vahaan`, { headers });
      expect([reply.status, reply.json().code]).toEqual([401, 'gateway_proof_missing']);
    }
  });

  it('that is killed is back within 15 s', async () => {
    process.kill(instance.pidOf('services'), 'SIGKILL');
    await sleep(100);
    expect(await statusOf()).toBe(401);
    await recovered();
  }, 30_000);
});

describe('the database', () => {
  it('that is killed is back within 30 s with every key', async () => {
    const { pid } = await import('node:fs').then(({ readFileSync, readdirSync }) => {
      const file =
        readdirSync(instance.dataDir, { recursive: true })
          .map(String)
          .find((path) => path.endsWith('postmaster.pid')) ?? '';
      return { pid: Number(readFileSync(`${instance.dataDir}/${file}`, 'utf8').split('\n')[0]) };
    });
    const running = probe();
    process.kill(pid, 'SIGKILL');
    const deadline = Date.now() + 30_000;
    const created = async (): Promise<IssuedKey | undefined> =>
      tollgate.createKey({ products: ['api-vahaan'], mode: 'test' }).catch(() => undefined);
    let fresh = await created();
    while (!fresh && Date.now() < deadline) {
      await sleep(200);
      fresh = await created();
    }
    await recovered();
    expect(fresh && (await statusOf({ 'X-API-Key': fresh.key }))).toBe(200);
    expectNothingAdmitted(await running.stop());
  }, 90_000);
});
