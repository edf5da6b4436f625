import { type Product } from '../../../contract/plans';

/** The request of a first call. */
export type FirstRequest = NonNullable<Product['firstCall']>;

/**
 * A call that needs nothing but a key.
 * @param products of the key
 * @param first the product with which newcomers begin, tried before any other
 * @returns undefined when none of the products has such a call
 */
export function firstRequest(products: readonly Product[], first: string | null): FirstRequest | undefined {
  const callable = products.filter(({ firstCall }) => firstCall !== null);
  return (callable.find(({ id }) => id === first) ?? callable[0])?.firstCall ?? undefined;
}

/** The query after the call's `?`. */
export const queryOf = ({ query }: FirstRequest): string => new URLSearchParams(query).toString();

/** The first call as a curl command that is ready to run. */
export function firstCall(secret: string, request: FirstRequest | undefined, gatewayUrl: string): string | undefined {
  if (!request) return undefined;
  const query = queryOf(request);
  const target = `${gatewayUrl.replace(/\/$/, '')}${request.path}${query === '' ? '' : `?${query}`}`;
  return `curl ${request.method === 'POST' ? '-X POST ' : ''}-H 'X-API-Key: ${secret}' '${target}'`;
}
