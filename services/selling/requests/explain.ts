import { type Decision } from '../../../plugins/core/ports';
import { denialOf, type DenialCode, refusalIn } from '../../../plugins/core/problems';
import { type QuotaLimits } from '../../../plugins/core/catalogue/catalogue';

/** A decision with what is known of the plan besides. */
export interface KnownDecision extends Decision {
  /** Requests that the price includes, of a plan that sells more up to the limits of the decision. */
  readonly included?: QuotaLimits | undefined;
}

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
  readonly saw: (decision: KnownDecision, passed: boolean) => string;
}

const key = (decision: Decision): string => {
  if (decision.keyPlace === 'link') return 'a link in its place';
  return decision.maskedKey === undefined ? 'no key' : `${decision.maskedKey} in ${decision.keyPlace ?? 'an unknown place'}`;
};

const products = (decision: Decision): string => decision.product ?? decision.products.join(' or ');

const suspensionSeen = ({ suspended }: Decision): string => {
  if (suspended === undefined) return '';
  return suspended === '' ? ', suspended by the seller' : `, suspended by the seller: ${suspended}`;
};

const whitelistSaw = ({ callerAddress, originHost, matchedRule }: Decision, passed: boolean): string => {
  const rule = matchedRule === undefined ? (passed ? 'the key has no rules' : 'no rule matched') : `rule ${matchedRule}`;
  return [`address ${callerAddress ?? 'unknown'}`, `origin ${originHost ?? 'none'}`, rule].join(', ');
};

/** How a test key is shown. The form of an imported key does not tell its mode. */
const TEST_PREFIX = 'tg_test';

const CHECKS: readonly Check[] = [
  {
    name: 'exactly one key is sent',
    denials: ['request_not_readable', 'ambiguous_path', 'key_missing', 'ambiguous_key', 'link_not_valid'],
    saw: key,
  },
  {
    name: 'the key exists and is active',
    denials: ['key_unknown', 'key_inactive', 'access_layer_unavailable'],
    saw: (decision, passed) =>
      decision.credentialId === undefined
        ? `${key(decision)}, not on record`
        : `key ${decision.credentialId}${passed ? '' : suspensionSeen(decision)}`,
  },
  {
    name: 'the key has not expired',
    denials: ['key_expired'],
    saw: (decision, passed) => `key ${decision.credentialId ?? 'unknown'}, ${passed ? 'valid' : 'expired'} at ${isoTime(decision)}`,
  },
  {
    name: 'the key is authorised for the product',
    denials: ['product_not_authorised'],
    saw: (decision) => `the route admits ${decision.products.join(' or ')}`,
  },
  {
    name: 'an active subscription exists',
    denials: ['subscription_missing', 'subscription_inactive'],
    saw: (decision, passed) =>
      decision.subscriptionId === undefined
        ? `none that is active${passed ? '' : suspensionSeen(decision)}`
        : `${decision.product ?? ''} ${decision.subscriptionId}`.trim(),
  },
  { name: 'the whitelist admits the caller', denials: ['caller_not_whitelisted'], saw: whitelistSaw },
  {
    name: 'the product serves keys of this mode',
    denials: ['sandbox_missing'],
    saw: (decision, passed) => (passed ? products(decision) : `a test key, and ${products(decision)} has no sandbox`),
  },
  {
    name: 'request capacity remains',
    denials: ['quota_daily_exceeded', 'quota_monthly_exceeded', 'quota_unavailable'],
    saw: ({ quota, maskedKey, keyPlace, included }) => {
      if (!quota) return keyPlace === 'link' ? 'counted when the link was made' : 'not counted';
      const counter = maskedKey?.startsWith(TEST_PREFIX) ? 'of test keys, ' : '';
      return `${counter}day ${quota.day}: ${quota.usedDaily} of ${quota.daily}${quota.isCapped ? ' (your own cap)' : ''}, month: ${quota.usedMonthly} of ${quota.monthly}${included ? `; the price includes ${included.daily} a day and ${included.monthly} a month` : ''}`;
    },
  },
];

