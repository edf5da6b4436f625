import { setTimeout as sleep } from 'node:timers/promises';
import { parseAnswerLine, requestIdOfLine, type AnswerLine } from '../../core/access/answer-line';
import { type Answer, type Charge, type Decision, type DecisionLog, type RefundRequest, type Settlement } from '../../core/ports';
import { isUndelivered } from '../../core/catalogue/refunds';
import { unitsOf } from '../../core/catalogue/units';
import { type WitnessStats } from '../../core/store-stats';

export interface WitnessOptions {
  /** Called once for each response to an admitted request. Never throws. */
  readonly note: (answer: Answer) => void;
  /** Called once for each request that is free or costs less than was taken. Never throws. */
  readonly giveBack: (refund: RefundRequest) => void;
  /** Called once for each request that costs more than was taken. */
  readonly settle: (due: Omit<Settlement, 'id'>) => void;
}

/** An admitted request whose response is not reported yet. */
interface Pending extends Pick<Answer, 'credentialId' | 'product' | 'atMs'> {
  readonly charge: Charge | undefined;
}

interface Cost {
  readonly units: number;
  /** True if its units are to be given back. */
  readonly isFree: boolean;
}

function costOf(reported: AnswerLine, { units, isFree5xx, mostUnits }: Charge): Cost {
  const isFree = isUndelivered(reported, isFree5xx);
  return { units: isFree ? units : unitsOf(reported.units, units, mostUnits), isFree };
}

/**
 * Maximum requests in each half of the pending ones. Both halves take about 10 MB, and hold the requests that are running when 5,000
 * requests a second take ten seconds each.
 */
const MAX_OF_A_HALF = 25_000;
/** Milliseconds, longer than a datagram takes from the gateway to here. */
const FIRST_WITHIN_MS = 100;
/** Milliseconds, three times the longest that a route of kong.yml waits for its API. */
const MAX_MS = 900_000;

/**
 * Joins the responses that the gateway reports with the decisions on their requests. A line counts once, and only while its request is
 * pending, so nobody can report anything without the id of a running request.
 */
export class Witness {
  /**
   * Pending requests by id, in two halves, of which the older is dropped as a whole. Finding the oldest entry of a Map that keeps losing
   * its oldest costs more than the rest of a decision, because V8 walks over deleted entries.
   */
  private newer = new Map<string, Pending>();
  private older = new Map<string, Pending>();
  private readonly turning: NodeJS.Timeout;
  private missing = 0;
  private hasHeard = false;
  private noteSettled: () => void = () => undefined;

  constructor(private readonly options: WitnessOptions) {
    this.turning = setInterval(() => this.giveUpOlder(), MAX_MS);
    this.turning.unref();
  }

  /** The same log, which also remembers admitted requests until their responses are reported. */
  watch(log: DecisionLog): DecisionLog {
    return {
      record: (decision) => {
        if (decision.outcome === 'admitted') this.await(decision);
        log.record(decision);
      },
    };
  }

  /**
   * @param lines from gateways, with line feeds between them
   * @param passOn called for each line about a request that is not pending here; without it such a line is skipped
   */
  hear(lines: string, passOn?: (line: string) => void): void {
    for (const line of lines.split('\n')) {
      const id = requestIdOfLine(line);
      const pending = this.newer.get(id) ?? this.older.get(id);
      if (!pending) passOn?.(line);
      const reported = pending && parseAnswerLine(line);
      if (reported) this.settle(pending, reported);
    }
  }

  stats(): WitnessStats {
    return { pending: this.newer.size + this.older.size, missing: this.missing };
  }

  /**
   * Waits for the responses to running requests, but only briefly if the gateway has reported none so far. Call it when no more requests
   * are decided.
   * @returns the number of unreported responses, which count as missing
   */
  async close(longestMs: number): Promise<number> {
    clearInterval(this.turning);
    const isDone = (): boolean => this.newer.size + this.older.size === 0;
    if (!isDone()) {
      const ended = new AbortController();
      const all = new Promise<void>((resolve) => (this.noteSettled = () => void (isDone() && resolve())));
      await Promise.race([
        all,
        sleep(this.hasHeard ? longestMs : Math.min(longestMs, FIRST_WITHIN_MS), undefined, { signal: ended.signal }).catch(() => undefined),
      ]);
      ended.abort();
    }
    const late = this.newer.size + this.older.size;
    this.giveUpOlder();
    this.giveUpOlder();
    return late;
  }

  private await({ requestId, credentialId, product, atMs, charge }: Decision): void {
    if (credentialId === undefined || product === undefined) return;
    if (this.newer.size >= MAX_OF_A_HALF) this.giveUpOlder();
    this.newer.set(requestId, { credentialId, product, atMs, charge });
  }

  private settle({ credentialId, product, atMs, charge }: Pending, reported: AnswerLine): void {
    const { requestId, status, bytes, elapsedMs, isFromApi } = reported;
    if (!this.newer.delete(requestId)) this.older.delete(requestId);
    this.hasHeard = true;
    const cost = charge && costOf(reported, charge);
    this.options.note({ requestId, credentialId, product, atMs, status, bytes, elapsedMs, isFromApi, units: cost?.units });
    if (charge && cost) this.charge(requestId, charge, cost);
    this.noteSettled();
  }

  private charge(requestId: string, { subscriptionId, day, dailyLimit, units: taken }: Charge, { units, isFree }: Cost): void {
    const tooMuch = isFree ? taken : taken - units;
    // Anyone who reaches the port can report this, so refunds of it have the cap of every refund.
    if (tooMuch > 0) this.options.giveBack({ requestId, subscriptionId, day, dailyLimit, units: tooMuch });
    else if (tooMuch < 0) this.options.settle({ subscriptionId, day, units: -tooMuch });
  }

  /** Drops the requests that have waited longest: those from before the last turn. */
  private giveUpOlder(): void {
    this.missing += this.older.size;
    this.older = this.newer;
    this.newer = new Map();
  }
}
