import { z } from 'zod';
import { type ZodOpenApiMediaTypeObject, type ZodOpenApiOperationObject, type ZodOpenApiResponseObject } from 'zod-openapi';
import { type CatalogueProduct } from '../../plugins/core/catalogue/catalogue';
import { type Route } from '../kit/service/define-service';
import { type ProblemCode } from '../../plugins/core/problems';
import { securityOf } from './product-paths';
import { exampleCalls, fileOf } from './route-example';
import { snippetsOf } from './route-snippets';
import { asCodeSamples } from './snippets';
import { type DocumentedFailure, ACCESS_DENIALS, failureOf, GATEWAY_FAILURES, ownFailureOf } from './error-table';
import { type COMMON_HEADERS, headersOf } from './response-headers';
import { CUT_NOTE } from './sample-answers';

/** The key as a form field. No other body may have it among its parameters. */
const API_KEY = z
  .string()
  .optional()
  .describe('Your API key, if you send it neither in a header nor in the query. Such a form needs a Content-Length of at most 1 MiB.');

const takesKeyInForm = ({ keyIn }: CatalogueProduct): boolean => keyIn === undefined || keyIn.includes('form');

/** In a multipart form an image is a file: the first field becomes one, and the second, which takes the same image, is left out. */
function multipartOf({ body }: Route, schema: z.ZodObject): ZodOpenApiMediaTypeObject {
  const [field, twin] = Object.keys(schema.shape);
  if (body?.kind !== 'files' || field === undefined || twin === undefined) return { schema };
  const { [field]: text, [twin]: _same, ...others } = schema.shape;
  const description = (text as z.ZodType).description;
  return { schema: z.object({ [field]: z.any().meta({ override: { ...BINARY, description } }), ...others }) };
}

/** Leaves out fields that differ from an earlier field only in case, because many languages would give both the same name. */
function withoutTwins(schema: z.ZodObject): z.ZodObject {
  const fields = Object.entries(schema.shape);
  const first = new Map(fields.toReversed().map(([name]) => [name.toLowerCase(), name]));
  if (first.size === fields.length) return schema;
  return z.object(Object.fromEntries(fields.filter(([name]) => first.get(name.toLowerCase()) === name)));
}

/** The forms in which a route takes its body. */
function requestBodyOf(route: Route, product: CatalogueProduct): NonNullable<ZodOpenApiOperationObject['requestBody']> {
  const { body } = route;
  if (body?.kind === 'upload') {
    const [field = 'file'] = body.fields;
    const file = { ...BINARY, ...(body.described !== undefined && { description: body.described }) };
    const multipart = { schema: { type: 'object' as const, required: [field], properties: { [field]: file } } };
    return {
      required: true,
      content: { 'multipart/form-data': multipart, ...Object.fromEntries(body.mediaTypes.map((type) => [type, { schema: BINARY }])) },
    };
  }
  const schema = withoutTwins(inputShapeOf(route.input) ?? z.object({}));
  const form = takesKeyInForm(product) ? schema.extend({ api_key: API_KEY }) : schema;
  return {
    required: true,
    content: {
      'application/json': { schema },
      'application/x-www-form-urlencoded': { schema: form },
      'multipart/form-data': multipartOf(route, form),
    },
  };
}

/** Stands for a value that comes from the previous call. */
const FROM_BEFORE = 'from the previous step';

/** The operation's example of its input, from the sandbox. A file is shown by its name, and in a URL by its base64. */
function exampleOf(route: Route, method: 'get' | 'post'): Record<string, unknown> | undefined {
  const calls = exampleCalls(route);
  const own = calls.at(-1);
  if (!own || (method === 'post' && fileOf(own))) return undefined;
  return calls.length > 1 ? { sessionId: FROM_BEFORE, ...own.input } : { ...own.input };
}

/** Query fields, each with its value in the example, if it has one. */
function withExamples(shape: z.ZodObject, example: Readonly<Record<string, unknown>> = {}): z.ZodObject {
  const fields = Object.entries(shape.shape).map(([name, field]) => {
    if (!(name in example) || !(field instanceof z.ZodType)) return [name, field] as const;
    return [name, field.meta({ ...field.meta(), param: { example: example[name] } })] as const;
  });
  return z.object(Object.fromEntries(fields));
}

/** The file to upload in an example: a few hundred bytes, so that a page can send it. */
function exampleFileOf(route: Route): { 'x-exampleFile'?: { filename: string; contentType: string; base64: string } } {
  const call = exampleCalls(route).at(-1);
  const file = call && fileOf(call);
  return file ? { 'x-exampleFile': { filename: file.filename, contentType: file.content_type, base64: file.base64 } } : {};
}

/** Fields that are sent but may not be in a URL. */
function bodyOnlyFieldsOf({ input, bodyOnlyFields = [] }: Route): readonly string[] {
  const fields = Object.keys(inputShapeOf(input)?.shape ?? {});
  return bodyOnlyFields.filter((field) => fields.includes(field));
}

/** The cost of a request, if it depends on what was done. */
function costOf({ units }: Route): string | undefined {
  if (!units) return undefined;
  return (
    `Costs a unit for each ${units.each}, and at least one unit. ${units.most} units are reserved before the work, so your limits must have ` +
    'as many left; unused units are given back with the response.'
  );
}