type Remedy = string | ((decision: Decision) => string);

const callerRemedy: Remedy = ({ callerAddress, originHost }) => {
  const places = [callerAddress, originHost].filter((place) => place !== undefined);
  const addition = places.length === 0 ? 'Add a rule for the caller to the key' : `Add a rule for ${places.join(' or for ')} to the key`;
  return `${addition}, or call from a place that is listed.`;
};

/** For the customer whose key it was; every step can be done in the dashboard and with the command line. */
const REMEDIES: Record<DenialCode, Remedy> = {
  request_not_readable: 'Send fewer headers, and a query or form that is well formed.',
  ambiguous_path: 'Send the path that you mean, without dot segments, and without encoding what needs no encoding.',
  key_missing: 'Send the key in a place that this product takes it from: the header X-API-Key always is one.',
  ambiguous_key: 'Send one key, in one place, once.',
  key_unknown: 'Check the key for typing errors, or create a new one.',
  link_not_valid: 'Make another link with the key.',
  key_inactive: 'Activate the key, or create a new one if it was revoked.',
  key_expired: 'Move the expiry of the key, or create a new one. Rotating a key before it expires leaves no gap.',
  product_not_authorised: (decision) => `Authorise the key for ${products(decision)}, or use a key that is.`,
  subscription_missing: (decision) => `Subscribe to ${products(decision)}.`,
  subscription_inactive: (decision) => `Resume the subscription to ${products(decision)}, or subscribe again if it was cancelled.`,
  caller_not_whitelisted: callerRemedy,
  sandbox_missing: (decision) => `Use a live key: ${products(decision)} has no sandbox for test keys.`,
  quota_daily_exceeded: ({ quota }) =>
    quota?.isCapped
      ? 'This is the daily cap that you set yourself: raise or remove it, which counts at once, or wait for midnight in the quota time zone.'
      : 'Wait for midnight in the quota time zone, or change the plan: a higher limit counts at once.',
  quota_monthly_exceeded: 'Wait for the next month in the quota time zone, or change the plan: a higher limit counts at once.',
  access_layer_unavailable: 'Try again shortly. The key store could not answer; operators find why in the log of the plugin server.',
  quota_unavailable: 'Try again shortly. No quota store could answer; operators find why in the log of the plugin server.',
};

function isoTime({ atMs }: Decision): string {
  return new Date(atMs).toISOString();
}

function remedyOf(decision: Decision): string {
  const remedy = mendingOf(decision);
  const isOnlyRecorded = denialOf(decision.outcome) !== refusalIn(decision.outcome);
  return isOnlyRecorded ? `The request went on: its route does not enforce (enforce: false). ${remedy}` : remedy;
}

function mendingOf(decision: Decision): string {
  const code = denialOf(decision.outcome);
  if (code === undefined) return '';
  if (decision.suspended !== undefined) return 'Ask the seller to lift the suspension: nothing that a customer can do changes it.';
  const remedy = REMEDIES[code];
  return typeof remedy === 'string' ? remedy : remedy(decision);
}

/** Turns a recorded decision into the checks in the specification's order, with what each saw and why the request was refused. */
export function explainDecision(decision: KnownDecision): Explanation {
  const { outcome } = decision;
  const code = denialOf(outcome);
  const failedAt = code === undefined ? CHECKS.length : CHECKS.findIndex((check) => check.denials.includes(code));
  const checks = CHECKS.map((check, index): ExplainedCheck => {
    if (index > failedAt) return { check: check.name, outcome: 'not reached', saw: '' };
    const passed = index < failedAt;
    return { check: check.name, outcome: passed ? 'passed' : 'failed', saw: check.saw(decision, passed) };
  });
  return { requestId: decision.requestId, at: isoTime(decision), outcome, checks, remedy: remedyOf(decision) };
}
