import { type Decision } from './ports';
import { type DenialCode } from './problems';

/** One line of an explanation: a check, how it went, and what it saw. */
export interface ExplainedCheck {
  readonly check: string;
  readonly outcome: 'passed' | 'failed' | 'not reached';
  readonly saw: string;
}

export interface Explanation {
  readonly requestId: string;
  /** ISO 8601, UTC. */
  readonly at: string;
  readonly outcome: Decision['outcome'];
  readonly checks: readonly ExplainedCheck[];
  /** What would make the request pass; empty for an admitted one. */
  readonly remedy: string;
}

interface Check {
  readonly name: string;
  /** Denials that mean this check failed. */
  readonly denials: readonly DenialCode[];
  readonly saw: (decision: Decision) => string;
}

const key = (decision: Decision): string =>
  decision.maskedKey === undefined ? 'no key' : `${decision.maskedKey} in ${decision.keyPlace ?? 'an unknown place'}`;

const CHECKS: readonly Check[] = [
  { name: 'exactly one key is sent', denials: ['request_not_readable', 'key_missing', 'ambiguous_key'], saw: key },
  {
    name: 'the key exists and is active',
    denials: ['key_unknown', 'key_inactive', 'access_layer_unavailable'],
    saw: (decision) => (decision.credentialId === undefined ? `${key(decision)}, not on record` : `key ${decision.credentialId}`),
  },
  { name: 'the key has not expired', denials: ['key_expired'], saw: (decision) => `key ${decision.credentialId ?? 'unknown'}` },
  {
    name: 'the key is authorised for the product',
    denials: ['product_not_authorised'],
    saw: (decision) => `the route admits ${decision.products.join(' or ')}`,
  },
  {
    name: 'an active subscription exists',
    denials: ['subscription_missing', 'subscription_inactive'],
    saw: (decision) =>
      decision.subscriptionId === undefined ? 'none that is active' : `${decision.product ?? ''} ${decision.subscriptionId}`.trim(),
  },
  {
    name: 'the whitelist admits the caller',
    denials: ['caller_not_whitelisted'],
    saw: (decision) =>
      [
        `address ${decision.callerAddress ?? 'unknown'}`,
        `origin ${decision.originHost ?? 'none'}`,
        decision.matchedRule === undefined ? 'no rule matched' : `rule ${decision.matchedRule}`,
      ].join(', '),
  },
  {
    name: 'request capacity remains',
    denials: ['quota_daily_exceeded', 'quota_monthly_exceeded', 'quota_unavailable'],
    saw: ({ quota }) =>
      quota ? `day ${quota.day}: ${quota.usedDaily} of ${quota.daily}, month: ${quota.usedMonthly} of ${quota.monthly}` : 'not counted',
  },
];

const REMEDIES: Record<DenialCode, string> = {
  request_not_readable: 'Send fewer headers.',
  key_missing: 'Send the key in a place that this product takes it from.',
  ambiguous_key: 'Send one key, in one place, once.',
  key_unknown: 'Check the key for typing errors, or create a new one.',
  key_inactive: 'Activate the key, or create a new one if it was revoked.',
  key_expired: 'Create a new key, or rotate this one before it expires.',
  product_not_authorised: 'Authorise the key for the product.',
  subscription_missing: 'Subscribe to the product.',
  subscription_inactive: 'Resume the subscription.',
  caller_not_whitelisted: 'Add a rule for this address or origin, or call from a listed one.',
  quota_daily_exceeded: 'Wait for midnight in the quota time zone, or change the plan.',
  quota_monthly_exceeded: 'Wait for the next month in the quota time zone, or change the plan.',
  access_layer_unavailable: 'The key store could not answer; see the log of the plugin server.',
  quota_unavailable: 'No quota store could answer; see the log of the plugin server.',
};

/** Turns a recorded decision into the checks in the specification's order, with what each saw and why the request was refused. */
export function explainDecision(decision: Decision): Explanation {
  const { outcome } = decision;
  const failedAt = outcome === 'admitted' ? CHECKS.length : CHECKS.findIndex((check) => check.denials.includes(outcome));
  const checks = CHECKS.map((check, index): ExplainedCheck => {
    if (index > failedAt) return { check: check.name, outcome: 'not reached', saw: '' };
    return { check: check.name, outcome: index === failedAt ? 'failed' : 'passed', saw: check.saw(decision) };
  });
  return {
    requestId: decision.requestId,
    at: new Date(decision.atMs).toISOString(),
    outcome,
    checks,
    remedy: outcome === 'admitted' ? '' : REMEDIES[outcome],
  };
}
