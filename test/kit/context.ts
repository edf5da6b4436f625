import { type RequestContext } from '../../plugins/core/proof/context-token';
import { createProofKeys, fixedPrivateKey } from '../support/proof-keys';
import { NOW_MS } from './test-clock';

/** What every app of the tests believes, in whatever process it runs. */
export const PROOF = createProofKeys(fixedPrivateKey('test', 7));

const SECONDS_A_DAY = 86_400;
const SECONDS_A_MONTH = 2_678_400;

/** A context as the gateway would sign it for an admitted request. */
export function contextFor(product: string, changes: Partial<RequestContext> = {}): RequestContext {
  return {
    requestId: 'request-1',
    credentialId: 'credential-1',
    customerId: 'customer-1',
    subscriptionId: 'subscription-1',
    product,
    mode: 'live',
    callerAddress: '203.0.113.9',
    chargedDay: '2026-03-14',
    quota: {
      daily: { limit: 1_000, remaining: 998, resetsAt: NOW_MS / 1000 + 3_600, windowSeconds: SECONDS_A_DAY },
      monthly: { limit: 30_000, remaining: 29_000, resetsAt: NOW_MS / 1000 + 7_200, windowSeconds: SECONDS_A_MONTH },
    },
    expiresAt: NOW_MS / 1000 + 60,
    ...changes,
  };
}

export function proofHeader(context: RequestContext): Record<string, string> {
  return { 'x-tollgate-context': PROOF.signContext(context) };
}
