import { z } from 'zod';
import { CSV, type Endpoints } from './endpoint';
import { cursor, givenMoment, id, moment } from './fields';

export type { DenialCode } from '../../../plugins/core/problems';

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
  status: z.coerce.number<number | string>().int().min(100).max(599).optional(),
  /** The first moment that is wanted, and the first that is not. */
  from: givenMoment.optional(),
  to: givenMoment.optional(),
};

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
export type LoggedRequest = z.input<typeof request>;

const filterQuery = z.object(filter);
export type RequestFilter = z.output<typeof filterQuery>;

/** Requests of the last 7 days with the customer's keys, newest first; those that went through too. Up to a second old. */
export const requestEndpoints = {
  'GET /requests': {
    for: 'members',
    needs: 'read',
    scopes: ['usage:read'],
    summary: 'Requests of the last 7 days, admitted ones too, by key, product, outcome and time',
    query: z.object({
      ...filter,
      after: cursor.optional(),
      limit: z.coerce.number<number | string>().int().min(1).max(100).default(20),
    }),
    answer: z.object({ requests: z.array(request), next: cursor.nullable() }),
  },
  'GET /requests.csv': {
    for: 'members',
    needs: 'read',
    scopes: ['usage:read'],
    summary: 'The newest 100,000 of them as CSV',
    query: filterQuery,
    file: CSV,
  },
} as const satisfies Endpoints;
