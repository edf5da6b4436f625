import { Socket } from 'node:net';
import { Client } from 'pg';
import { type Clock } from '../../../core/ports';
import { type Change } from '../../cache/change-feed';
import { type ClockSample } from '../../store-clock';
import { withDeadline } from '../../with-deadline';

export interface ChangeListenerOptions {
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
export class ChangeListener {
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
  const told = parseObject(payload);
  if (typeof told['credential'] === 'string') {
    const { at, hash } = told;
    return {
      kind: 'credential',
      id: told['credential'],
      ...(typeof at === 'string' ? { at } : {}),
      ...(hash === null || (typeof hash === 'string' && HASH_START.test(hash)) ? { hash } : {}),
    };
  }
  if (typeof told['customer'] === 'string') return { kind: 'customer', id: told['customer'] };
  // Plans and products change once a release, and their limits may be in any record.
  if (typeof told['product'] === 'string') return { kind: 'everything', isCatalogue: true };
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
