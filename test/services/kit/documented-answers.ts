import { type InjectOptions, type LightMyRequestResponse } from 'fastify';
import { type Route } from '../../../services/kit/service/define-service';
import { PRODUCTS } from '../../support/catalogue';
import { moreSuccessesOf, refusalsOf } from '../../../services/openapi/route-answers';

const products = new Set<string>(PRODUCTS.map(({ id }) => id));

interface Checked {
  readonly name: string;
  readonly products: readonly string[];
  readonly routes: readonly Pick<Route, 'path' | 'method'>[];
}

/** The services of the catalogue have the document; those that tests make up have none. */
const isPublished = ({ name, products: admitted }: Checked): boolean =>
  admitted.every((id) => products.has(id)) && admitted.includes(`api-${name}`);

function codeOf(answer: LightMyRequestResponse): string | undefined {
  if (!String(answer.headers['content-type']).startsWith('application/problem+json') || answer.body === '') return undefined;
  return answer.json<{ code: string }>().code;
}

/**
 * What a test sees of a published route has to stand in the OpenAPI document.
 * @throws Error when it does not
 */
export function checkDocumented(service: Checked, { url, method = 'GET' }: InjectOptions, answer: LightMyRequestResponse): void {
  const path = String(typeof url === 'string' ? url : (url?.pathname ?? ''))
    .replace(/[?#].*$/s, '')
    .replace(/(?<=.)\/$/, '');
  const ofPath = service.routes.filter((each) => each.path === path);
  const route = (ofPath.find((each) => each.method === method) ?? ofPath[0]) as Route | undefined;
  if (!route || !isPublished(service)) return;
  const { statusCode: status } = answer;
  const code = codeOf(answer);
  const isSuccess = status === 200 || String(status) in moreSuccessesOf(route) || (status === 204 && method === 'OPTIONS');
  const isRefusal = refusalsOf(route).some((each) => each.status === status && (code === undefined || each.code === code));
  if (!isSuccess && !isRefusal)
    throw new Error(`${method} ${path} answered ${status} ${code ?? ''}, which the OpenAPI document does not tell`);
}
