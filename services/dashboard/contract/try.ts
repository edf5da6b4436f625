import { z } from 'zod';
import { productId } from './fields';

const HEADER_VALUE = /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+(;[\x20-\x7e]*)?$/;

/**
 * One call of the gateway, made on behalf of a page: with a test key of the customer's, or with the one that the dashboard keeps for trying
 * out `product`. `body` is text, `bodyBase64` bytes; a GET has neither.
 */
export const tryBody = z
  .object({
    key: z
      .string()
      .max(200)
      .regex(/^tg_test_[0-9A-Za-z]+$/, 'must be a test key (tg_test_…): live keys are never entered into a page')
      .optional(),
    product: productId.optional(),
    method: z.enum(['GET', 'POST']),
    /** A route that the catalogue publishes; one with `{…}` in it takes any text there. */
    path: z.string().max(1_000),
    query: z.record(z.string().min(1).max(100), z.string().max(10_000)).default({}),
    contentType: z.string().max(200).regex(HEADER_VALUE, 'must be a media type').optional(),
    body: z.string().optional(),
    bodyBase64: z.base64().optional(),
  })
  .refine(({ key, product }) => (key === undefined) !== (product === undefined), {
    path: ['key'],
    message: 'or product must be given, and not both',
  })
  .refine(({ body, bodyBase64 }) => body === undefined || bodyBase64 === undefined, {
    path: ['bodyBase64'],
    message: 'must be absent when body is given',
  })
  .refine(({ method, body, bodyBase64 }) => method === 'POST' || (body === undefined && bodyBase64 === undefined), {
    path: ['method'],
    message: 'must be POST when there is a body',
  });
export type TryBody = z.output<typeof tryBody>;

/** What came of it. That the gateway refused or did not answer is a result, not a failure of the dashboard. */
export const tryAnswer = z.discriminatedUnion('outcome', [
  z.object({
    outcome: z.literal('answered'),
    status: z.number().int(),
    /** Lower-case names; those that say something about the call. */
    headers: z.record(z.string(), z.string()),
    body: z.string(),
    encoding: z.enum(['text', 'base64']),
    /** True when the body went on after the last byte that is given here. */
    isCut: z.boolean(),
    durationMs: z.number(),
    /** For the page that explains a request. */
    requestId: z.string().nullable(),
  }),
  z.object({ outcome: z.literal('failed'), reason: z.enum(['unreachable', 'timeout']), durationMs: z.number() }),
]);
export type TryAnswer = z.output<typeof tryAnswer>;
