import { type Decision } from '../../../core/ports';

/** Maximum rows of a batch, and among them maximum admissions and maximum refusals without a known key. */
export interface Share {
  readonly rows: number;
  readonly admissions: number;
  readonly anonymous: number;
}

/** Share of the queue that refusals without a known key may hold. */
const ANONYMOUS_SHARE = 0.05;

/**
 * Decisions waiting to be written. The queue is bounded, and drops admissions before refusals, because people ask about refusals.
 * Refusals without a known key belong to no customer, and anybody can cause any number of them, so they have a share of their own.
 */
export class DecisionQueue {
  private readonly refused: Decision[] = [];
  private readonly anonymous: Decision[] = [];
  private readonly admitted: Decision[] = [];
  /** Number of decisions dropped because the queue was full. */
  dropped = 0;
  /** Number of refusals without a known key dropped because their share was full. */
  droppedAnonymous = 0;

  /**
   * @param max maximum waiting decisions
   * @param onDrop called with each decision that was dropped because the queue was full
   */
  constructor(
    private readonly max: number,
    private readonly onDrop: (decision: Decision) => void = () => undefined,
  ) {}

  get size(): number {
    return this.refused.length + this.anonymous.length + this.admitted.length;
  }

  add(decision: Decision): void {
    if (decision.outcome !== 'admitted' && decision.credentialId === undefined) return this.addAnonymous(decision);
    while (this.size >= this.max) this.makeRoom();
    (decision.outcome === 'admitted' ? this.admitted : this.refused).push(decision);
  }

  /** Takes a batch: refusals first, then the newest admissions, so that a backlog does not delay what people look up now. */
  take({ rows, admissions, anonymous }: Share): Decision[] {
    const taken = this.refused.splice(0, rows);
    taken.push(...this.anonymous.splice(0, Math.min(rows - taken.length, anonymous)));
    const room = Math.min(rows - taken.length, admissions);
    return room > 0 ? [...taken, ...this.admitted.splice(Math.max(0, this.admitted.length - room))] : taken;
  }

  /** Takes back decisions that could not be written. */
  putBack(decisions: readonly Decision[]): void {
    for (const decision of decisions) this.add(decision);
  }

  /** Drops the oldest in batches, because moving an array for each would be slow. */
  private addAnonymous(decision: Decision): void {
    const most = Math.max(1, Math.floor(this.max * ANONYMOUS_SHARE));
    if (this.anonymous.length >= most) this.droppedAnonymous += this.anonymous.splice(0, Math.max(1, most >> 6)).length;
    this.anonymous.push(decision);
  }

  /** Drops the oldest admissions, then the oldest refusals. */
  private makeRoom(): void {
    const from = this.admitted.length > 0 ? this.admitted : this.refused.length > 0 ? this.refused : this.anonymous;
    const gone = from.splice(0, Math.max(1, Math.min(from.length, this.max >> 6)));
    this.dropped += gone.length;
    for (const decision of gone) this.onDrop(decision);
  }
}
