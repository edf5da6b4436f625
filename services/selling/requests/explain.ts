import { describeRate } from '../../../plugins/core/access/rate';
import { type Decision } from '../../../plugins/core/ports';
import { denialOf, type DenialCode, refusalIn } from '../../../plugins/core/problems';
import { type KnownRequest } from './known-request';
import { answerOf, apiOf, type ExplainedAnswer, faultOf, isAwaited, summaryOf } from './response-story';

/** One line of an explanation: a check, its result, and what it saw. */
export interface ExplainedCheck {
  readonly check: string;
  readonly outcome: 'passed' | 'failed' | 'not reached';
  readonly saw: string;
}

/** What a customer can do about a request at once. */
export type Fix =
  /** An entry for the key's whitelist: an address, or the host of an origin. */
  | { readonly kind: 'add_rule'; readonly rule: string }
  | { readonly kind: 'activate_key' }
  /** The key's products or its expiry must change. */
  | { readonly kind: 'open_key' }
  | { readonly kind: 'open_plans' }
  | { readonly kind: 'open_status' }
  /** Only the seller can resolve it. */
  | { readonly kind: 'ask_support' }
  /** Nothing in the account helps: the request itself must change. */
  | { readonly kind: 'read_code'; readonly code: string };

/** The product as it was at the time of the request. Times are ISO 8601, UTC. */
export interface ExplainedProduct {
  readonly id: string;
  readonly title: string;
  /** True if there was an outage. */
  readonly failing: boolean;
  readonly since: string | null;
  /** End of the outage; null while it continues, and without an outage. */
  readonly until: string | null;
}

export interface Explanation {
  readonly requestId: string;
  /** ISO 8601, UTC. */
  readonly at: string;
  readonly outcome: Decision['outcome'];
  /** Says what the caller got, who made the request and what it cost. */
  readonly summary: string;
  readonly keyId: string | null;
  readonly maskedKey: string | null;
  readonly checks: readonly ExplainedCheck[];
  /** Null until the gateway reports it. */
  readonly answer: ExplainedAnswer | null;
  /** The response may still be reported. */
  readonly isRunning: boolean;
  readonly product: ExplainedProduct | null;
  /** The change that would make the request succeed; empty if it did. */
  readonly remedy: string;
  /** The likeliest first. Empty for a seller, because only the customer can apply them. */
  readonly fixes: readonly Fix[];
}

interface Check {
  readonly name: string;
  /** Denials that mean this check failed. */
  readonly denials: readonly DenialCode[];
  readonly saw: (decision: KnownRequest, passed: boolean) => string;
}

const key = (decision: Decision): string => {
  if (decision.keyPlace === 'link') return 'a link in its place';
  return decision.maskedKey === undefined ? 'no key' : `${decision.maskedKey} in ${decision.keyPlace ?? 'an unknown place'}`;
};

/** The product as people know it, with the id that commands use. A route may admit several, of which the title names one. */
const products = ({ product, products: admitted, productTitle }: KnownRequest): string => {
  const ids = product ?? admitted.join(' or ');
  const isOne = product !== undefined || admitted.length === 1;
  return productTitle !== undefined && isOne ? `${productTitle} (${ids})` : ids;
};

const suspensionSeen = ({ suspended }: Decision): string => {
  if (suspended === undefined) return '';
  return suspended === '' ? ', suspended by the seller' : `, suspended by the seller: ${suspended}`;
};

const whitelistSaw = ({ callerAddress, originHost, matchedRule }: Decision, passed: boolean): string => {
  const rule = matchedRule === undefined ? (passed ? 'the key has no rules' : 'no rule matched') : `rule ${matchedRule}`;
  return [`address ${callerAddress ?? 'unknown'}`, `origin ${originHost ?? 'none'}`, rule].join(', ');
};

/** Prefix of a shown test key. The form of an imported key does not show its mode. */
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
    saw: (decision, passed) => {
      if (decision.credentialId !== undefined) return `key ${decision.credentialId}${passed ? '' : suspensionSeen(decision)}`;
      return `${key(decision)}, ${decision.outcome === 'access_layer_unavailable' ? 'which could not be looked up' : 'not on record'}`;
    },
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
    denials: ['quota_daily_exceeded', 'quota_monthly_exceeded', 'rate_exceeded', 'quota_unavailable'],
    saw: ({ quota, maskedKey, keyPlace, included, outcome }) => {
      if (!quota && outcome === 'quota_unavailable') return 'usage could not be read';
      if (!quota) return keyPlace === 'link' ? 'counted when the link was made' : 'not counted';
      const counter = maskedKey?.startsWith(TEST_PREFIX) ? 'of test keys, ' : '';
      const rate = quota.rate ? `; ${describeRate(quota.rate)}` : '';
      return `${counter}day ${quota.day}: ${quota.usedDaily} of ${quota.daily}${quota.isCapped ? ' (your own cap)' : ''}, month: ${quota.usedMonthly} of ${quota.monthly}${included ? `; the price includes ${included.daily} a day and ${included.monthly} a month` : ''}${rate}`;
    },
  },
];

type Remedy = string | ((request: KnownRequest) => string);

const callerRemedy: Remedy = ({ callerAddress, originHost }) => {
  const places = [callerAddress, originHost].filter((place) => place !== undefined);
  const addition = places.length === 0 ? 'Add a rule for the caller to the key' : `Add a rule for ${places.join(' or for ')} to the key`;
  return `${addition}, or call from a place that is listed.`;
};

