import { type Endpoint, type EndpointName, partsOf } from '../../contract/endpoint';
import { contract } from '../../contract/endpoints';
import { type SellerScope } from '../../contract/fields';
import { describeApi, type TokenOperation } from '../../customer/management/management-document';

/** One endpoint of the pages that a token of the seller's API may use. */
export interface SellerOperation extends TokenOperation<SellerScope> {
  /** Name in the contract, by which its handler is found. */
  readonly origin: EndpointName;
}

/** Path of a customer. Below it are the requests of the customer's own pages. */
const CUSTOMER = '/customers/:customer';

function pathOf(origin: EndpointName, { for: audience }: Endpoint): EndpointName {
  const { method, path } = partsOf(origin);
  return audience === 'members' ? `${method} ${CUSTOMER}${path}` : `${method} ${path.replace(/^\/operator/, '') as `/${string}`}`;
}

function scopesOf(endpoint: Endpoint): readonly SellerScope[] | undefined {
  if (endpoint.for === 'members') return endpoint.sellerScopes ?? endpoint.scopes;
  return endpoint.for === 'operators' ? endpoint.sellerScopes : undefined;
}

/** The endpoints of the seller's API: those of the console, and for any customer those of the management API and the statements. */
export const sellerOperations: readonly SellerOperation[] = Object.entries<Endpoint>(contract).flatMap(([name, endpoint]) => {
  const origin = name as EndpointName;
  const scopes = scopesOf(endpoint);
  return scopes ? [{ origin, name: pathOf(origin, endpoint), endpoint, scopes }] : [];
});

/** OpenAPI 3.1 of the seller's API. @param url where it begins */
export function describeSellerApi(url: string): object {
  return describeApi({
    title: 'Tollgate seller’s API',
    description:
      'Customers, keys, plans, subscriptions, limits, suspensions, usage, requests and statements of all customers, for the seller’s programs. Create a token under Tokens in the console and send it as `Authorization: Bearer tg_seller_…`. A change names the `version` that it is based on. `Idempotency-Key`, or `submission` in the body, is a UUID that you choose for each request that creates something: sending the same UUID again creates nothing new.',
    token: 'tg_seller_…',
    url,
    operations: sellerOperations,
  });
}
