import { setTimeout as sleep } from 'node:timers/promises';
import { Socket } from 'node:net';
import { Client } from 'pg';
import { type Clock, systemClock } from '../../../core/ports';
import { type Change, type ChangeFeed } from '../../cache/change-feed';
import { type ClockSample } from '../../store-clock';
import { withDeadline } from '../../with-deadline';

export interface PostgresChangeFeedOptions {
  readonly url: string;
  readonly clock?: Clock;
  /** Milliseconds between two checks that the connection still lives. Default 250 ms. */
  readonly heartbeatMs?: number;
  /** Milliseconds after which a missing reply makes the feed unhealthy. Default 250 ms. */
  readonly deadlineMs?: number;
  /** Takes the database's clock with every reply. */
  readonly onTime?: (sample: ClockSample) => void;
  /** Milliseconds without a reply after which the connection is replaced. Default 2 s. */
  readonly abandonMs?: number;
}

/**
 * Milliseconds between two checks while somebody waits to be caught up. A flood of such callers costs the database 500 trivial queries a
 * second.
 */
const PROOF_EVERY_MS = 2;
const FIRST_BACKOFF_MS = 50;
const MAX_BACKOFF_MS = 1_000;

/** The callers that wait for the same check. */
interface Proof {
  readonly isCaughtUp: Promise<boolean>;
  readonly settle: (isCaughtUp: boolean) => void;
}

function createProof(deadlineMs: number): Proof {
  let settle: Proof['settle'] = () => undefined;
  const isCaughtUp = new Promise<boolean>((done) => (settle = done));
  const timer = setTimeout(settle, deadlineMs, false);
  void isCaughtUp.then(() => clearTimeout(timer));
  return { isCaughtUp, settle };
}

/**
 * Listens to the NOTIFYs of the schema's triggers on its own connection. PostgreSQL delivers committed changes before it replies to a later
 * query, so the reply to a heartbeat proves that nothing from before it is missing. It starts at once and never gives up.
 */
export class PostgresChangeFeed implements ChangeFeed {
  private readonly clock: Clock;
  private readonly heartbeatMs: number;
  private readonly deadlineMs: number;
  private readonly listeners = new Set<(change: Change) => void>();
  private readonly closing = new AbortController();
  private readonly ended: Promise<void>;
  private listener: ChangeListener | undefined;
  private healthyAt = -Infinity;
  /** Callers that wait for the next check, because the running one began before they came. */
  private waiting: Proof | undefined;
  private backoffMs = FIRST_BACKOFF_MS;

  constructor(private readonly options: PostgresChangeFeedOptions) {
    this.clock = options.clock ?? systemClock;
    this.heartbeatMs = options.heartbeatMs ?? 250;
    this.deadlineMs = options.deadlineMs ?? 250;
    this.ended = this.listenForEver();
  }

  /** Compares the clock, because a timer would be late exactly when this process is. */
  isHealthy(): boolean {
    return this.listener?.isHeard === true && this.clock.monotonic() - this.healthyAt <= this.heartbeatMs + this.deadlineMs;
  }

  lastHealthyAt(): number {
    return this.healthyAt;
  }

  caughtUp(): Promise<boolean> {
    if (!this.isHealthy()) return Promise.resolve(false);
    if (!this.waiting) {
      this.waiting = createProof(this.deadlineMs);
      this.listener?.wake();
    }
    return this.waiting.isCaughtUp;
  }

  subscribe(listener: (change: Change) => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  /** Ends the connection for good. */
  async close(): Promise<void> {
    this.closing.abort();
    this.listener?.close();
    await this.ended;
  }

  private async listenForEver(): Promise<void> {
    const { signal } = this.closing;
    while (!signal.aborted) {
      await this.listenOnce().catch(() => undefined);
      // Spread out, so that many nodes do not come back at the same time.
      const pauseMs = this.backoffMs * (0.5 + Math.random() / 2);
      this.backoffMs = Math.min(this.backoffMs * 2, MAX_BACKOFF_MS);
      await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
    }
  }

  /**
   * Listens until the connection is lost.
   * @throws Error then
   */
  private async listenOnce(): Promise<never> {
    const { url, abandonMs = 2_000, onTime } = this.options;
    const listener = new ChangeListener({ url, clock: this.clock, abandonMs, onChange: (change) => this.tell(change) });
    this.listener = listener;
    let asked: Proof | undefined;
    try {
      await listener.listen();
      this.backoffMs = FIRST_BACKOFF_MS;
      // From here on every change is reported. Earlier changes may have been missed.
      this.tell({ kind: 'gap' });
      for (;;) {
        asked = this.takeWaiting();
        const sample = await listener.askTime();
        onTime?.(sample);
        this.healthyAt = sample.askedAt;
        asked?.settle(true);
        await this.rest(listener, sample.askedAt);
      }
    } finally {
      asked?.settle(false);
      this.takeWaiting()?.settle(false);
      listener.close();
    }
  }

  private takeWaiting(): Proof | undefined {
    const { waiting } = this;
    this.waiting = undefined;
    return waiting;
  }

  /** Waits until the next check is due, which is sooner when somebody waits for it. */
  private async rest(listener: ChangeListener, askedAt: number): Promise<void> {
    const left = (ms: number): number => ms - (this.clock.monotonic() - askedAt);
    if (!this.waiting) await listener.rest(left(this.heartbeatMs));
    if (this.waiting) await listener.rest(left(PROOF_EVERY_MS));
  }

  private tell(change: Change): void {
    for (const listener of this.listeners) listener(change);
  }
}

interface ChangeListenerOptions {
  readonly url: string;
  readonly clock: Clock;
  /** Milliseconds without a reply after which the connection is given up. */
  readonly abandonMs: number;
  readonly onChange: (change: Change) => void;
}

const CHANNEL = 'tollgate_changes';
const HEARTBEAT = 'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now';
/** The form of `told_hash` of migration 0004. */
const HASH_START = /^[0-9a-f]{16}$/;
const CONNECT_DEADLINE_MS = 1_000;

/** One connection to PostgreSQL that listens to changes, from its opening to its loss. */
class ChangeListener {
  private readonly socket = new Socket();
  private readonly client: Client;
  private readonly ended = new AbortController();
  private readonly loss: Promise<never>;
  private hasAnswered = false;
  private endRest: () => void = () => undefined;

