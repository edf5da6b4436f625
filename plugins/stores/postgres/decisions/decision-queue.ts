import { type Decision } from '../../../core/ports';

/** Decisions that wait to be written. Bounded; refusals outlive admissions, since it is refusals that people ask about. */
export interface DecisionQueue {
  add(decision: Decision): void;
  /**
   * Takes up to `most`, of them up to `mostAdmitted` admissions: refusals first, then the newest admissions, so that a backlog does not
   * delay what people ask for now.
   */
  take(most: number, mostAdmitted: number): Decision[];
  /** Takes back what could not be written. */
  putBack(decisions: readonly Decision[]): void;
  size(): number;
  /** How many were let go because the queue was full. */
  dropped(): number;
}

export function createDecisionQueue(max: number): DecisionQueue {
  const refused: Decision[] = [];
  const admitted: Decision[] = [];
  let dropped = 0;

  /** Lets the oldest admissions go, then the oldest refusals; some at a time, since moving an array for each would be slow. */
  function makeRoom(): void {
    const from = admitted.length > 0 ? admitted : refused;
    dropped += from.splice(0, Math.max(1, Math.min(from.length, max >> 6))).length;
  }

  function add(decision: Decision): void {
    while (refused.length + admitted.length >= max) makeRoom();
    (decision.outcome === 'admitted' ? admitted : refused).push(decision);
  }

  return {
    add,
    take(most, mostAdmitted) {
      const taken = refused.splice(0, most);
      const room = Math.min(most - taken.length, mostAdmitted);
      return room > 0 ? [...taken, ...admitted.splice(Math.max(0, admitted.length - room))] : taken;
    },
    putBack(decisions) {
      for (const decision of decisions) add(decision);
    },
    size: () => refused.length + admitted.length,
    dropped: () => dropped,
  };
}
