import { parseAnswerLine, requestIdOfLine, type ToldAnswer } from '../../core/access/answer-line';
import { type Answer, type Charge, type Clock, type Decision, type DecisionLog, type RefundRequest } from '../../core/ports';
import { isUndelivered } from '../../core/selling/refunds';
import { type WitnessStats } from '../../core/store-stats';

export interface WitnessOptions {
  readonly clock: Clock;
  /** Told of each answer to an admitted request, once. Never throws. */
  readonly note: (answer: Answer) => void;
  /** Told of each request that is not to be charged, once. Never throws. */
  readonly giveBack: (refund: RefundRequest) => void;
}

/** Of an admitted request, until its answer is told. */
interface Pending extends Pick<Answer, 'credentialId' | 'product' | 'atMs'> {
  readonly charge: Charge | undefined;
}

/** About 10 MB. As many are under way when 5,000 requests a second take ten seconds each. */
const MOST_PENDING = 50_000;
/** Three times the longest that a route of kong.yml waits for its API. */
const LONGEST_MS = 900_000;
const SWEEP_MS = 30_000;

/**
 * Joins what the gateway tells of answers with the decisions on their requests. A line counts once, and only while its request is pending:
 * who does not know the id of a request under way can tell nothing about it.
 */
export class Witness {
  /** By request id, the oldest first. */
  private readonly pending = new Map<string, Pending>();
  private readonly sweeper: NodeJS.Timeout;
  private missing = 0;

  constructor(private readonly options: WitnessOptions) {
    this.sweeper = setInterval(() => this.sweep(), SWEEP_MS);
    this.sweeper.unref();
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

  /** @param lines as gateways tell them, with line feeds between them; others' requests are passed over */
  hear(lines: string): void {
    for (const line of lines.split('\n')) {
      const pending = this.pending.get(requestIdOfLine(line));
      const told = pending && parseAnswerLine(line);
      if (told) this.settle(pending, told);
    }
  }

  stats(): WitnessStats {
    return { pending: this.pending.size, missing: this.missing };
  }

  close(): void {
    clearInterval(this.sweeper);
  }

  private await({ requestId, credentialId, product, atMs, charge }: Decision): void {
    if (credentialId === undefined || product === undefined) return;
    if (this.pending.size >= MOST_PENDING) this.giveUpOldest();
    this.pending.set(requestId, { credentialId, product, atMs, charge });
  }

  private settle({ credentialId, product, atMs, charge }: Pending, told: ToldAnswer): void {
    const { requestId, status, bytes, elapsedMs } = told;
    this.pending.delete(requestId);
    this.options.note({ requestId, credentialId, product, atMs, status, bytes, elapsedMs });
    if (!charge) return;
    const { isFree5xx, ...taken } = charge;
    if (isUndelivered(told, isFree5xx)) this.options.giveBack({ requestId, ...taken });
  }

  private sweep(): void {
    const before = this.options.clock.now() - LONGEST_MS;
    for (const { atMs } of this.pending.values()) {
      if (atMs >= before) return;
      this.giveUpOldest();
    }
  }

  private giveUpOldest(): void {
    const [oldest] = this.pending.keys();
    if (oldest === undefined) return;
    this.pending.delete(oldest);
    this.missing += 1;
  }
}