  constructor(private readonly options: ChangeListenerOptions) {
    const { url, onChange } = options;
    this.client = new Client({
      connectionString: url,
      stream: () => this.socket,
      application_name: 'tollgate change feed',
      keepAlive: true,
    });
    this.loss = new Promise((_, fail) => this.ended.signal.addEventListener('abort', () => fail(new Error('the connection ended'))));
    // No caller waits for the loss while the feed pauses between two heartbeats.
    this.loss.catch(() => undefined);
    this.ended.signal.addEventListener('abort', () => this.endRest());
    this.client.on('error', () => this.ended.abort());
    this.client.on('end', () => this.ended.abort());
    this.client.on('notification', ({ payload }) => onChange(parseChange(payload)));
  }

  /** True from the first reply to a heartbeat to the loss of the connection. */
  get isHeard(): boolean {
    return this.hasAnswered && !this.ended.signal.aborted;
  }

  /**
   * Resolves when every later change will be reported.
   * @throws Error
   */
  listen(): Promise<void> {
    return this.within(
      CONNECT_DEADLINE_MS,
      this.client.connect().then(() => listenWith(this.client)),
    );
  }

  /**
   * Resolves when every change from before the call has been reported.
   * @throws Error, also when the connection is lost meanwhile
   */
  async askTime(): Promise<ClockSample> {
    const { clock, abandonMs } = this.options;
    const askedAt = clock.monotonic();
    const answer = await this.within(abandonMs, this.client.query<{ now: number }>(HEARTBEAT));
    this.hasAnswered = true;
    return { storeMs: answer.rows[0]?.now ?? NaN, askedAt, answeredAt: clock.monotonic() };
  }

  /** Waits until the time is over, the connection is lost or somebody wakes it. */
  async rest(ms: number): Promise<void> {
    if (ms <= 0 || this.ended.signal.aborted) return;
    await new Promise<void>((done) => {
      const timer = setTimeout(done, ms);
      this.endRest = () => {
        clearTimeout(timer);
        done();
      };
    });
  }

  wake(): void {
    this.endRest();
  }

  close(): void {
    this.ended.abort();
    this.socket.destroy();
  }

  private within<T>(deadlineMs: number, work: Promise<T>): Promise<T> {
    return withDeadline(Promise.race([work, this.loss]), deadlineMs, () => new Error('PostgreSQL did not respond in time'));
  }
}

/**
 * Refuses a pooler. A pooler sends heartbeats to any free server connection, while notifications for the listening connection may get lost.
 * It is recognised by replies from another process than the connection announced.
 */
async function listenWith(client: Client): Promise<void> {
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  if (rows[0]?.pid !== Reflect.get(client, 'processID')) throw new Error('a pooler is between this node and PostgreSQL');
  await client.query(`LISTEN ${CHANNEL}`);
}

/** Reads a payload of the triggers in the migrations. An unreadable payload could have been about anything. */
function parseChange(payload: string | undefined): Change {
  const notified = parseObject(payload);
  if (typeof notified['credential'] === 'string') {
    const { at, hash } = notified;
    return {
      kind: 'credential',
      id: notified['credential'],
      ...(typeof at === 'string' ? { at } : {}),
      ...(hash === null || (typeof hash === 'string' && HASH_START.test(hash)) ? { hash } : {}),
    };
  }
  if (typeof notified['customer'] === 'string') return { kind: 'customer', id: notified['customer'] };
  // Plans and products change once a release, and their limits may be in any record.
  if (typeof notified['product'] === 'string') return { kind: 'everything', isCatalogue: true };
  return { kind: 'everything' };
}

function parseObject(text: string | undefined): Record<string, unknown> {
  try {
    const parsed: unknown = JSON.parse(text ?? '');
    return typeof parsed === 'object' && parsed !== null ? { ...parsed } : {};
  } catch {
    return {};
  }
}
