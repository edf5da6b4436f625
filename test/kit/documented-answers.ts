import { type InjectOptions, type LightMyRequestResponse } from 'fastify';
import { type ServiceDefinition } from '../../services/kit/service/define-service';
import { describeServices } from '../../services/openapi/describe-services';
import { CATALOGUE } from '../support/catalogue';
import { codeContradictions, type HeardRefusal } from '../support/openapi/code-contradictions';
import { type DescribedDocument, DocumentedApi } from '../support/openapi/documented-api';

const documents = new Map<string, DocumentedApi>();

/** The services of the catalogue have the document; those that tests make up have none. */
const isPublished = ({ name, products }: ServiceDefinition): boolean =>
  products.every((id) => CATALOGUE.find(id) !== undefined) && products.includes(`api-${name}`);

/** The document of a service of the catalogue. */
export function documentOf(service: ServiceDefinition): DocumentedApi {
  const known = documents.get(service.name);
  if (known) return known;
  const built = describeServices([service], { baseUrl: 'https://api.example.com', catalogue: CATALOGUE });
  const api = new DocumentedApi(JSON.parse(JSON.stringify(built)) as DescribedDocument);
  documents.set(service.name, api);
  return api;
}

/**
 * What a test sees of a published route has to be what the OpenAPI document tells: status, code, media type, headers and body. A refusal has to be
 * what the pages of codes say.
 * @throws Error when it is not
 */
export function checkDocumented(service: ServiceDefinition, { url, method = 'GET' }: InjectOptions, answer: LightMyRequestResponse): void {
  if (!isPublished(service)) return;
  const path = typeof url === 'string' ? url : (url?.pathname ?? '');
  const api = documentOf(service);
  if (!api.find(method, path)) return;
  const { statusCode: status, headers, body } = answer;
  const isRefusal = status >= 400 && body !== '';
  const contradictions = [
    ...api.contradictions({ method, url: path, status, headers, body }),
    ...(isRefusal ? codeContradictions({ status, problem: JSON.parse(body) as HeardRefusal['problem'] }) : []),
  ];
  if (contradictions.length > 0)
    throw new Error(
      `${method} ${path} answered what the OpenAPI document and the pages of codes do not tell: ${contradictions.join('; ')}`,
    );
}
