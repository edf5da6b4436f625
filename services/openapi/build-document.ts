import { z } from 'zod';
import {
  createDocument,
  type ZodOpenApiMediaTypeObject,
  type ZodOpenApiOperationObject,
  type ZodOpenApiPathsObject,
  type ZodOpenApiResponseObject,
} from 'zod-openapi';
import { type Catalogue, type CatalogueProduct } from '../../plugins/core/selling/catalogue';
import { type Route, type ServiceDefinition } from '../kit/service/define-service';
import { SERVICES } from '../registry';
import { type Failure, listErrors } from './error-table';
import { describeFields } from './field-words';
import { inputShapeOf } from './input-shape';
import { moreSuccessesOf, refusalsOf } from './route-answers';
import { exampleCalls, fileOf } from './route-example';
import { SAMPLE_ANSWERS, sampleName } from './sample-answers';
import { snippetsOf } from './snippets';

const PROBLEM = 'application/problem+json';

const problem = z
  .looseObject({
    type: z.string(),
    title: z.string(),
    status: z.number().int(),
    detail: z.string(),
    code: z.string().meta({ description: 'Stable; decide by it, not by the texts.' }),
    request_id: z.string().meta({ description: 'Equals the header X-Kong-Request-Id; the dashboard explains a refusal by it.' }),
    errors: z.array(z.object({ field: z.string(), message: z.string() })).optional(),
  })
  .meta({ id: 'Problem', description: 'RFC 9457' });

type Responses = Record<`${1 | 2 | 3 | 4 | 5}${string}`, ZodOpenApiResponseObject>;

/** By status: its codes in words, and in `x-codes` for programs. */
function problemResponses(route: Route): Responses {
  const byStatus = new Map<number, Failure[]>();
  for (const refusal of refusalsOf(route)) byStatus.set(refusal.status, [...(byStatus.get(refusal.status) ?? []), refusal]);
  return Object.fromEntries(
    [...byStatus].map(([status, refusals]) => [
      status,
      {
        description: refusals.map(({ code, title }) => `\`${code}\` ${title}`).join('; '),
        content: { [PROBLEM]: { schema: problem } },
        'x-codes': refusals.map(({ code }) => code),
      },
    ]),
  );
}

const binary = { type: 'string', format: 'binary' } as const;

/** In a form a picture is a file: its first field shows how, the others are the same in base64. */
function multipartOf({ body }: Route, schema: z.ZodObject): ZodOpenApiMediaTypeObject {
  const [field] = Object.keys(schema.shape);
  if (body?.kind !== 'files' || field === undefined) return { schema };
  return { schema: { type: 'object', required: [field], properties: { [field]: binary } } };
}

/** The shapes in which a route takes its body. */
function requestBodyOf(route: Route): NonNullable<ZodOpenApiOperationObject['requestBody']> {
  const { body } = route;
  if (body?.kind === 'upload') {
    const [field = 'file'] = body.fields;
    const multipart = { schema: { type: 'object' as const, required: [field], properties: { [field]: binary } } };
    return {
      required: true,
      content: { 'multipart/form-data': multipart, ...Object.fromEntries(body.mediaTypes.map((type) => [type, { schema: binary }])) },
    };
  }
  const schema = inputShapeOf(route.input) ?? z.object({});
  return {
    required: true,
    content: {
      'application/json': { schema },
      'application/x-www-form-urlencoded': { schema },
      'multipart/form-data': multipartOf(route, schema),
    },
  };
}

/** What a 200 holds: JSON by the route's schema, or bytes; a part of them in 206. */
function successesOf(route: Route): Responses {
  const sample = SAMPLE_ANSWERS[sampleName(route)];
  const json = route.output && { 'application/json': { schema: route.output, ...(sample !== undefined && { example: sample }) } };
  const bytes = { '/gdplay/stream': 'video/*', '/gdplay/thumbnail': 'image/*', '/image/background_remover': 'image/*' }[
    route.path as string
  ];
  const content = { ...json, ...(bytes === undefined ? {} : { [bytes]: { schema: binary } }) };
  const more = Object.entries(moreSuccessesOf(route)).map(([status, description]): [string, ZodOpenApiResponseObject] => [
    status,
    status === '304' ? { description } : { description, content },
  ]);
  return { '200': { description: 'OK', content }, ...Object.fromEntries(more) };
}

/** The operation's own example of its input, from the sandbox. */
function exampleOf(route: Route): Record<string, unknown> | undefined {
  const calls = exampleCalls(route);
  const own = calls.at(-1);
  if (!own || fileOf(own)) return undefined;
  return calls.length > 1 ? { sessionId: 'from the step before', ...own.input } : { ...own.input };
}

/** Query fields with the values of the example that they have. */
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

