import { Socket } from 'node:net';
import { Client } from 'pg';
import { type Clock, systemClock } from '../../../core/ports';
import { type Change, type ChangeFeed } from '../../cache/change-feed';
import { type ClockSample } from '../../store-clock';
import { parseChange } from './parse-change';

export interface PostgresChangeFeedOptions {
  readonly url: string;
  readonly clock?: Clock;
  /** Time between two questions whether the connection still lives. Default 250 ms. */
  readonly heartbeatMs?: number;
  /** An answer later than this makes the feed unhealthy. Default 250 ms. */
  readonly deadlineMs?: number;
  /** Told the database's clock with every answer. */
  readonly onTime?: (sample: ClockSample) => void;
  /** Without an answer for this long the connection is given up and made anew. Default 2 s. */
  readonly abandonMs?: number;
}

export interface PostgresChangeFeed extends ChangeFeed {
  /** Ends the connection for good. */
  close(): Promise<void>;
}

const CHANNEL = 'tollgate_changes';
const HEARTBEAT = 'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now';
const CONNECT_DEADLINE_MS = 1_000;
const FIRST_BACKOFF_MS = 50;
const LONGEST_BACKOFF_MS = 1_000;

/**
 * Listens to the NOTIFYs of migration 0001 on a connection of its own. PostgreSQL hands over what was committed before it answers a
 * later question, so an answered heartbeat proves that nothing from before it was sent is missing. Starts at once and never gives up.
 */
export function createPostgresChangeFeed(options: PostgresChangeFeedOptions): PostgresChangeFeed {
  const { url, clock = systemClock, heartbeatMs = 250, deadlineMs = 250, abandonMs = 2_000, onTime = () => undefined } = options;
  const listeners = new Set<(change: Change) => void>();
  let closed = false;
  let listening = false;
  let lastHealthyAt = -Infinity;
  let abandon: () => void = () => undefined;
  let wake: () => void = () => undefined;

  function tell(change: Change): void {
    for (const listener of listeners) listener(change);
  }

  /** Waits, unless the connection is lost or the feed is closed meanwhile. */
  function pause(ms: number): Promise<void> {
    return new Promise((done) => {
      const timer = setTimeout(done, ms);
      wake = () => {
        clearTimeout(timer);
        done();
      };
    });
  }

  /** Connects, listens and beats until the connection is lost. */
  async function listenOnce(onListening: () => void): Promise<void> {
    const socket = new Socket();
    const client = new Client({ connectionString: url, stream: () => socket, application_name: 'tollgate change feed', keepAlive: true });
    let lost: (error: Error) => void = () => undefined;
    const loss = new Promise<never>((_, fail) => (lost = fail));
    // Nobody waits for the loss while the feed pauses between two heartbeats.
    loss.catch(() => undefined);
    let alive = true;
    const end = (error: Error): void => {
      alive = false;
      listening = false;
      lost(error);
      wake();
    };
    abandon = () => {
      end(new Error('the feed was closed'));
      socket.destroy();
    };
    client.on('error', end);
    client.on('end', () => end(new Error('the connection ended')));
    client.on('notification', ({ payload }) => tell(parseChange(payload)));
    try {
      await withDeadline(Promise.race([client.connect().then(() => listenWith(client)), loss]), CONNECT_DEADLINE_MS);
      onListening();
      while (alive) {
        const sentAt = clock.monotonic();
        const answer = await withDeadline(Promise.race([client.query<{ now: number }>(HEARTBEAT), loss]), abandonMs);
        onTime({ storeMs: answer.rows[0]?.now ?? NaN, askedAt: sentAt, answeredAt: clock.monotonic() });
        lastHealthyAt = sentAt;
        listening = true;
        const rest = heartbeatMs - (clock.monotonic() - sentAt);
        if (rest > 0) await pause(rest);
      }
    } finally {
      listening = false;
      alive = false;
      socket.destroy();
    }
  }

  async function listenForEver(): Promise<void> {
    let backoffMs = FIRST_BACKOFF_MS;
    while (!closed) {
      const begun = (): void => {
        backoffMs = FIRST_BACKOFF_MS;
        // From here on everything is told; what was missed before, nobody knows.
        tell({ kind: 'gap' });
      };
      await listenOnce(begun).catch(() => undefined);
      if (closed) return;
      // Spread, so that many nodes do not all come back in the same moment.
      await pause(backoffMs * (0.5 + Math.random() / 2));
      backoffMs = Math.min(backoffMs * 2, LONGEST_BACKOFF_MS);
    }
  }

  const ended = listenForEver();
  return {
    // By the clock, not by a timer: a timer would be late exactly when this process is.
    isHealthy: () => listening && clock.monotonic() - lastHealthyAt <= heartbeatMs + deadlineMs,
    lastHealthyAt: () => lastHealthyAt,
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    async close() {
      closed = true;
      abandon();
      wake();
      await ended;
    },
  };
}

/**
 * Refuses a pooler. It answers heartbeats on whichever server connection is free, while the one that listens may be told changes that
 * reach nobody; what gives it away is that the process it announced is not the one that answers.
 */
async function listenWith(client: Client): Promise<void> {
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  if (rows[0]?.pid !== Reflect.get(client, 'processID')) throw new Error('a pooler is between this node and PostgreSQL');
  await client.query(`LISTEN ${CHANNEL}`);
}

function withDeadline<T>(work: Promise<T>, deadlineMs: number): Promise<T> {
  return new Promise((done, fail) => {
    const timer = setTimeout(() => fail(new Error('PostgreSQL did not answer in time')), deadlineMs);
    work.then(done, fail).finally(() => clearTimeout(timer));
  });
}
