import { type Decision } from '../../../core/ports';

/** Decisions that wait to be written. Bounded; refusals outlive admissions, since it is refusals that people ask about. */
export class DecisionQueue {
  private readonly refused: Decision[] = [];
  private readonly admitted: Decision[] = [];
  /** How many were let go because the queue was full. */
  dropped = 0;

  /** @param max most decisions that wait */
  constructor(private readonly max: number) {}

  get size(): number {
    return this.refused.length + this.admitted.length;
  }

  add(decision: Decision): void {
    while (this.size >= this.max) this.makeRoom();
    (decision.outcome === 'admitted' ? this.admitted : this.refused).push(decision);
  }

  /**
   * Takes up to `most`, of them up to `mostAdmitted` admissions: refusals first, then the newest admissions, so that a backlog does not
   * delay what people ask for now.
   */
  take(most: number, mostAdmitted: number): Decision[] {
    const taken = this.refused.splice(0, most);
    const room = Math.min(most - taken.length, mostAdmitted);
    return room > 0 ? [...taken, ...this.admitted.splice(Math.max(0, this.admitted.length - room))] : taken;
  }

  /** Takes back what could not be written. */
  putBack(decisions: readonly Decision[]): void {
    for (const decision of decisions) this.add(decision);
  }

  /** Lets the oldest admissions go, then the oldest refusals; some at a time, since moving an array for each would be slow. */
  private makeRoom(): void {
    const from = this.admitted.length > 0 ? this.admitted : this.refused;
    this.dropped += from.splice(0, Math.max(1, Math.min(from.length, this.max >> 6))).length;
  }
}
