import { type DecisionLog } from '../core/ports';

interface DebugLog {
  isLevelEnabled(level: string): boolean;
  debug(details: object, message: string): void;
}

/** The same log; at level debug every decision is a line too. At other levels nothing is added: the table of decisions has them all. */
export function logDecisions(decisions: DecisionLog, log: DebugLog): DecisionLog {
  if (!log.isLevelEnabled('debug')) return decisions;
  return {
    record(decision) {
      const { requestId, outcome, product, keyPlace, credentialId, subscriptionId } = decision;
      log.debug({ requestId, outcome, product, keyPlace, credentialId, subscriptionId }, 'decided');
      decisions.record(decision);
    },
  };
}
