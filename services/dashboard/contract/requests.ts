import { z } from 'zod';
import { CSV, type Endpoints } from './endpoint';
import { cursor, givenMoment, id, moment } from './fields';

export type { DenialCode } from '../../../plugins/core/problems';

/** Filters on a request and its response. Unknown values match no filter. */
export const answerFilter = {
  /** Status of the response, refusals included: `429`, or a class such as `5xx`. */
  status: z
    .string()
    .regex(/^[1-5](\d\d|[xX]{2})$/, 'must be a status such as 429, or a class such as 5xx')
    .optional(),
  method: z
    .string()
    .regex(/^[A-Za-z]{1,20}$/, 'must be a method such as POST')
    .transform((method) => method.toUpperCase())
    .optional(),
  /** Beginning of the path. */
  path: z.string().min(1).max(200).startsWith('/').optional(),
  /** Responses that took more milliseconds than this. */
  slowerThanMs: z.coerce.number<number | string>().int().min(0).max(86_400_000).optional(),
};
export type AnswerFilter = z.output<z.ZodObject<typeof answerFilter>>;

/** `admitted`, `refused`, or the code of a refusal. */
export const outcomeFilter = z
  .string()
  .regex(/^[a-z_]{1,100}$/, 'must be admitted, refused, or the code of a refusal')
  .optional();

/** Filters of the log; all of them must match. */
const filter = {
  key: id.optional(),
  product: z.string().min(1).max(100).optional(),
  outcome: outcomeFilter,
  ...answerFilter,
  /** The first time included, and the first time excluded. */
  from: givenMoment.optional(),
  to: givenMoment.optional(),
};

/**
 * What was reported of the request and its response. Null: unknown, because the gateway does not report status and time, or the report was
 * lost.
 */
export const reported = {
  method: z.string().nullable(),
  /** The path without its query; cut after 200 characters. */
  path: z.string().nullable(),
  status: z.number().int().nullable(),
  /** From the first byte of the request at the gateway to the last byte of its response. */
  milliseconds: z.number().int().nullable(),
  /** Bytes of the response's body that were sent. */
  bytes: z.number().int().nullable(),
  /** Units charged, though they may have been given back. */
  units: z.number().int().nullable(),
  /** Admitted less than a minute ago, and no response reported yet. */
  isRunning: z.boolean(),
};

const request = z.object({
  requestId: z.string(),
  at: moment,
  key: z.object({ id, name: z.string().nullable(), masked: z.string().nullable() }).nullable(),
  product: z.string().nullable(),
  /** `admitted`, or the code of the refusal. */
  outcome: z.string(),
  ...reported,
  /** Whether the product failed and the units were given back; null for a refusal, and for requests older than three days. */
  givenBack: z.boolean().nullable(),
  /**
   * The listed share of comparable requests: those with this key, for this product, in the same hour, with the same outcome. 1: each is
   * listed. Null: not counted yet, as in the first seconds.
   */
  share: z.number().min(0).max(1).nullable(),
});
export type LoggedRequest = z.input<typeof request>;

const filterQuery = z.object(filter);
export type RequestFilter = z.output<typeof filterQuery>;

/**
 * Requests of the last 7 days with the customer's keys, admitted ones included, newest first. Requests are up to a second old, their
 * responses up to some seconds. With a filter on responses a page may be short although there is a next one, because each page looks
 * through a bounded number of lines.
 */
export const requestEndpoints = {
  'GET /requests': {
    for: 'members',
    needs: 'read',
    scopes: ['usage:read'],
    summary: 'Requests of the last 7 days, admitted ones too, by key, product, outcome, method, path, status, duration and time',
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
