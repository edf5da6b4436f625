import { explainDecision } from '../../../selling/requests/explain';
import { type Decision } from '../../../../plugins/core/ports';
import { type Explanation } from '../../contract/explain';

/**
 * The checks of a request, in the form that pages show.
 * @param fixes what would mend a refusal, for readers who may do it
 */
export function describeExplanation(decision: Decision, fixes: Explanation['fixes']): Explanation {
  const { at, outcome, checks, remedy } = explainDecision(decision);
  return {
    requestId: decision.requestId,
    at,
    outcome,
    remedy,
    product: decision.product ?? decision.products[0] ?? null,
    keyId: decision.credentialId ?? null,
    maskedKey: decision.maskedKey ?? null,
    checks: checks.map((check) => ({ ...check })),
    fixes,
  };
}
