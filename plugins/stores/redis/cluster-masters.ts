import calculateSlot from 'cluster-key-slot';
import { Cluster, type Redis } from 'ioredis';
import { type RedisLogin, type RedisNode } from '../../core/redis-address';
import { CLIENT_OPTIONS, type MasterEvents, reasonOf, type RedisMasters, retryStrategy } from './redis-masters';

export interface ClusterMastersOptions extends MasterEvents {
  /** Some of the nodes; the others are learnt from them. */
  readonly nodes: readonly RedisNode[];
  readonly login: RedisLogin;
}

/** How soon a promoted replica is found when nothing is sent that would be told of it. */
const REFRESH_MS = 1_000;
const REFRESH_TIMEOUT_MS = 1_000;
/** A command follows its slot this often before it fails. */
const MOST_REDIRECTIONS = 4;

/**
 * The connections to all nodes of a cluster, named `host:port`. A command goes to the master of its slot, and is sent again only when a
 * node said that it did not run it because the slot is elsewhere; nothing is queued while a node is away.
 */
export class ClusterMasters implements RedisMasters {
  readonly commands: Cluster;
  private owners = '';

  constructor(private readonly options: ClusterMastersOptions) {
    this.commands = new Cluster([...options.nodes], {
      enableOfflineQueue: false,
      // Says "not ready" while any slot has no master; the others' subscriptions can be counted all the same.
      enableReadyCheck: false,
      maxRedirections: MOST_REDIRECTIONS,
      // Both would send a command again that may have run.
      retryDelayOnFailover: 0,
      retryDelayOnClusterDown: 0,
      slotsRefreshInterval: REFRESH_MS,
      slotsRefreshTimeout: REFRESH_TIMEOUT_MS,
      clusterRetryStrategy: retryStrategy,
      clusterNodeRetryStrategy: retryStrategy,
      redisOptions: { ...options.login, ...CLIENT_OPTIONS },
    });
    // Nodes tell of their troubles themselves.
    this.commands.on('error', () => undefined);
    this.commands.on('+node', (node: Redis) => this.adopt(node));
    this.commands.on('refresh', () => this.compareOwners());
  }

  ownerOf(tag: string): string | undefined {
    return this.commands.slots[calculateSlot(tag)]?.[0];
  }

  names(): Set<string> {
    return new Set(this.commands.slots.flatMap(([master]) => (master === undefined ? [] : [master])));
  }

  clientOf(name: string): Redis | undefined {
    return this.commands.nodes().find((each) => keyOf(each) === name);
  }

  close(): void {
    this.commands.disconnect();
  }

  /** Connected at once: a node that is first met by a spend would keep it waiting, and one that breaks unnoticed costs exactness. */
  private adopt(node: Redis): void {
    const key = keyOf(node);
    node.on('error', (error: Error) => this.options.onTrouble(key, reasonOf(error)));
    node.on('close', () => this.options.onTrouble(key, 'connection closed'));
    node.on('ready', () => this.options.onReady(key));
    if (node.status === 'wait') node.connect().catch(() => undefined);
  }

  private compareOwners(): void {
    let owners = '';
    let last: string | undefined;
    this.commands.slots.forEach(([master], slot) => {
      if (master !== last) owners += `${slot} ${master ?? ''}\n`;
      last = master;
    });
    if (owners === this.owners) return;
    this.owners = owners;
    this.options.onMoved();
  }
}

function keyOf({ options }: Redis): string {
  return `${options.host ?? ''}:${options.port ?? ''}`;
}
