import { Cluster, type Redis } from 'ioredis';
import { type RedisLogin, type RedisNode } from '../../core/redis-address';
import { reasonOf } from './script-caller';

export interface ClusterConnectionOptions {
  /** Some of the nodes; the others are learnt from them. */
  readonly nodes: readonly RedisNode[];
  readonly login: RedisLogin;
  /** The connection to this node cannot be used. */
  readonly onTrouble: (node: string, reason: string) => void;
  /** This node takes commands, again or for the first time. */
  readonly onReady: (node: string) => void;
  /** Slots have gone to other nodes than before. */
  readonly onMoved: () => void;
}

const CONNECT_TIMEOUT_MS = 1_000;
const DISCONNECT_TIMEOUT_MS = 100;
const SLOWEST_RECONNECT_MS = 250;
/** How soon a promoted replica is found when nothing is sent that would be told of it. */
const REFRESH_MS = 1_000;
/** A command follows its slot this often before it fails. */
const MOST_REDIRECTIONS = 4;
const retryStrategy = (times: number): number => Math.min(50 * times, SLOWEST_RECONNECT_MS);

/**
 * The connections to all nodes of a cluster. A command goes to the master of its slot, and is sent again only when a node said that it
 * did not run it because the slot is elsewhere; nothing is queued while a node is away.
 */
export class ClusterConnection {
  readonly cluster: Cluster;
  private owners = '';

  constructor(private readonly options: ClusterConnectionOptions) {
    this.cluster = new Cluster([...options.nodes], {
      enableOfflineQueue: false,
      // Says "not ready" while any slot has no master; the others' subscriptions can be counted all the same.
      enableReadyCheck: false,
      maxRedirections: MOST_REDIRECTIONS,
      // Both would send a command again that may have run.
      retryDelayOnFailover: 0,
      retryDelayOnClusterDown: 0,
      slotsRefreshInterval: REFRESH_MS,
      slotsRefreshTimeout: CONNECT_TIMEOUT_MS,
      clusterRetryStrategy: retryStrategy,
      clusterNodeRetryStrategy: retryStrategy,
      redisOptions: {
        ...options.login,
        maxRetriesPerRequest: 0,
        autoResendUnfulfilledCommands: false,
        connectTimeout: CONNECT_TIMEOUT_MS,
        disconnectTimeout: DISCONNECT_TIMEOUT_MS,
        connectionName: 'tollgate-quota',
      },
    });
    // Nodes tell of their troubles themselves.
    this.cluster.on('error', () => undefined);
    this.cluster.on('+node', (node: Redis) => this.adopt(node));
    this.cluster.on('refresh', () => this.compareOwners());
  }

  /** `host:port` of the master of a slot; undefined before the cluster was reached. */
  ownerOf(slot: number): string | undefined {
    return this.cluster.slots[slot]?.[0];
  }

  /** The masters that hold slots. */
  masters(): Set<string> {
    return new Set(this.cluster.slots.flatMap(([master]) => (master === undefined ? [] : [master])));
  }

  isReady(node: string): boolean {
    return this.find(node)?.status === 'ready';
  }

  /** For a node that does not answer: its host may be gone. */
  reconnect(node: string): void {
    this.find(node)?.disconnect(true);
  }

  close(): void {
    this.cluster.disconnect();
  }

  private find(node: string): Redis | undefined {
    return this.cluster.nodes().find((each) => keyOf(each) === node);
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
    this.cluster.slots.forEach(([master], slot) => {
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
