import { type Decision } from '../../plugins/core/ports';

/** A request that was admitted and of which nothing else is known, but for what a test says. */
export function someDecision(extra: Partial<Decision> = {}): Decision {
  return {
    requestId: 'r-1',
    atMs: 0,
    products: ['api-ip'],
    outcome: 'admitted',
    keyPlace: undefined,
    maskedKey: undefined,
    credentialId: undefined,
    customerId: undefined,
    subscriptionId: undefined,
    product: undefined,
    callerAddress: undefined,
    originHost: undefined,
    matchedRule: undefined,
    quota: undefined,
    ...extra,
  };
}