/** For the customer who has the key; every step can be done in the dashboard and with the command line. */
const REMEDIES: Record<DenialCode, Remedy> = {
  request_not_readable: 'Send fewer headers, and a query or form that is well formed.',
  ambiguous_path: 'Send the path that you mean, without dot segments and unnecessary encoding.',
  key_missing: 'Send the key in a place that this product accepts: the header X-API-Key is always one.',
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
      ? 'This is the daily cap that you set yourself: raise or remove it, which takes effect at once, or wait for midnight in the quota time zone.'
      : 'Wait for midnight in the quota time zone, or change the plan: a higher limit takes effect at once.',
  quota_monthly_exceeded: 'Wait for the next month in the quota time zone, or change the plan: a higher limit takes effect at once.',
  rate_exceeded:
    'Wait for the number of seconds in Retry-After, and spread requests: the rate holds for all keys of the subscription together. Another plan may have a higher one.',
  access_layer_unavailable: 'Try again shortly. The key store did not respond; the log of the plugin server says why.',
  quota_unavailable: 'Try again shortly. No quota store responded; the log of the plugin server says why.',
};

function isoTime({ atMs }: Decision): string {
  return new Date(atMs).toISOString();
}

/** Who reads the explanation: the customer who made the request, or the people who sell and run the API. */
export type Reader = 'customer' | 'seller';

const SEND_AGAIN = 'If it is safe to send again, do so shortly, waiting longer each time';

function answeredRemedy(request: KnownRequest, reader: Reader): string {
  const api = apiOf(request);
  switch (faultOf(request)) {
    case 'none':
      return '';
    case 'caller':
      return 'Change the request: the body of the response says what was wrong with it.';
    case 'api':
      return reader === 'customer'
        ? `${SEND_AGAIN}. If it fails again, send the request ID to the seller.`
        : `Look for the request ID in the log of ${api}.`;
    case 'unanswered':
      return reader === 'customer'
        ? `${SEND_AGAIN}: ${api} may have begun with it.`
        : `Check that ${api} runs and can be reached from the gateway.`;
  }
}

function remedyOf(request: KnownRequest, reader: Reader): string {
  const code = denialOf(request.outcome);
  if (code === undefined) return answeredRemedy(request, reader);
  const remedy = mendingOf(request, code);
  const isOnlyRecorded = code !== refusalIn(request.outcome);
  return isOnlyRecorded ? `The request was let through: its route does not enforce (enforce: false). ${remedy}` : remedy;
}

function mendingOf(request: KnownRequest, code: DenialCode): string {
  if (request.suspended !== undefined) return 'Do what the reason of the suspension asks for, or contact the seller, who can lift it.';
  const remedy = REMEDIES[code];
  return typeof remedy === 'string' ? remedy : remedy(request);
}

function keyFixes({ outcome, credentialId, suspended, callerAddress, originHost }: KnownRequest): Fix[] {
  if (credentialId === undefined || suspended !== undefined) return [];
  switch (outcome) {
    case 'caller_not_whitelisted':
      // A caller that sends an origin is a browser, whose address belongs to its user and changes.
      return [originHost, callerAddress].flatMap((rule) => (rule === undefined ? [] : [{ kind: 'add_rule' as const, rule }]));
    case 'key_inactive':
      return [{ kind: 'activate_key' }];
    case 'key_expired':
    case 'product_not_authorised':
      return [{ kind: 'open_key' }];
    case 'subscription_missing':
    case 'subscription_inactive':
    case 'quota_daily_exceeded':
    case 'quota_monthly_exceeded':
    case 'rate_exceeded':
      return [{ kind: 'open_plans' }];
    default:
      return [];
  }
}

function fixesOf(request: KnownRequest): Fix[] {
  const code = denialOf(request.outcome);
  if (code === undefined) {
    const fault = faultOf(request);
    return fault === 'api' || fault === 'unanswered' ? [{ kind: 'open_status' }, { kind: 'ask_support' }] : [];
  }
  if (request.suspended !== undefined) return [{ kind: 'ask_support' }];
  const fixes = keyFixes(request);
  return fixes.length > 0 ? fixes : [{ kind: 'read_code', code }];
}

function productOf({ product, products, productTitle, outage }: KnownRequest): ExplainedProduct | null {
  const id = product ?? products[0];
  if (id === undefined) return null;
  return { id, title: productTitle ?? id, failing: outage !== undefined, since: outage?.since ?? null, until: outage?.until ?? null };
}

function checksOf(request: KnownRequest): ExplainedCheck[] {
  const code = denialOf(request.outcome);
  const failedAt = code === undefined ? CHECKS.length : CHECKS.findIndex((check) => check.denials.includes(code));
  return CHECKS.map((check, index): ExplainedCheck => {
    if (index > failedAt) return { check: check.name, outcome: 'not reached', saw: '' };
    const passed = index < failedAt;
    return { check: check.name, outcome: passed ? 'passed' : 'failed', saw: check.saw(request, passed) };
  });
}

/**
 * The full explanation of a request: the response that its caller got, every check in the specification's order, the product at that time,
 * and the remedy.
 */
export function explainRequest(request: KnownRequest, { reader, nowMs }: { readonly reader: Reader; readonly nowMs: number }): Explanation {
  const { requestId, outcome, credentialId, maskedKey } = request;
  return {
    requestId,
    at: isoTime(request),
    outcome,
    summary: summaryOf(request, reader === 'customer' ? 'Your request' : 'The request', nowMs),
    keyId: credentialId ?? null,
    maskedKey: maskedKey ?? null,
    checks: checksOf(request),
    answer: answerOf(request, nowMs) ?? null,
    isRunning: isAwaited(request, nowMs),
    product: productOf(request),
    remedy: remedyOf(request, reader),
    fixes: reader === 'customer' ? fixesOf(request) : [],
  };
}
