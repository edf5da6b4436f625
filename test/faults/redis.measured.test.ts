import { openFaultProxy, type FaultProxy } from '../support/faults/fault-proxy';
import { type ProbeTarget } from '../support/faults/fault-probe';
import { recordObservation } from '../support/faults/fault-report';
import { openFaultStage, type FaultStage } from '../support/faults/fault-stage';
import { type GatewayNode } from '../support/system/node';
import { expectDocumented, observeFault, UNDER_WAY } from '../support/faults/observe-fault';
import { send } from '../support/http';
import { inTestAll } from '../support/scenes';
import { startTestRedis } from '../support/redis/redis';

let stage: FaultStage;
let proxy: FaultProxy;
/** A node that reaches Redis through the proxy. */
let proxied: { node: GatewayNode; target: ProbeTarget };

const countsInRedis = (node: GatewayNode) => async (): Promise<boolean> =>
  (await node.metric('tollgate_quota_store_in_use{store="redis"}')) === 1;

beforeAll(async () => {
  stage = await openFaultStage();
  proxy = await openFaultProxy(stage.redis.url);
  proxied = await stage.addNode({ redisUrl: proxy.url });
});

afterAll(async () => {
  stage.redis.thaw();
  await stage?.close();
  await proxy?.close();
});

describe('nothing unauthorised gets through, nobody is refused and every unit is counted while Redis', () => {
  it('is killed', async () => {
    const { redis, node, target } = stage;
    const seen = await observeFault(target, {
      inflict: redis.kill,
      lastsMs: 1_000,
      lift: redis.start,
      recoversWithinMs: 5_000,
      isWhole: countsInRedis(node),
    });
    expectDocumented(seen, { statuses: [], mostTwice: UNDER_WAY });
    await recordObservation('Redis killed', seen);
  });

  it('hangs', async () => {
    const { redis, node, target } = stage;
    const seen = await observeFault(target, {
      inflict: redis.freeze,
      lastsMs: 1_500,
      lift: redis.thaw,
      recoversWithinMs: 5_000,
      isWhole: countsInRedis(node),
    });
    expectDocumented(seen, { statuses: [] });
    await recordObservation('Redis hung (SIGSTOP)', seen);
  });

  it('is emptied', async () => {
    const { redis, node, target } = stage;
    const others = await Promise.all(Array.from({ length: 10 }, () => stage.newKey()));
    /** Each customer who calls finds no count of its own. */
    const inflict = async (): Promise<void> => {
      await redis.flush();
      await Promise.all(others.map(({ key }) => send(target.url, { headers: { 'X-API-Key': key } })));
    };
    const plan = { inflict, lastsMs: 500, lift: () => undefined, recoversWithinMs: 5_000, isWhole: countsInRedis(node) };
    const seen = await observeFault(target, plan);
    expectDocumented(seen, { statuses: [] });
    await recordObservation('Redis emptied', seen);
  });

  inTestAll('takes no writes', async () => {
    const { redis, node, target } = stage;
    const seen = await observeFault(target, {
      inflict: () => redis.command('REPLICAOF', '127.0.0.1', '1'),
      lastsMs: 1_000,
      lift: () => redis.command('REPLICAOF', 'NO', 'ONE'),
      recoversWithinMs: 5_000,
      isWhole: countsInRedis(node),
    });
    expectDocumented(seen, { statuses: [] });
    await recordObservation('Redis read-only', seen);
  });

  inTestAll('is slow', async () => {
    const seen = await observeFault(proxied.target, {
      inflict: () => proxy.setMode({ delayMs: 60 }),
      lastsMs: 2_000,
      lift: () => proxy.setMode('pass'),
      recoversWithinMs: 5_000,
      isWhole: countsInRedis(proxied.node),
    });
    expectDocumented(seen, { statuses: [] });
    await recordObservation('Redis slow (60 ms each way)', seen);
  });

  inTestAll('loses every connection, old and new', async () => {
    const seen = await observeFault(proxied.target, {
      inflict: () => proxy.setMode('reset'),
      lastsMs: 1_000,
      lift: () => proxy.setMode('pass'),
      recoversWithinMs: 5_000,
      isWhole: countsInRedis(proxied.node),
    });
    expectDocumented(seen, { statuses: [], mostTwice: UNDER_WAY });
    await recordObservation('connections to Redis reset', seen);
  });

  it('fails over to its replica', async () => {
    const replica = await startTestRedis();
    try {
      await replica.command('REPLICAOF', '127.0.0.1', new URL(stage.redis.url).port);
      const seen = await observeFault(proxied.target, {
        inflict: stage.redis.kill,
        lastsMs: 500,
        lift: async () => {
          await replica.command('REPLICAOF', 'NO', 'ONE');
          proxy.switchTo(replica.url);
        },
        recoversWithinMs: 5_000,
        isWhole: countsInRedis(proxied.node),
      });
      expectDocumented(seen, { statuses: [], mostTwice: UNDER_WAY });
      await recordObservation('Redis fails over to a replica', seen);
    } finally {
      await stage.redis.start();
      proxy.switchTo(stage.redis.url);
      await replica.close();
    }
  });
});
