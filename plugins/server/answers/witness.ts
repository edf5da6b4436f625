import { parseAnswerLine, requestIdOfLine, type ToldAnswer } from '../../core/access/answer-line';
import { type Answer, type Charge, type Decision, type DecisionLog, type RefundRequest } from '../../core/ports';
import { isUndelivered } from '../../core/selling/refunds';
import { type WitnessStats } from '../../core/store-stats';

export interface WitnessOptions {
  /** Told of each answer to an admitted request, once. Never throws. */
  readonly note: (answer: Answer) => void;
  /** Told of each request that is not to be charged, once. Never throws. */
  readonly giveBack: (refund: RefundRequest) => void;
}

/** Of an admitted request, until its answer is told. */
interface Pending extends Pick<Answer, 'credentialId' | 'product' | 'atMs'> {
  readonly charge: Charge | undefined;
}

/** Of each half of the pending requests. Both take about 10 MB: as many as are under way when 5,000 requests a second take ten seconds each. */
const MOST_OF_A_HALF = 25_000;
/** Three times the longest that a route of kong.yml waits for its API. */
const LONGEST_MS = 900_000;

/**
 * Joins what the gateway tells of answers with the decisions on their requests. A line counts once, and only while its request is pending:
 * who does not know the id of a request under way can tell nothing about it.
 */
export class Witness {
  /**
   * By request id. Requests are given up by halves: to find the oldest one in a Map that loses its oldest all the time costs more than the
   * rest of a decision, because V8 walks over what was deleted.
   */
  private newer = new Map<string, Pending>();
  private older = new Map<string, Pending>();
  private readonly turning: NodeJS.Timeout;
  private missing = 0;

  constructor(private readonly options: WitnessOptions) {
    this.turning = setInterval(() => this.giveUpOlder(), LONGEST_MS);
    this.turning.unref();
  }

  /** The same log; admitted requests are remembered until their answers are told. */
  watch(log: DecisionLog): DecisionLog {
    return {
      record: (decision) => {
        if (decision.outcome === 'admitted') this.await(decision);
        log.record(decision);
      },
    };
  }

  /**
   * @param lines as gateways tell them, with line feeds between them
   * @param passOn told of each line about a request that does not wait here; absent: it is passed over
   */
  hear(lines: string, passOn?: (line: string) => void): void {
    for (const line of lines.split('\n')) {
      const id = requestIdOfLine(line);
      const pending = this.newer.get(id) ?? this.older.get(id);
      if (!pending) passOn?.(line);
      const told = pending && parseAnswerLine(line);
      if (told) this.settle(pending, told);
    }
  }

  stats(): WitnessStats {
    return { pending: this.newer.size + this.older.size, missing: this.missing };
  }

  close(): void {
    clearInterval(this.turning);
  }

  private await({ requestId, credentialId, product, atMs, charge }: Decision): void {
    if (credentialId === undefined || product === undefined) return;
    if (this.newer.size >= MOST_OF_A_HALF) this.giveUpOlder();
    this.newer.set(requestId, { credentialId, product, atMs, charge });
  }

  private settle({ credentialId, product, atMs, charge }: Pending, told: ToldAnswer): void {
    const { requestId, status, bytes, elapsedMs } = told;
    if (!this.newer.delete(requestId)) this.older.delete(requestId);
    this.options.note({ requestId, credentialId, product, atMs, status, bytes, elapsedMs });
    if (!charge) return;
    const { isFree5xx, ...taken } = charge;
    if (isUndelivered(told, isFree5xx)) this.options.giveBack({ requestId, ...taken });
  }

  /** Gives up what waited longest: what stood here before the last turn. */
  private giveUpOlder(): void {
    this.missing += this.older.size;
    this.older = this.newer;
    this.newer = new Map();
  }
}
