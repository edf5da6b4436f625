import { z } from 'zod';
import { type Endpoints } from './endpoint';
import { givenConsent, productId } from './fields';

const HEADER_VALUE = /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+(;[\x20-\x7e]*)?$/;

/** Headers that the gateway, HTTP or the dashboard itself sets; a page may set none of them. */
const NOT_SENT =
  /^(?:authorization|cookie2|host|origin|referer|connection|keep-alive|te|trailer|transfer-encoding|upgrade|expect|forwarded|via|x-api-key|x-real-ip|content-.*|proxy-.*|sec-.*|x-forwarded-.*|x-kong-.*|x-tollgate-.*)$/i;
const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]+$/;

const headers = z
  .record(
    z.string().min(1).max(100),
    z
      .string()
      .max(2_000)
      .regex(/^[\x20-\x7e]*$/, 'must be printable ASCII'),
  )
  .refine(
    (given) => Object.keys(given).every((name) => HEADER_NAME.test(name) && !NOT_SENT.test(name)),
    'has a header that a page cannot send',
  )
  .refine((given) => Object.keys(given).length <= 20, 'may be 20 headers');

const call = z.object({
  method: z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']),
  /** A published route of the catalogue; `{…}` in it stands for any text. */
  path: z.string().max(1_000),
  /** The query as it stands behind the `?`. */
  query: z
    .string()
    .max(20_000)
    .regex(/^(?:[\w.~!$&'()*+,;=:@/?-]|%[\dA-Fa-f]{2})*$/, 'must be percent-encoded')
    .default(''),
  headers: headers.default({}),
  contentType: z.string().max(200).regex(HEADER_VALUE, 'must be a media type').optional(),
  body: z.string().optional(),
  bodyBase64: z.base64().optional(),
});

type Sent = Partial<Pick<z.output<typeof call>, 'method' | 'body' | 'bodyBase64'>>;

const ONE_BODY = { path: ['bodyBase64'], message: 'must be absent when body is given' };
const hasOneBody = ({ body, bodyBase64 }: Sent): boolean => body === undefined || bodyBase64 === undefined;
const NO_GET_WITH_BODY = { path: ['method'], message: 'must not be GET when there is a body' };
const isNoGetWithBody = ({ method, body, bodyBase64 }: Sent): boolean =>
  method !== 'GET' || (body === undefined && bodyBase64 === undefined);

/**
 * One call of the gateway on behalf of a page: with a test key of the customer's, or with the one that the dashboard keeps for trying
 * `product`. `body` is text, `bodyBase64` bytes; a GET has neither.
 */
const tryBody = call
  .extend({
    key: z
      .string()
      .max(200)
      .regex(/^tg_test_[0-9A-Za-z]+$/, 'must be a test key (tg_test_…): live keys are never entered into a page')
      .optional(),
    product: productId.optional(),
    /** Agrees to the product's text, if it has one and the caller's organisation has not agreed before. */
    consent: givenConsent,
  })
  .refine(({ key, product }) => (key === undefined) !== (product === undefined), {
    path: ['key'],
    message: 'or product must be given, and not both',
  })
  .refine(hasOneBody, ONE_BODY)
  .refine(isNoGetWithBody, NO_GET_WITH_BODY);
export type TryBody = z.output<typeof tryBody>;

/** The same for readers without an account, always with the key that the installation keeps for them. */
export const publicTryBody = call.extend({ product: productId }).refine(hasOneBody, ONE_BODY).refine(isNoGetWithBody, NO_GET_WITH_BODY);

/** The outcome. A refusal by the gateway, or no response, is an outcome too, and no failure of the dashboard. */
const tryAnswer = z.discriminatedUnion('outcome', [
  z.object({
    outcome: z.literal('answered'),
    status: z.number().int(),
    /** Names in lower case; only headers that say something about the call. */
    headers: z.record(z.string(), z.string()),
    body: z.string(),
    encoding: z.enum(['text', 'base64']),
    /** True if the body goes on after the last byte that is given here. */
    isCut: z.boolean(),
    durationMs: z.number(),
    /** For the page that explains the request. */
    requestId: z.string().nullable(),
  }),
  z.object({ outcome: z.literal('failed'), reason: z.enum(['unreachable', 'timeout']), durationMs: z.number() }),
]);
export type TryAnswer = z.input<typeof tryAnswer>;

export const tryEndpoints = {
  'POST /try': {
    for: 'members',
    needs: 'keys',
    summary: 'Try a call with a test key',
    isRead: true,
    body: tryBody,
    answer: tryAnswer,
    refuses: [
      'product_unknown',
      'product_without_limits',
      'product_not_offered',
      'consent_required',
      'consent_changed',
      'change_limit_reached',
      'key_not_usable',
      'key_limit_reached',
    ],
  },
} as const satisfies Endpoints;
