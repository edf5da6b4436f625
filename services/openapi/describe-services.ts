import { createDocument, type ZodOpenApiOperationObject, type ZodOpenApiPathsObject } from 'zod-openapi';
import { type Catalogue } from '../../plugins/core/catalogue/catalogue';
import { type ServiceDefinition } from '../kit/service/define-service';
import { methodsOf, operationOf } from './describe-operation';
import { listErrors } from './error-table';
import { nameParts } from './name-parts';
import { COMMON_HEADERS } from './response-headers';
import { readSampleAnswers, sampleName } from './sample-answers';

const DESCRIPTION = `Every request carries an API key, counts against the daily and monthly limits of a subscription, and fails as \`application/problem+json\`. \
Any response may carry the headers of this document's components, even if an operation does not repeat them: X-Kong-Request-Id on every response, \
RateLimit, RateLimit-Policy and X-Tollgate-Charged on the API's responses to requests with a key.`;

/** Rules of our own services alone. */
const CONVENTIONS = `Parameters go in the query, a form, multipart or JSON; the body wins over the query. \`5\` and \`"5"\` are both accepted. \
A near miss of a parameter's name (another case, brackets, a plural, a hyphen for an underscore) is a 400 that names it; other unknown parameters are ignored. \
If a body stops for 5 seconds, its connection is closed without a response. A WebSocket and a play by link carry no RateLimit, RateLimit-Policy or X-Tollgate-Charged.`;

const IN_FORM = 'Also as a form field, urlencoded or multipart, if neither the headers nor the query has a key. Such a form needs a Content-Length of at most 1 MiB and must arrive within 5 seconds. URLs end up in logs: prefer a header.'; // prettier-ignore

function pathsOf(service: ServiceDefinition, baseUrl: string, catalogue: Catalogue): ZodOpenApiPathsObject {
  const product = catalogue.find(service.products[0]);
  // The product is no longer sold.
  if (!product) return {};
  const samples = readSampleAnswers(service);
  const paths: Record<string, Record<string, ZodOpenApiOperationObject>> = {};
  for (const route of service.routes) {
    const sample = samples[sampleName(route)];
    const operations = methodsOf(route).map((method) => [method, operationOf({ product, route, method, baseUrl, sample })] as const);
    paths[route.path] = { ...paths[route.path], ...Object.fromEntries(operations) };
  }
  return paths;
}

/**
 * The OpenAPI 3.1 document of some services, from the schemas that validate the requests.
 * @param baseUrl of the gateway as callers reach it, without a trailing slash
 */
export function describeServices(
  services: readonly ServiceDefinition[],
  { baseUrl, catalogue }: { readonly baseUrl: string; readonly catalogue: Catalogue },
): ReturnType<typeof createDocument> {
  const offered = catalogue.products.filter(({ routes }) => routes.length > 0);
  const document = createDocument(
    {
      openapi: '3.1.0',
      info: {
        title: 'Tollgate',
        version: '1',
        description: DESCRIPTION,
        license: { name: 'Proprietary', identifier: 'LicenseRef-Proprietary' },
      },
      servers: [{ url: baseUrl }],
      'x-conventions': CONVENTIONS,
      // For people and programs: the meaning of each code, whether it is charged, and what to do.
      'x-errors': listErrors(),
      tags: offered.map(({ id, title, description }) => ({ name: id, description: `${title}. ${description}` })),
      paths: Object.assign({}, ...services.map((service) => pathsOf(service, baseUrl, catalogue))) as ZodOpenApiPathsObject,
      components: {
        headers: COMMON_HEADERS,
        securitySchemes: {
          bearer: { type: 'http', scheme: 'bearer', description: 'Recommended.' },
          apiKeyHeader: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
          apiKeyQuery: { type: 'apiKey', in: 'query', name: 'api_key', description: IN_FORM },
        },
      },
    },
    // Transformations have no shape of their own. Readers see the input's.
    { allowEmptySchema: { transform: true, pipe: true, any: true, unknown: true, custom: true } },
  );
  return nameParts(document);
}
