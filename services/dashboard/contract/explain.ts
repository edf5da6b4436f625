import { z } from 'zod';
import { cursor, id, moment, pageSize } from './fields';

const fix = z.discriminatedUnion('kind', [
  /** To the key's whitelist: an address, or the host of an origin. */
  z.object({ kind: z.literal('add_rule'), rule: z.string() }),
  z.object({ kind: z.literal('activate_key') }),
  /** Its products or its expiry must change. */
  z.object({ kind: z.literal('open_key') }),
  z.object({ kind: z.literal('open_plans') }),
]);
export type Fix = z.output<typeof fix>;

export const explanation = z.object({
  requestId: z.string(),
  at: moment,
  /** `admitted`, or the code of the refusal. */
  outcome: z.string(),
  product: z.string().nullable(),
  keyId: id.nullable(),
  maskedKey: z.string().nullable(),
  /** In the order of the specification. */
  checks: z.array(z.object({ check: z.string(), outcome: z.enum(['passed', 'failed', 'not reached']), saw: z.string() })),
  /** How to mend it; empty for an admitted request. */
  remedy: z.string(),
  /** What can be done about it on the customer's side, the likeliest first. */
  fixes: z.array(fix),
});
export type Explanation = z.output<typeof explanation>;

/** A request id as answers carry it: lower case, also when somebody wrote it down otherwise. */
export const requestIdParams = z.object({ requestId: z.string().trim().toLowerCase().min(1).max(100) });

export const listRefusalsQuery = z.object({ after: cursor.optional(), limit: pageSize, key: id.optional() });

/** Refused requests of the last 7 days, newest first. */
export const refusalPage = z.object({
  refusals: z.array(
    z.object({
      requestId: z.string(),
      at: moment,
      code: z.string(),
      product: z.string().nullable(),
      keyId: id.nullable(),
      maskedKey: z.string().nullable(),
      callerAddress: z.string().nullable(),
      originHost: z.string().nullable(),
    }),
  ),
  next: cursor.nullable(),
});
export type RefusalPage = z.output<typeof refusalPage>;
