import { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { type authEndpoints, providerEndpoints } from './contract/auth';
import { type Endpoint, type EndpointName } from './contract/endpoint';
import { contract, type Contract } from './contract/endpoints';
import { passkeyEndpoints } from './contract/sign-in';
import { AUTH_ACTS, type AuthAct } from './sign-in/auth-acts';
import { addAuthRoute } from './sign-in/auth-handler';
import { accountHandlers } from './sign-in/account-handlers';
import { findAccount, findCaller } from './sign-in/find-caller';
import { passkeyDomain } from './sign-in/passkeys/passkey-domain';
import { passkeyHandlers } from './sign-in/passkeys/passkey-handlers';
import { findPerson, type PersonTools } from './sign-in/person';
import { callbackHandler } from './sign-in/providers/callback-handler';
import { wayHandlers } from './sign-in/providers/way-handlers';
import { verifyHandlers } from './sign-in/verify-handler';
import { billingHandlers, sellerBillingHandlers } from './billing/billing-handlers';
import { paymentListHandlers, sellerPaymentHandlers } from './billing/seller-payments';
import { addEndpoint, type AnyHandler, type EndpointTools, type Handlers, type MemberHandlers } from './http/bind-endpoint';
import { type DashboardDeps } from './http/dashboard-deps';
import { openHandlers } from './sign-in/open-handlers';
import { type Asked } from './http/refuse-suspended';
import { takeRequest, takeWrite } from './http/request-limit';
import { homeHandlers } from './seller/console/home-handlers';
import { customerHandlers } from './seller/console/customer-handlers';
import { alertHandlers, operatorOutageHandlers, outageHandlers } from './customer/alerts/alert-handlers';
import { operatorHandlers } from './seller/console/operator-handlers';
import { sellerTokenHandlers } from './seller/api/seller-token-handlers';
import { type OrganisationChoice } from './sign-in/organisation-choice';
import { auditHandlers, sessionHandlers } from './sign-in/session-handlers';
import { organisationHandlers } from './customer/team/organisation-handlers';
import { teamHandlers } from './customer/team/team-handlers';
import { keyHandlers } from './customer/keys/key-handlers';
import { tokenHandlers } from './customer/management/token-handlers';
import { planHandlers } from './customer/plans/plan-handlers';
import { statementHandlers } from './customer/plans/statement-handlers';
import { explainHandlers } from './customer/requests/explain-handlers';
import { requestLogHandlers } from './customer/requests/request-log-handlers';
import { tryHandlers } from './customer/requests/try-handlers';
import { usageHandlers } from './customer/requests/usage-handlers';
import { webhookHandlers } from './customer/webhooks/webhook-handlers';
import { type SignedInCaller, type OperatorCaller, type Person } from './http/callers';

/** Per minute; more than anybody clicks. */
const MAX_OPERATOR_WRITES = 120;

interface ApiTools extends PersonTools {
  readonly deps: DashboardDeps;
  readonly choice: OrganisationChoice;
  /** @throws Refusal 401, 403 */
  readonly findOperator: (request: FastifyRequest, reply: FastifyReply) => Promise<OperatorCaller>;
}

/** Finds the caller of an endpoint by its audience. */
function toolsFor({ name, endpoint }: Asked, tools: ApiTools): EndpointTools {
  const { deps } = tools;
  const { db } = deps;
  switch (endpoint.for) {
    case 'members':
      return {
        deps,
        findCaller: (request, reply) => findCaller(request, reply, { ...tools, asked: { name, endpoint } }),
        takeWrite: ({ customerId }: SignedInCaller) => takeWrite(db, customerId),
      };
    case 'persons':
      return {
        deps,
        findCaller: (request, reply) => findPerson(request, reply, { ...tools, needs: endpoint.needsForOrganisation }),
        takeWrite: ({ userId }: Person) => takeWrite(db, userId),
      };
    case 'operators':
      return {
        deps,
        findCaller: tools.findOperator,
        takeWrite: ({ id }: OperatorCaller) => takeRequest(db, { kind: 'operator', customerId: id, mostPerMinute: MAX_OPERATOR_WRITES }),
      };
    case 'accounts':
      return { deps, findCaller: (request, reply) => findAccount(request, reply, tools) };
    case 'everybody':
      return { deps, findCaller: () => undefined };
  }
}

/** Handlers for members of a customer. The compiler reports a missing one. */
export const memberHandlers: MemberHandlers = {
  ...sessionHandlers,
  ...auditHandlers,
  ...keyHandlers,
  ...planHandlers,
  ...usageHandlers,
  ...statementHandlers,
  ...billingHandlers,
  ...paymentListHandlers,
  ...explainHandlers,
  ...requestLogHandlers,
  ...outageHandlers,
  ...alertHandlers,
  ...webhookHandlers,
  ...tokenHandlers,
  ...teamHandlers,
  ...tryHandlers,
};

type BetterAuths = keyof typeof authEndpoints | keyof typeof providerEndpoints;

/** Handlers of all endpoints except better-auth's. The compiler reports a missing one. */
const handlersOf = (tools: ApiTools): Handlers<Omit<Contract, BetterAuths>> => ({
  ...memberHandlers,
  ...homeHandlers,
  ...customerHandlers,
  ...operatorHandlers,
  ...operatorOutageHandlers,
  ...sellerTokenHandlers,
  ...sellerBillingHandlers,
  ...sellerPaymentHandlers,
  ...openHandlers(tools),
  ...organisationHandlers(tools),
  ...accountHandlers(tools),
  ...wayHandlers(tools),
  ...passkeyHandlers(tools),
  ...verifyHandlers(tools),
});

/** Whether this installation has the endpoint. */
function isOffered(name: string, { url, providers }: ApiTools): boolean {
  if (name in passkeyEndpoints) return passkeyDomain(url) !== undefined;
  return !(name in providerEndpoints) || providers.length > 0;
}

/** Adds the whole contract below `/api`. */
export function addApi(app: FastifyInstance, tools: ApiTools): void {
  const handlers: Readonly<Record<string, AnyHandler | undefined>> = handlersOf(tools);
  const acts: Readonly<Record<string, AuthAct | undefined>> = AUTH_ACTS;
  for (const [key, endpoint] of Object.entries<Endpoint>(contract)) {
    if (!isOffered(key, tools)) continue;
    // TypeScript names the keys of any object plain text.
    const name = key as EndpointName;
    const handler = handlers[name];
    if (handler) addEndpoint(app, { name, endpoint, handler }, toolsFor({ name, endpoint }, tools));
    else addAuthRoute(app, { name, endpoint, act: acts[name] }, tools);
  }
  for (const provider of tools.providers) {
    const handler = callbackHandler(provider, tools);
    app.route({ method: 'GET', url: `/api/auth/callback/${provider.id}`, exposeHeadRoute: false, handler });
  }
}
