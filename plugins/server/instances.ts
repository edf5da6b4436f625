import { randomInt } from 'node:crypto';
import { type KongPdk, type PluginModule } from '../core/access/kong-pdk';
import { type ServerLog } from './log';
import { type InstanceDirectory } from './workers/instance-directory';

/** One configuration of the plugin, as Kong started it. `startedAt` in seconds since 1970. */
export interface Instance {
  readonly id: number;
  readonly name: string;
  readonly startedAt: number;
  access(kong: KongPdk): Promise<void>;
}

interface Entry extends Instance {
  lastUsed: number;
}

const maxInstanceId = 0x7fff_ffff;

/**
 * Kong starts one instance for each configuration in each of its workers, and forgets them when a worker ends. A gateway never has close to
 * 4096. Beyond that number, the instance unused for longest is dropped, and Kong starts it again when needed.
 */
const defaultMaxInstances = 4096;

export interface InstancesOptions {
  plugin: PluginModule;
  log: ServerLog;
  /** Milliseconds since 1970. */
  now?: () => number;
  maxInstances?: number;
  /** The instances of all workers, if there are several. */
  directory?: InstanceDirectory | undefined;
}

/**
 * The instances that Kong has started. Ids begin at a random number: Kong keeps ids across a restart of this server, and an old id must
 * then be unknown rather than name another route's configuration.
 */
export class Instances {
  private readonly entries = new Map<number, Entry>();
  private nextId = randomInt(1, 2 ** 30);
  private uses = 0;

  constructor(private readonly options: InstancesOptions) {}

  get size(): number {
    return this.entries.size;
  }

  /**
   * Starts an instance. A configuration that cannot be used still gets an id, but every event of it fails and so is refused. Without an id,
   * Kong 3.9 would keep the claim on the configuration and let each request wait ten seconds for it.
   */
  start(name: string, config: Buffer): Instance {
    return this.add(this.freeId(), name, config);
  }

  /** Starts an instance for all workers. Each of them knows it by its id from then on. */
  async startForAll(name: string, config: Buffer): Promise<Instance> {
    const id = await this.options.directory?.start({ name, config: config.toString('utf8') });
    return id === undefined ? this.start(name, config) : this.add(id, name, config);
  }

  private add(id: number, name: string, config: Buffer): Instance {
    const access = this.prepare(name, config);
    const now = this.options.now ?? Date.now;
    const entry: Entry = { id, name, startedAt: Math.floor(now() / 1000), access, lastUsed: ++this.uses };
    this.entries.set(entry.id, entry);
    if (this.entries.size > (this.options.maxInstances ?? defaultMaxInstances)) this.dropLeastUsed();
    return entry;
  }

  find(id: number): Instance | undefined {
    const entry = this.entries.get(id);
    if (entry) entry.lastUsed = ++this.uses;
    return entry;
  }

  /** Finds an instance that Kong started on another worker's connection. */
  async findElsewhere(id: number): Promise<Instance | undefined> {
    const started = await this.options.directory?.find(id);
    return started && (this.find(id) ?? this.add(id, started.name, Buffer.from(started.config)));
  }

  get areShared(): boolean {
    return this.options.directory !== undefined;
  }

  close(id: number): boolean {
    this.options.directory?.forget(id);
    return this.entries.delete(id);
  }

  private prepare(name: string, config: Buffer): Instance['access'] {
    const { plugin, log } = this.options;
    try {
      if (name !== plugin.Name) throw new Error(`this server runs the plugin ${plugin.Name}, not ${name}`);
      const parsed: unknown = JSON.parse(config.toString('utf8'));
      if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) throw new Error('the configuration is not an object');
      const instance = new plugin.Plugin(parsed as Record<string, unknown>);
      return (kong) => instance.access(kong);
    } catch (error) {
      log.error({ err: error, plugin: name }, 'plugin instance cannot be used: every request to it will be refused');
      return () => Promise.reject(new Error('this plugin instance could not be started', { cause: error }));
    }
  }

  private freeId(): number {
    while (this.entries.has(this.nextId)) this.nextId = this.following(this.nextId);
    const id = this.nextId;
    this.nextId = this.following(id);
    return id;
  }

  private following(id: number): number {
    return id === maxInstanceId ? 1 : id + 1;
  }

  private dropLeastUsed(): void {
    let oldest: Entry | undefined;
    for (const entry of this.entries.values()) if (oldest === undefined || entry.lastUsed < oldest.lastUsed) oldest = entry;
    if (oldest === undefined) return;
    this.entries.delete(oldest.id);
    this.options.log.warn({ instance: oldest.id }, 'too many plugin instances: the one unused for the longest time was dropped');
  }
}
