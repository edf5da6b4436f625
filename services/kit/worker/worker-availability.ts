import { type Client, type ClientReadableStream } from '@grpc/grpc-js';
import { HEALTH_SERVICE } from './load-proto';

const FIRST_RETRY_MS = 100;
const SLOWEST_RETRY_MS = 500;
/** After the last serving worker has left, another may be on its way back with its connection not yet made. */
const HANDOVER_MS = 3_000;
/** Milliseconds between the last call that may go to a worker and leaving it, so that the call arrives first. */
const PARTING_MS = 20;
/** Maximum milliseconds that a first call waits to learn which workers serve. */
const FIRST_WORD_MS = 1_000;

interface Watched {
  readonly client: Client;
  serving: boolean;
  /** True once the worker has reported its status, or could not be reached. */
  isKnown: boolean;
  retryMs: number;
  stream: ClientReadableStream<object> | undefined;
  timer: NodeJS.Timeout | undefined;
}

/**
 * Knows which of several workers serve, from what each reports (grpc.health.v1 `Watch`). A worker that is about to end reports it before it
 * refuses anything, so that calls which cannot be repeated, such as uploads, go to another in time. Ending the `Watch` tells the worker
 * that no more calls will come from here: it follows the last call on the same connection.
 */
export class WorkerAvailability {
  private readonly watched: ReadonlyMap<string, Watched>;
  private known: Promise<void> | undefined;
  private noteKnown: () => void = () => undefined;
  private readonly waiting = new Set<() => void>();
  private lastServedAt = -Infinity;
  private closed = false;

  constructor(clients: ReadonlyMap<string, Client>) {
    const fresh = (client: Client): Watched => ({
      client,
      serving: false,
      isKnown: false,
      retryMs: FIRST_RETRY_MS,
      stream: undefined,
      timer: undefined,
    });
    this.watched = new Map([...clients].map(([address, client]) => [address, fresh(client)]));
  }

  isServing(address: string): boolean {
    return this.watched.get(address)?.serving === true;
  }

  /** Starts watching. Resolves once every worker has reported, after a second at the latest. */
  ready(): Promise<void> {
    this.known ??= new Promise((resolve) => {
      const late = setTimeout(resolve, FIRST_WORD_MS);
      this.noteKnown = () => {
        clearTimeout(late);
        resolve();
      };
      for (const watched of this.watched.values()) this.watch(watched);
    });
    return this.known;
  }

  /** Waits for a serving worker when the last one left only just now. It does not wait in an outage that lasts. */
  async someServing(): Promise<void> {
    const leftMs = this.lastServedAt + HANDOVER_MS - performance.now();
    if (leftMs <= 0 || this.closed || this.isAnyServing()) return;
    await new Promise<void>((resolve) => {
      const late = setTimeout(() => done(), leftMs);
      const done = (): void => {
        clearTimeout(late);
        this.waiting.delete(done);
        resolve();
      };
      this.waiting.add(done);
    });
  }

  close(): void {
    this.closed = true;
    for (const { stream, timer } of this.watched.values()) {
      clearTimeout(timer);
      stream?.cancel();
    }
    this.noteKnown();
    this.endWaits();
  }

  private isAnyServing(): boolean {
    return [...this.watched.values()].some(({ serving }) => serving);
  }

  private endWaits(): void {
    for (const done of this.waiting) done();
  }

  private watch(watched: Watched): void {
    const method = HEALTH_SERVICE.Watch;
    if (!method || this.closed) return;
    const deserialize = method.responseDeserialize as (bytes: Buffer) => object;
    const stream = watched.client.makeServerStreamRequest(method.path, method.requestSerialize, deserialize, { service: '' });
    watched.stream = stream;
    stream.on('data', (report: object) => {
      const isServing = Reflect.get(report, 'status') === 'SERVING';
      this.note(watched, isServing);
      if (isServing) watched.retryMs = FIRST_RETRY_MS;
      else setTimeout(() => stream.cancel(), PARTING_MS).unref();
    });
    let isOver = false;
    const over = (): void => {
      if (isOver) return;
      isOver = true;
      this.lost(watched);
    };
    stream.on('error', over);
    stream.on('end', over);
  }

  private note(watched: Watched, serving: boolean): void {
    if (serving || watched.serving) this.lastServedAt = performance.now();
    watched.serving = serving;
    if (serving) this.endWaits();
    watched.isKnown = true;
    if ([...this.watched.values()].every(({ isKnown }) => isKnown)) this.noteKnown();
  }

  private lost(watched: Watched): void {
    this.note(watched, false);
    if (this.closed) return;
    watched.timer = setTimeout(() => this.watch(watched), watched.retryMs);
    watched.timer.unref();
    watched.retryMs = Math.min(SLOWEST_RETRY_MS, watched.retryMs * 2);
  }
}
