import { z } from 'zod';
import { type ZodOpenApiMediaTypeObject, type ZodOpenApiResponseObject } from 'zod-openapi';
import { type Route } from '../kit/service/define-service';
import { type Failure } from './error-table';
import { type COMMON_HEADERS, headersOf } from './response-headers';
import { refusalsOf } from './route-answers';
import { CUT_NOTE } from './sample-answers';

const PROBLEM = 'application/problem+json';

const problem = z
  .looseObject({
    type: z.string().meta({ description: 'The page of the code; about:blank if the seller has none.' }),
    title: z.string(),
    status: z.number().int(),
    detail: z.string(),
    code: z.string().meta({ description: 'Stable: decide by it, not by the texts.' }),
    request_id: z.string().meta({ description: 'Equals the header X-Kong-Request-Id; the dashboard explains a refusal by it.' }),
    help: z.string().optional().meta({ description: 'The page that explains this request.' }),
    upgrade: z.string().optional().meta({ description: 'Where a larger plan is sold, in a 429 for a limit of the plan.' }),
    errors: z.array(z.object({ field: z.string(), message: z.string() })).optional(),
  })
  .meta({ id: 'Problem', description: 'RFC 9457' });

/** Kong's templates do not know the status. */
const gatewayProblem = problem
  .omit({ status: true, errors: true, help: true, upgrade: true })
  .meta({ id: 'GatewayProblem', description: 'The gateway’s own response: JSON, or the HTML, plain text or XML that Accept asks for.' });

const OF_GATEWAY = { 'application/json': { schema: gatewayProblem } };

export type Responses = Record<`${1 | 2 | 3 | 4 | 5}${string}`, ZodOpenApiResponseObject>;

export const BINARY = { type: 'string', format: 'binary' } as const;

const common = (...names: (keyof typeof COMMON_HEADERS)[]): Record<string, { $ref: `#/components/headers/${string}` }> =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` as const }]));

/** References to the headers in the document's components, where programs look for them. */
function commonOf(status: number): ReturnType<typeof common> {
  const limits = status === 200 || status === 206 || status === 429 ? common('RateLimit', 'RateLimit-Policy') : {};
  if (status < 400) return { ...limits, ...common('X-Tollgate-Charged', 'X-Tollgate-Mode') };
  return { ...limits, ...common('X-Kong-Request-Id'), ...(status >= 500 && common('X-Tollgate-Charged', 'X-Tollgate-Refund')) };
}

/** A response with the headers that it may have. */
function withHeaders(response: ZodOpenApiResponseObject, route: Route, status: number): ZodOpenApiResponseObject {
  return { ...response, headers: { ...(status !== 101 && commonOf(status)), ...headersOf(status), ...route.headers?.[status] } };
}

/** Problems by status. Their codes are in the text for people, and in `x-codes` for programs. */
function problemResponses(route: Route): Responses {
  const byStatus = new Map<number, Failure[]>();
  for (const refusal of refusalsOf(route)) byStatus.set(refusal.status, [...(byStatus.get(refusal.status) ?? []), refusal]);
  return Object.fromEntries(
    [...byStatus].map(([status, refusals]) => {
      const description = refusals.map(({ code, title }) => `\`${code}\` ${title}`).join('; ');
      const codes = refusals.map(({ code }) => code);
      const content = { [PROBLEM]: { schema: problem }, ...(codes.includes('gateway_error') && OF_GATEWAY) };
      const response = { description, content, 'x-codes': codes };
      return [status, withHeaders(response, route, status)];
    }),
  );
}

/** A response in JSON, with a test key's response as its example. */
function jsonOf(schema: z.ZodType, sample: unknown): ZodOpenApiMediaTypeObject {
  if (sample === undefined) return { schema };
  return { schema, examples: { sandbox: { summary: 'Response to a test key', description: CUT_NOTE, value: sample } } };
}

/** The content of a success: JSON by the route's schema, or bytes; part of the bytes in a 206. */
function successesOf(route: Route, sample: unknown): Responses {
  const content = {
    ...(route.output && { 'application/json': jsonOf(route.output, sample) }),
    ...Object.fromEntries((route.mediaTypes ?? []).map((type) => [type, { schema: BINARY }])),
  };
  const more = Object.entries(route.moreSuccesses ?? {}).map(([status, description]): [string, ZodOpenApiResponseObject] => {
    const response = status === '206' ? { description, content } : { description };
    return [status, withHeaders(response, route, Number(status))];
  });
  return { '200': withHeaders({ description: 'OK', content }, route, 200), ...Object.fromEntries(more) };
}

/**
 * Every response of a route, by status.
 * @param sample a test key's response to the route's example, if one was recorded
 */
export function answersOf(route: Route, sample: unknown): Responses {
  return { ...successesOf(route, sample), ...problemResponses(route) };
}
