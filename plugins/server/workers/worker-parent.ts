import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { AggregatorRegistry, Gauge, type Registry } from 'prom-client';
import { type ServerLog } from '../log';
import { nameBeside, placeSocket } from '../socket-place';
import { openChannel, type Ask } from './asking';
import { InstanceList, type DirectoryQuestion } from './instance-directory';

export interface WorkerParentOptions {
  readonly count: number;
  readonly socketPath: string;
  /** Each worker is a node of its own, with this name and its number. */
  readonly nodeName: string;
  readonly log: ServerLog;
  /** Figures of this process itself, which are added to those of the workers. */
  readonly own?: Registry;
}

export interface WorkerParent {
  /** Metrics of all workers together, in Prometheus' text format. */
  metrics(): Promise<string>;
  /** Replaces the workers one after another: the new worker serves before the old one ends. */
  restart(): Promise<void>;
  /** Ends all workers, each after its requests. */
  stop(): Promise<void>;
}

/** Variable that names the path at which a worker binds. The parent moves the bound socket to the path that Kong knows. */
export const BIND_VARIABLE = 'PLUGIN_SERVER_BIND';

/** A worker that ends this soon would end again at once. */
const SHORT_LIFE_MS = 5_000;
const PAUSE_MS = 1_000;
/** Milliseconds after which a busy worker is left out of a scrape. */
const METRICS_MS = 2_000;

interface Slot {
  readonly number: number;
  worker: Worker | undefined;
  ask: Ask | undefined;
  /** Resolves when no worker of this slot is being started or replaced. */
  turn: Promise<unknown>;
}

/**
 * Starts `count` workers that accept on one socket, and replaces each that ends.
 * @throws Error when a worker ends before it serves
 */
export async function startWorkers(options: WorkerParentOptions): Promise<WorkerParent> {
  // The workers take connections themselves. A connection through this process would cost one more wake-up for every refusal.
  cluster.schedulingPolicy = cluster.SCHED_NONE;
  const parent = new Parent(options);
  await parent.startAll();
  return parent;
}

class Parent implements WorkerParent {
  private readonly slots: readonly Slot[];
  private readonly instances = new InstanceList();
  private readonly beside: string;
  private restarting: Promise<void> | undefined;
  private isStopping = false;

  constructor(private readonly options: WorkerParentOptions) {
    this.beside = nameBeside(options.socketPath);
    this.slots = Array.from({ length: options.count }, (_, index) => ({
      number: index + 1,
      worker: undefined,
      ask: undefined,
      turn: Promise.resolve(),
    }));
  }

  async startAll(): Promise<void> {
    try {
      await Promise.all(this.slots.map((slot) => inTurn(slot, () => this.fill(slot))));
    } catch (error) {
      await this.stop();
      throw error;
    }
  }

  async metrics(): Promise<string> {
    const asks = this.slots.flatMap(({ ask }) => ask ?? []);
    const late = (): Promise<unknown> => sleep(METRICS_MS, undefined, { ref: false });
    const answers = await Promise.all(asks.map((ask) => Promise.race([ask({ what: 'metrics' }), late()])));
    const own = await this.options.own?.getMetricsAsJSON();
    const registry = AggregatorRegistry.aggregate([own, ...answers].filter((answer) => Array.isArray(answer)));
    const help = 'Workers serving now.';
    new Gauge({ name: 'tollgate_plugin_workers', help, registers: [registry] }).set(this.slots.filter(({ worker }) => worker).length);
    return registry.metrics();
  }

  restart(): Promise<void> {
    this.restarting ??= this.replaceEach().finally(() => (this.restarting = undefined));
    return this.restarting;
  }

  async stop(): Promise<void> {
    this.isStopping = true;
    // Includes workers that do not serve yet.
    await Promise.all(Object.values(cluster.workers ?? {}).flatMap((worker) => (worker ? [end(worker)] : [])));
  }

  private async replaceEach(): Promise<void> {
    for (const slot of this.slots) {
      if (this.isStopping) return;
      try {
        await inTurn(slot, () => this.replace(slot));
      } catch (err) {
        this.options.log.error({ err, worker: slot.number }, 'a new worker could not start: the old ones keep running');
        return;
      }
    }
  }

  private async replace(slot: Slot): Promise<void> {
    const { worker } = slot;
    await this.fill(slot);
    if (worker) await end(worker);
  }

  /** A new worker for this slot, once it serves. */
  private async fill(slot: Slot): Promise<void> {
    const { nodeName } = this.options;
    const startedAt = performance.now();
    const worker = cluster.fork({ [BIND_VARIABLE]: this.beside, NODE_NAME: `${nodeName} #${slot.number}` });
    const ask = openChannel(worker, (question) => this.instances.answer(question as DirectoryQuestion));
    const ended = once(worker, 'exit').then(() => 'ended');
    if ((await Promise.race([acceptsAt(worker, this.beside), ended])) === 'ended') throw new Error('a worker ended before it served');
    placeSocket(this.beside, this.options.socketPath);
    slot.worker = worker;
    slot.ask = ask;
    void ended.then(() => this.onEnd(slot, worker, startedAt));
  }

  private async onEnd(slot: Slot, worker: Worker, startedAt: number): Promise<void> {
    if (slot.worker !== worker) return;
    slot.worker = undefined;
    slot.ask = undefined;
    if (this.isStopping) return;
    const { exitCode, signalCode } = worker.process;
    this.options.log.error({ worker: slot.number, exitCode, signalCode }, 'a worker ended: another is started');
    let pauseMs = performance.now() - startedAt < SHORT_LIFE_MS ? PAUSE_MS : 0;
    while (!this.isStopping) {
      await sleep(pauseMs);
      try {
        await inTurn(slot, async () => {
          if (!slot.worker) await this.fill(slot);
        });
        return;
      } catch (err) {
        if (this.isStopping) return;
        this.options.log.error({ err, worker: slot.number }, 'a worker could not start');
        pauseMs = PAUSE_MS;
      }
    }
  }
}

/** Resolves once the worker accepts at this path, the last one that it opens. */
function acceptsAt(worker: Worker, path: string): Promise<void> {
  return new Promise((resolve) => {
    worker.on('listening', ({ address }) => {
      if (address === path) resolve();
    });
  });
}

/** Changes to one slot run one after the other, because two new workers for one slot would leave one untracked. */
function inTurn(slot: Slot, work: () => Promise<void>): Promise<void> {
  const done = slot.turn.then(work);
  slot.turn = done.catch(() => undefined);
  return done;
}

async function end(worker: Worker): Promise<void> {
  if (worker.isDead()) return;
  const ended = once(worker, 'exit');
  worker.process.kill('SIGTERM');
  await ended;
}
