import { type Pool } from 'pg';
import { type Clock, type Decision, type DecisionLog, systemClock } from '../../../core/ports';
import { type QuotaWindows, windowsAt } from '../../../core/quota';
import { countDenials, type DenialTally } from './count-denials';
import { inTransaction, isUuid } from '../database';
import { createDecisionQueue } from './decision-queue';
import { pruneDecisions } from './prune-decisions';
import { touchLastUsed } from '../keys/touch-last-used';
import { writeDecisions } from './write-decisions';

export interface DecisionWriterOptions {
  /** With a statement time-out, or a stopped server would hold up `close`. */
  readonly pool: Pool;
  /** Quota time zone; refusals are counted by its days. */
  readonly timeZone: string;
  readonly clock?: Clock;
  /** Most decisions that wait. Default 20,000. */
  readonly maxQueue?: number;
  /** Default 500 ms. */
  readonly flushMs?: number;
  /** Most rows written a second. Default 4,000. What is above waits, and is dropped when the queue is full, admissions first. */
  readonly rowsPerSecond?: number;
  /**
   * Of them, most that are admissions. Default 1,000: nearly nobody asks why a request passed, and each row costs the database as much
   * as admitting the request cost the plugin. A node that admits more logs a sample, the newest.
   */
  readonly admissionsPerSecond?: number;
  /** Told when a flush failed; what it held is tried again. */
  readonly onError?: (error: unknown) => void;
}

export interface DecisionWriter extends DecisionLog {
  /** Writes what waits now, up to one flush's share, after a flush that is running. Never throws. */
  flush(): Promise<void>;
  /** Ends the timers and makes one last attempt to write all. Never throws. */
  close(): Promise<void>;
  /** Rows; `failures` counts flushes. */
  stats(): { queued: number; written: number; dropped: number; failures: number };
}

const PRUNE_EVERY_MS = 3_600_000;

/** What one flush carries. Counts are kept apart from the rows, so that they stay exact when rows are dropped. */
interface Batch {
  readonly decisions: Decision[];
  readonly denials: Map<string, DenialTally>;
  readonly used: Map<string, number>;
}

/** Writes decisions, refusal counts and last-used times of keys in the background, one transaction a flush. */
export function createDecisionWriter(options: DecisionWriterOptions): DecisionWriter {
  const { pool, timeZone, clock = systemClock, flushMs = 500, rowsPerSecond = 4_000, onError = () => undefined } = options;
  const queue = createDecisionQueue(options.maxQueue ?? 20_000);
  const perFlush = (aSecond: number): number => Math.max(1, Math.round((aSecond * flushMs) / 1_000));
  const share = perFlush(rowsPerSecond);
  const admittedShare = perFlush(options.admissionsPerSecond ?? 1_000);
  let denials = new Map<string, DenialTally>();
  let used = new Map<string, number>();
  let windows: QuotaWindows | undefined;
  let running: Promise<void> | undefined;
  const counts = { written: 0, refusedRows: 0, failures: 0 };

  function dayOf(atMs: number): string {
    const at = atMs / 1_000;
    if (!windows || at < windows.dayStartsAt || at >= windows.dayEndsAt) windows = windowsAt(at, timeZone);
    return windows.day;
  }

  function tally(wanted: DenialTally): void {
    const key = `${wanted.credentialId} ${wanted.product} ${wanted.day} ${wanted.code}`;
    const known = denials.get(key);
    if (known) known.count += wanted.count;
    else denials.set(key, { ...wanted });
  }

  function markUsed(credentialId: string, atMs: number): void {
    used.set(credentialId, Math.max(used.get(credentialId) ?? 0, atMs));
  }

  function count(decision: Decision): void {
    const credentialId = decision.credentialId !== undefined && isUuid(decision.credentialId) ? decision.credentialId : null;
    if (decision.outcome === 'admitted') {
      if (credentialId !== null) markUsed(credentialId, decision.atMs);
      return;
    }
    const product = decision.product ?? decision.products[0] ?? '';
    tally({ credentialId, product, day: dayOf(decision.atMs), code: decision.outcome, count: 1 });
  }

  async function write(batch: Batch): Promise<void> {
    await inTransaction(pool, async (client) => {
      await writeDecisions(client, batch.decisions);
      await countDenials(client, [...batch.denials.values()]);
      await touchLastUsed(client, batch.used);
    });
    counts.written += batch.decisions.length;
  }

  async function flushOnce(most: number, mostAdmitted: number): Promise<void> {
    const batch: Batch = { decisions: queue.take(most, mostAdmitted), denials, used };
    denials = new Map();
    used = new Map();
    if (batch.decisions.length + batch.denials.size + batch.used.size === 0) return;
    try {
      await write(batch);
    } catch (error) {
      counts.failures += 1;
      // A value that PostgreSQL will not take fails every time; the rows go, so that the log does not stand still.
      if (isDataError(error)) counts.refusedRows += batch.decisions.length;
      else queue.putBack(batch.decisions);
      for (const denial of batch.denials.values()) tally(denial);
      for (const [id, atMs] of batch.used) markUsed(id, atMs);
      onError(error);
    }
  }

  /** One at a time: a slow flush must not be overtaken by the next. */
  function flush(most = share, mostAdmitted = admittedShare): Promise<void> {
    running ??= flushOnce(most, mostAdmitted).finally(() => (running = undefined));
    return running;
  }

  const flushing = setInterval(() => void flush(), flushMs);
  const pruning = setInterval(() => void pruneDecisions(pool, { now: new Date(clock.now()) }).catch(onError), PRUNE_EVERY_MS);
  flushing.unref();
  pruning.unref();
  return {
    record(decision) {
      try {
        count(decision);
        queue.add(decision);
      } catch (error) {
        onError(error);
      }
    },
    async flush() {
      await running;
      await flush();
    },
    async close() {
      clearInterval(flushing);
      clearInterval(pruning);
      await running;
      await flush(Infinity, Infinity);
    },
    stats: () => ({
      queued: queue.size(),
      written: counts.written,
      dropped: queue.dropped() + counts.refusedRows,
      failures: counts.failures,
    }),
  };
}

/** SQLSTATE classes 22 (data exception) and 23 (integrity constraint violation). */
function isDataError(error: unknown): boolean {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' && /^2[23]/.test(code);
}
