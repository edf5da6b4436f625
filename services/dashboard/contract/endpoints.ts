import { type z } from 'zod';
import { accountEndpoints, openEndpoints, sessionEndpoints } from './account';
import { alertEndpoints, webhookEndpoints } from './alerts';
import { auditEndpoints } from './audit';
import { authEndpoints, ownAuthEndpoints, providerEndpoints } from './auth';
import { type Audience, type Endpoint, type EndpointName, type Endpoints, type Method, partsOf, type Schema } from './endpoint';
import { billingEndpoints, sellerBillingEndpoints } from './billing';
import { explainEndpoints } from './explain';
import { keyEndpoints } from './keys';
import { operatorEndpoints } from './operator';
import { homeEndpoints } from './operator-home';
import { operatorOutageEndpoints, outageEndpoints } from './outages';
import { customerEndpoints } from './operator-customers';
import { planEndpoints } from './plans';
import { requestEndpoints } from './requests';
import { passkeyEndpoints, wayEndpoints } from './sign-in';
import { paymentEndpoints, sellerPaymentEndpoints } from './seller-payments';
import { statementEndpoints } from './statements';
import { organisationEndpoints, teamEndpoints } from './team';
import { sellerTokenEndpoints, tokenEndpoints } from './tokens';
import { tryEndpoints } from './try';
import { usageEndpoints } from './usage';

/** Every endpoint below `/api`: the server, the pages, the management API and the tests derive from it. */
export const contract = {
  ...sessionEndpoints,
  ...auditEndpoints,
  ...keyEndpoints,
  ...planEndpoints,
  ...usageEndpoints,
  ...statementEndpoints,
  ...billingEndpoints,
  ...explainEndpoints,
  ...requestEndpoints,
  ...outageEndpoints,
  ...alertEndpoints,
  ...webhookEndpoints,
  ...tokenEndpoints,
  ...teamEndpoints,
  ...tryEndpoints,
  ...organisationEndpoints,
  ...openEndpoints,
  ...accountEndpoints,
  ...wayEndpoints,
  ...passkeyEndpoints,
  ...authEndpoints,
  ...ownAuthEndpoints,
  ...providerEndpoints,
  ...homeEndpoints,
  ...customerEndpoints,
  ...operatorEndpoints,
  ...operatorOutageEndpoints,
  ...sellerTokenEndpoints,
  ...sellerBillingEndpoints,
  ...paymentEndpoints,
  ...sellerPaymentEndpoints,
} as const satisfies Endpoints;
export type Contract = typeof contract;

/** Endpoints of one audience. */
export type EndpointsFor<For extends Audience> = {
  readonly [Name in keyof Contract as Contract[Name]['for'] extends For ? Name : never]: Contract[Name];
};

type Wire<Found> = Found extends z.ZodType ? z.input<Found> : undefined;
/** An endpoint's response as it goes over the wire. */
export type AnswerOf<Name extends keyof Contract> = Wire<Schema<Contract[Name], 'answer'>>;
export type Body<Name extends keyof Contract> = Wire<Schema<Contract[Name], 'body'>>;
export type Query<Name extends keyof Contract> = Wire<Schema<Contract[Name], 'query'>>;

/** One endpoint with its name taken apart. */
export type NamedEndpoint = Endpoint & { readonly name: EndpointName; readonly method: Method; readonly path: `/${string}` };

/** The endpoints of an audience. */
export function endpointsFor<For extends Audience>(audience: For): readonly Extract<NamedEndpoint, { for: For }>[] {
  return Object.entries<Endpoint>(contract)
    .map(([name, endpoint]) => ({ name: name as EndpointName, ...partsOf(name as EndpointName), ...endpoint }))
    .filter((each): each is Extract<NamedEndpoint, { for: For }> => each.for === audience);
}
