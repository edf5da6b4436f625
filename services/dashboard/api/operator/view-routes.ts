import { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { requireCustomer } from '../../../../plugins/stores/postgres/customers/find-customer';
import { findOrganisation } from '../../../../plugins/stores/postgres/members/rename-organisation';
import { recordView } from '../../../../plugins/stores/postgres/operators/record-view';
import { bindEndpoint } from '../http/bind-endpoint';
import { type Caller, type DashboardDeps, type Endpoint } from '../http/define-endpoint';
import { Refusal } from '../http/refusal';
import { type OperatorCaller } from './find-operator-caller';

/** Below it every GET of the customers' API, as that customer gets it. */
const VIEW_PREFIX = '/api/operator/customers/:viewed/view';

interface ViewTools {
  readonly deps: DashboardDeps;
  readonly endpoints: readonly Endpoint[];
  readonly findOperator: (request: FastifyRequest, reply: FastifyReply) => Promise<OperatorCaller>;
}

/** The customer that an operator looks at, once the audit log says so. */
async function viewedCustomer(request: FastifyRequest, { email, actor }: OperatorCaller, { db }: DashboardDeps): Promise<Caller> {
  const { viewed = '' } = request.params as { viewed?: string };
  const customer = await requireCustomer(db, viewed);
  await recordView(db, { customerId: customer.id, actor });
  const { id: customerId, email: address } = customer;
  const { organisation } = await findOrganisation(db, customerId);
  return { customerId, organisation, address, email: address, actor: { ...actor, name: `operator:${email}` } };
}

/** "See what they see": reads only, since nothing else has a route here. */
export function addViewRoutes(app: FastifyInstance, { deps, endpoints, findOperator }: ViewTools): void {
  const tools = {
    deps,
    findCaller: async (request: FastifyRequest, reply: FastifyReply) => viewedCustomer(request, await findOperator(request, reply), deps),
    takeWrite: () => Promise.reject(new Refusal('operators_only')),
  };
  for (const endpoint of endpoints.filter(({ method }) => method === 'GET')) {
    app.route({ method: 'GET', url: `${VIEW_PREFIX}${endpoint.path}`, exposeHeadRoute: false, handler: bindEndpoint(endpoint, tools) });
  }
}
