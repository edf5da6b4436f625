import { z } from 'zod';
import { type DenialCode } from '../../../plugins/core/problems';
import { cursor, id, moment } from './fields';

export type RefusalCode = DenialCode;

/** What narrows the log down; all of it must hold. */
const filter = {
  key: id.optional(),
  product: z.string().min(1).max(100).optional(),
  /** `admitted`, `refused`, or the code of a refusal. */
  outcome: z
    .string()
    .regex(/^[a-z_]{1,100}$/, 'must be admitted, refused, or the code of a refusal')
    .optional(),
  /** Of refusals: what a product answered an admitted request is not known here. */
  status: z.coerce.number().int().min(100).max(599).optional(),
  /** The first moment that is wanted, and the first that is not. */
  from: moment.optional(),
  to: moment.optional(),
};

export const exportRequestsQuery = z.object(filter);
export type RequestFilter = z.output<typeof exportRequestsQuery>;

export const listRequestsQuery = z.object({
  ...filter,
  after: cursor.optional(),
  limit: z.coerce.number().int().min(1).max(100).default(20),
});

const request = z.object({
  requestId: z.string(),
  at: moment,
  key: z.object({ id, name: z.string().nullable(), masked: z.string().nullable() }).nullable(),
  product: z.string().nullable(),
  /** `admitted`, or the code of the refusal. */
  outcome: z.string(),
  /** Of the refusal. Null for an admitted request: what the product answered is not recorded. */
  status: z.number().int().nullable(),
  /** The product failed, and the request was given back; null for a refusal, and for what is older than three days. */
  givenBack: z.boolean().nullable(),
  /**
   * Of the requests with this key for this product that were admitted in the same hour (refused, for a refusal), the share that is listed: 1 where
   * each is. Null where they are not counted, as in the first seconds.
   */
  share: z.number().min(0).max(1).nullable(),
});
export type LoggedRequest = z.output<typeof request>;

/** Requests of the last 7 days with the customer's keys, newest first. */
export const requestPage = z.object({ requests: z.array(request), next: cursor.nullable() });
export type RequestPage = z.output<typeof requestPage>;
