import { randomUUID } from 'node:crypto';
import { systemClock } from '../../../plugins/core/ports';
import { createLog } from '../../../services/kit/log';
import {
  createMemorySessionRegistry,
  createRedisSessionRegistry,
  type SessionRegistry,
} from '../../../services/kit/worker/session-registry';
import { eventually } from '../../support/eventually';
import { startTestRedis } from '../../support/redis/redis';
import { startTestRedisCluster } from '../../support/redis/redis-cluster';
import { useOpened } from '../../support/opened';

const tools = { clock: systemClock, log: createLog('registry', { level: 'silent' }) };
const MINUTE_MS = 60_000;

const registries: SessionRegistry[] = [];
afterAll(() => registries.forEach((registry) => registry.close()));
const redis = useOpened(startTestRedis);
const cluster = useOpened(startTestRedisCluster);

/** Two replicas that share what they remember; a memory is shared with itself. */
async function pair(url: string | undefined): Promise<[SessionRegistry, SessionRegistry]> {
  const create = (): SessionRegistry =>
    url === undefined ? createMemorySessionRegistry(systemClock) : createRedisSessionRegistry(url, tools);
  const one = create();
  const two = url === undefined ? one : create();
  registries.push(one, two);
  for (const each of [one, two]) await eventually(() => each.find('nobody').then(() => true, () => false)); // prettier-ignore
  return [one, two];
}

describe.each([
  ['memory', () => undefined],
  ['Redis', () => redis.url],
  ['a Redis Cluster', () => cluster.url],
])('a session registry in %s', (_name, url) => {
  it('finds the owners of many sessions from every replica', async () => {
    const [one, two] = await pair(url());
    const ids = Array.from({ length: 30 }, () => randomUUID());
    await Promise.all(ids.map((id, index) => one.remember(id, `worker-${index}:7000`, MINUTE_MS)));
    expect(await Promise.all(ids.map((id) => two.find(id)))).toEqual(ids.map((_, index) => `worker-${index}:7000`));
    expect(await two.find(randomUUID())).toBeUndefined();
  });

  it('forgets a session when its time is over', async () => {
    const [one, two] = await pair(url());
    const id = randomUUID();
    await one.remember(id, 'worker:7000', 60);
    await eventually(() => two.find(id).then((owner) => owner === undefined, () => false)); // prettier-ignore
  });
});

it('of a cluster whose master is away the sessions of the others are found, its own are an error', async () => {
  const own = await startTestRedisCluster();
  try {
    const [one, two] = await pair(own.url);
    const ids = Array.from({ length: 30 }, () => randomUUID());
    await Promise.all(ids.map((id) => one.remember(id, 'worker:7000', MINUTE_MS)));
    for (const id of ids) expect(await two.find(id)).toBe('worker:7000');
    await own.nodes[0]?.kill();
    const found = await Promise.allSettled(ids.map((id) => two.find(id)));
    const owners = found.map((each) => (each.status === 'fulfilled' ? each.value : 'failed'));
    expect(new Set(owners)).toEqual(new Set(['worker:7000', 'failed']));
    // What this replica opened it knows itself.
    expect(await Promise.all(ids.map((id) => one.find(id)))).toEqual(ids.map(() => 'worker:7000'));
  } finally {
    for (const registry of registries.splice(-2)) registry.close();
    await own.close();
  }
});
