import { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { requireCustomer } from '../../../selling/customers/find-customer';
import { findOrganisation } from '../../../selling/members/rename-organisation';
import { recordView } from '../../../selling/operators/record-view';
import { endpointsFor } from '../../contract/endpoints';
import { addEndpoint, type AnyHandler, type MemberHandlers } from '../../http/bind-endpoint';
import { type DashboardDeps } from '../../http/dashboard-deps';
import { type SignedInCaller, type OperatorCaller } from '../../http/callers';

/** Every GET of the customers' API, as that customer sees it, lies below this prefix. */
const VIEW_PREFIX = '/api/operator/customers/:viewed/view';

interface ViewTools {
  readonly deps: DashboardDeps;
  readonly memberHandlers: MemberHandlers;
  readonly findOperator: (request: FastifyRequest, reply: FastifyReply) => Promise<OperatorCaller>;
}

/** The customer that an operator looks at, once the audit log has recorded it. */
async function viewedCustomer(request: FastifyRequest, { email, actor }: OperatorCaller, { db }: DashboardDeps): Promise<SignedInCaller> {
  const { viewed = '' } = request.params as { viewed?: string };
  const customer = await requireCustomer(db, viewed);
  await recordView(db, { customerId: customer.id, actor });
  const { id: customerId, email: address } = customer;
  const { organisation } = await findOrganisation(db, customerId);
  return { customerId, organisation, address, email: address, actor: { ...actor, name: `operator:${email}` } };
}

/** "See what they see": only reads have a route here. */
export function addViewRoutes(app: FastifyInstance, { deps, memberHandlers, findOperator }: ViewTools): void {
  const findViewed = async (request: FastifyRequest, reply: FastifyReply): Promise<SignedInCaller> =>
    viewedCustomer(request, await findOperator(request, reply), deps);
  for (const { name, method, ...endpoint } of endpointsFor('members')) {
    if (method !== 'GET') continue;
    const handler = memberHandlers[name as keyof typeof memberHandlers] as AnyHandler;
    addEndpoint(app, { name, endpoint, handler }, { deps, prefix: VIEW_PREFIX, findCaller: findViewed });
  }
}
