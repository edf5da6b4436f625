import { eventually } from '../eventually';
import { NODE_TIMEOUT_MS, startTestRedis, type TestRedis } from './redis';

/** A Redis Cluster of masters, each with its own part of the slots, and no replicas. */
export interface TestRedisCluster {
  /** All nodes, separated by commas. */
  readonly url: string;
  readonly nodes: readonly TestRedis[];
  /** The master of a hash tag's slot, as the cluster itself says. */
  ownerOf(tag: string): Promise<TestRedis>;
  /** Waits until its fellows have found out that this node, which was killed, is away. */
  untilMissed(dead: TestRedis): Promise<void>;
  /** Starts it again and waits until they know that it is back. */
  takeBack(dead: TestRedis): Promise<void>;
  close(): Promise<void>;
}

const SLOTS = 16_384;
/** How soon the fellows of a node that was killed are to find out, which they leave for later otherwise. */
const MISS_AFTER_MS = '1000';

function hostPort({ url }: TestRedis): [string, string] {
  const { hostname, port } = new URL(url);
  return [hostname, port];
}

async function form(nodes: readonly TestRedis[]): Promise<void> {
  const [first, ...others] = nodes;
  if (!first) throw new Error('a cluster needs a node');
  const share = Math.ceil(SLOTS / nodes.length);
  for (const [index, node] of nodes.entries()) {
    const last = Math.min(SLOTS, (index + 1) * share) - 1;
    await node.command('CLUSTER', 'ADDSLOTSRANGE', String(index * share), String(last));
  }
  const [host, port] = hostPort(first);
  const busPort = String(Number(await first.command('CONFIG', 'GET', 'cluster-port').then((reply) => (reply as string[])[1])));
  for (const node of others) await node.command('CLUSTER', 'MEET', host, port, busPort);
  const isFormed = async (node: TestRedis): Promise<boolean> => {
    const info = String(await node.command('CLUSTER', 'INFO'));
    return ['cluster_state:ok', 'cluster_slots_ok:16384', `cluster_known_nodes:${nodes.length}`].every((line) => info.includes(line));
  };
  await eventually(async () => (await Promise.all(nodes.map(isFormed))).every(Boolean));
}

export async function startTestRedisCluster(masters = 3): Promise<TestRedisCluster> {
  const nodes: TestRedis[] = [];
  const close = async (): Promise<void> => {
    await Promise.all(nodes.map((node) => node.close()));
  };
  try {
    for (let index = 0; index < masters; index++) nodes.push(await startTestRedis({ persistent: true, isNode: true }));
    await form(nodes);
  } catch (error) {
    await close();
    throw error;
  }
  const setPatience = async (of: readonly TestRedis[], ms: string): Promise<void> => {
    for (const node of of) await node.command('CONFIG', 'SET', 'cluster-node-timeout', ms);
  };
  const untilAll = async (of: readonly TestRedis[], info: RegExp): Promise<void> => {
    const shows = async (node: TestRedis): Promise<boolean> => info.test(String(await node.command('CLUSTER', 'INFO')));
    await eventually(async () => (await Promise.all(of.map(shows))).every(Boolean));
  };
  const untilMissed = async (dead: TestRedis): Promise<void> => {
    const fellows = nodes.filter((node) => node !== dead);
    await setPatience(fellows, MISS_AFTER_MS);
    await untilAll(fellows, /^cluster_slots_fail:[1-9]/m);
  };
  const takeBack = async (dead: TestRedis): Promise<void> => {
    await dead.start();
    await untilAll(nodes, /^cluster_slots_fail:0\b/m);
    await setPatience(nodes, NODE_TIMEOUT_MS);
  };
  return {
    url: nodes.map(({ url }) => url).join(','),
    nodes,
    untilMissed,
    takeBack,
    async ownerOf(tag) {
      const share = Math.ceil(SLOTS / masters);
      // A node that was killed cannot be asked.
      for (const node of nodes) {
        const slot = await node.command('CLUSTER', 'KEYSLOT', tag).catch(() => undefined);
        const owner = typeof slot === 'number' ? nodes[Math.floor(slot / share)] : undefined;
        if (owner) return owner;
      }
      throw new Error('no node of the cluster answers');
    },
    close,
  };
}