/** What the route does, and whatever neither the schemas nor the table of errors can express. */
function descriptionOf(route: Route): string | undefined {
  const [secret] = bodyOnlyFieldsOf(route);
  const methods =
    secret === undefined
      ? 'Takes every method.'
      : `Takes every method with a body. GET and HEAD have none and get 400: \`${secret}\` may not be in a URL.`;
  const parts = [route.does, costOf(route), ...(route.method === 'ANY' ? [methods] : []), route.notes];
  return parts.filter((part) => part !== undefined).join('\n\n') || undefined;
}

/** The frames of a route that can be upgraded to a WebSocket: a JSON schema for each side. */
function webSocketOf({ frames }: Route): object {
  if (!frames) return {};
  const schemaOf = (frame: z.ZodType): unknown => z.toJSONSchema(frame, { io: 'input' });
  return { 'x-webSocket': { sent: schemaOf(frames.sent), received: schemaOf(frames.received) } };
}

/** The catalogue's entry for a route; undefined for an alias or a changed method. */
function publishedAs({ routes }: CatalogueProduct, route: Route): CatalogueProduct['routes'][number] | undefined {
  const ofPath = routes.filter(({ path }) => path === route.path);
  return ofPath.find(({ method }) => method === route.method) ?? ofPath[0];
}

interface OperationOptions {
  readonly product: CatalogueProduct;
  readonly route: Route;
  readonly method: 'get' | 'post';
  readonly baseUrl: string;
  /** A test key's response to the route's example, if one was recorded. */
  readonly sample: unknown;
}

/** One way to call a route. */
export function operationOf({ product, route, method, baseUrl, sample }: OperationOptions): ZodOpenApiOperationObject {
  const name = route.path.replace(/^\//, '').replaceAll(/[^a-z0-9]+/gi, '_');
  const description = descriptionOf(route);
  const operation: ZodOpenApiOperationObject = {
    operationId: `${method}_${name}`,
    tags: [product.id],
    summary: route.purpose ?? publishedAs(product, route)?.purpose ?? product.description,
    ...(description !== undefined && { description }),
    security: securityOf(product),
    responses: answersOf(route, sample),
    ...webSocketOf(route),
    'x-codeSamples': asCodeSamples(snippetsOf(route, baseUrl)),
  };
  const shape = inputShapeOf(route.input);
  const example = exampleOf(route, method);
  if (method === 'get') return shape ? { ...operation, requestParams: { query: withExamples(shape, example) } } : operation;
  const requestBody = requestBodyOf(route, product);
  const json = requestBody.content['application/json'];
  if (json && example) json.example = example;
  return { ...operation, ...exampleFileOf(route), requestBody };
}

/** OpenAPI has no word for `ANY`: such a route is listed under GET if its input may be in a URL, and under POST if it has input. */
export function methodsOf(route: Route): readonly ('get' | 'post')[] {
  if (route.method !== 'ANY') return [route.method === 'GET' ? 'get' : 'post'];
  if (route.input === undefined) return ['get'];
  // Fields that may not be in a URL are not shown in one.
  return route.bodyOnlyFields === undefined ? ['get', 'post'] : ['post'];
}

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

type Responses = Record<`${1 | 2 | 3 | 4 | 5}${string}`, ZodOpenApiResponseObject>;

const BINARY = { type: 'string', format: 'binary' } as const;

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
  const byStatus = new Map<number, DocumentedFailure[]>();
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
function answersOf(route: Route, sample: unknown): Responses {
  return { ...successesOf(route, sample), ...problemResponses(route) };
}

/** The object that a route's input schema checks, found behind refinements and transformations; undefined if there is none. */
export function inputShapeOf(schema: unknown): z.ZodObject | undefined {
  if (schema instanceof z.ZodObject) return schema;
  if (schema instanceof z.ZodPipe) return inputShapeOf(schema.def.in);
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodReadonly) {
    return inputShapeOf(schema.def.innerType);
  }
  return undefined;
}

/** Whether the route reads a body: GET bodies are ignored. */
function readsBody({ method, body }: Route): boolean {
  return method !== 'GET' && body?.kind !== 'ignored';
}

/** Every status and code with which a route can refuse or fail, as callers see them. */
export function refusalsOf(route: Route): readonly DocumentedFailure[] {
  const codes: ProblemCode[] = ['invalid_request', ...ACCESS_DENIALS, 'gateway_proof_missing', 'processing_failed', 'service_not_ready'];
  if (route.method !== 'ANY') codes.push('method_not_allowed');
  if (route.validationStatus === 422) codes.push('validation_failed');
  if (readsBody(route)) codes.push('payload_too_large', 'media_type_unsupported');
  if (!isIndex(route)) codes.push('upstream_failed', 'upstream_timeout', 'upstream_not_configured');
  if (!route.isLight) codes.push('concurrency_exceeded');
  const all = [...codes.map(failureOf), ...(route.fails ?? []).map(ownFailureOf), ...GATEWAY_FAILURES];
  return [...new Map(all.map((each) => [`${each.status} ${each.code}`, each])).values()];
}

/** Light routes that call no upstream. */
function isIndex({ isLight, path }: Route): boolean {
  return isLight === true && !path.endsWith('/health');
}