interface OperationOptions {
  readonly product: CatalogueProduct;
  readonly route: Route;
  readonly method: 'get' | 'post';
  readonly baseUrl: string;
}

/** What the catalogue says of a route; of an alias or a changed method nothing. */
function publishedAs({ routes }: CatalogueProduct, route: Route): CatalogueProduct['routes'][number] | undefined {
  const ofPath = routes.filter(({ path }) => path === route.path);
  return ofPath.find(({ method }) => method === route.method) ?? ofPath[0];
}

function operationOf({ product, route, method, baseUrl }: OperationOptions): ZodOpenApiOperationObject {
  const purpose = route.purpose ?? publishedAs(product, route)?.purpose ?? product.description;
  const name = route.path.replace(/^\//, '').replaceAll(/[^a-z0-9]+/gi, '_');
  const example = exampleOf(route);
  const operation: ZodOpenApiOperationObject = {
    operationId: `${method}_${name}`,
    tags: [product.id],
    summary: purpose,
    ...(route.method === 'ANY' ? { description: 'Published without a method restriction: every method is taken.' } : {}),
    security: securityOf(product),
    responses: { ...successesOf(route), ...problemResponses(route) },
    'x-codeSamples': snippetsOf(route, baseUrl).map(({ language, label, code }) => ({ lang: language, label, source: code })),
  };
  const shape = inputShapeOf(route.input);
  if (method === 'get') return shape ? { ...operation, requestParams: { query: withExamples(shape, example) } } : operation;
  const requestBody = requestBodyOf(route);
  const json = requestBody.content['application/json'];
  if (json && example) json.example = example;
  return { ...operation, ...exampleFileOf(route), requestBody };
}

/** The specification gives the app product one way only. */
function securityOf({ id }: CatalogueProduct): Record<string, string[]>[] {
  return id === 'api-app' ? [{ apiKeyHeader: [] }] : [{ apiKeyHeader: [] }, { bearer: [] }, { apiKeyQuery: [] }];
}

/** `ANY` has no word in OpenAPI: such a route stands under GET where its input may be in a URL, and under POST where it has input. */
function methodsOf(route: Route): readonly ('get' | 'post')[] {
  if (route.method !== 'ANY') return [route.method === 'GET' ? 'get' : 'post'];
  if (route.input === undefined) return ['get'];
  // What belongs in no URL is not shown in one, and pictures do not fit.
  const fitsUrl = route.bodyOnlyFields === undefined && route.body?.kind !== 'files';
  return fitsUrl ? ['get', 'post'] : ['post'];
}

function pathsOf(service: ServiceDefinition, baseUrl: string, catalogue: Catalogue): ZodOpenApiPathsObject {
  const product = catalogue.find(service.products[0]);
  // Not sold any more.
  if (!product) return {};
  const paths: Record<string, Record<string, ZodOpenApiOperationObject>> = {};
  for (const route of service.routes) {
    const operations = methodsOf(route).map((method) => [method, operationOf({ product, route, method, baseUrl })] as const);
    paths[route.path] = { ...paths[route.path], ...Object.fromEntries(operations) };
  }
  return paths;
}

/**
 * The OpenAPI 3.1 document of everything behind the gateway, from the schemas that validate the requests.
 * @param baseUrl of the gateway as callers reach it, without a slash at the end
 */
export function buildDocument(baseUrl: string, catalogue: Catalogue): ReturnType<typeof createDocument> {
  const document = createDocument(
    {
      openapi: '3.1.0',
      info: {
        title: 'Tollgate',
        version: '1',
        description: 'Every request carries an API key, counts against the daily and monthly limits of a subscription, and fails as `application/problem+json`.',
      }, // prettier-ignore
      servers: [{ url: baseUrl }],
      // For people and programs alike: what each code means, whether it is charged and what to do.
      'x-errors': listErrors(),
      tags: catalogue.products.filter(({ routes }) => routes.length > 0).map(({ id, title, description }) => ({ name: id, description: `${title}. ${description}` })), // prettier-ignore
      paths: Object.assign({}, ...Object.values(SERVICES).map((service) => pathsOf(service, baseUrl, catalogue))) as ZodOpenApiPathsObject,
      components: {
        securitySchemes: {
          bearer: { type: 'http', scheme: 'bearer', description: 'Recommended.' },
          apiKeyHeader: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
          apiKeyQuery: { type: 'apiKey', in: 'query', name: 'api_key', description: 'Also as a form field. URLs end up in logs: prefer a header.' },
        }, // prettier-ignore
      },
    },
    // Transformations have no shape of their own; readers see what goes in.
    { allowEmptySchema: { transform: true, pipe: true, any: true, unknown: true, custom: true } },
  );
  return { ...document, paths: describeFields(document.paths ?? {}) };
}
