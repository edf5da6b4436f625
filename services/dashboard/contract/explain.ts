import { z } from 'zod';
import { type Endpoints } from './endpoint';
import { cursor, id, moment, pageSize } from './fields';

const fix = z.discriminatedUnion('kind', [
  /** An entry for the key's whitelist: an address, or the host of an origin. */
  z.object({ kind: z.literal('add_rule'), rule: z.string() }),
  z.object({ kind: z.literal('activate_key') }),
  /** The key's products or its expiry must change. */
  z.object({ kind: z.literal('open_key') }),
  z.object({ kind: z.literal('open_plans') }),
  z.object({ kind: z.literal('open_status') }),
  /** Only the seller can mend it. */
  z.object({ kind: z.literal('ask_support') }),
  /** Nothing in the account helps: the request itself must change. */
  z.object({ kind: z.literal('read_code'), code: z.string() }),
]);
export type Fix = z.input<typeof fix>;

export const explanation = z.object({
  requestId: z.string(),
  at: moment,
  /** `admitted`, or the code of the refusal. */
  outcome: z.string(),
  /** What the caller got, whose request it was and what it cost, in one line. */
  summary: z.string(),
  keyId: id.nullable(),
  maskedKey: z.string().nullable(),
  /** What the gateway responded; null until it is reported. Time, size and units are null for a refusal. */
  answer: z
    .object({
      status: z.number().int(),
      milliseconds: z.number().int().nullable(),
      bytes: z.number().nullable(),
      units: z.number().int().nullable(),
      /** `settled`: the response said how much it cost. `unknown`: more than three days ago. */
      charge: z.enum(['none', 'charged', 'given_back', 'settled', 'unknown']),
    })
    .nullable(),
  /** The response may still be reported. */
  isRunning: z.boolean(),
  /** The product at that time: since when it was failing, and until when. */
  product: z
    .object({ id: z.string(), title: z.string(), failing: z.boolean(), since: moment.nullable(), until: moment.nullable() })
    .nullable(),
  /** Checks in the order of the specification. */
  checks: z.array(z.object({ check: z.string(), outcome: z.enum(['passed', 'failed', 'not reached']), saw: z.string() })),
  /** How to mend it; empty for a request that succeeded. */
  remedy: z.string(),
  /** What the customer can do about it, the likeliest first. */
  fixes: z.array(fix),
});
export type Explanation = z.input<typeof explanation>;

/** A request id as responses carry it: in lower case, however it was typed. */
export const requestIdParams = { requestId: z.string().trim().toLowerCase().min(1).max(100) };

/** A refused request. */
export const refusedRequest = z.object({
  requestId: z.string(),
  at: moment,
  code: z.string(),
  product: z.string().nullable(),
  keyId: id.nullable(),
  maskedKey: z.string().nullable(),
  callerAddress: z.string().nullable(),
  originHost: z.string().nullable(),
});

/** Why requests were refused, for 7 days. */
export const explainEndpoints = {
  'GET /explain/:requestId': {
    for: 'members',
    needs: 'read',
    scopes: ['usage:read'],
    summary: 'Why a request was admitted or refused',
    params: requestIdParams,
    answer: explanation,
    refuses: ['request_unknown'],
  },
  'GET /refusals': {
    for: 'members',
    needs: 'read',
    scopes: ['usage:read'],
    summary: 'Refused requests of the last 7 days',
    query: z.object({ after: cursor.optional(), limit: pageSize, key: id.optional() }),
    /** Newest first. */
    answer: z.object({ refusals: z.array(refusedRequest), next: cursor.nullable() }),
  },
} as const satisfies Endpoints;
