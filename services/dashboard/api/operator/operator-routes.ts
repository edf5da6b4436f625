import { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { type DashboardDeps } from '../http/define-endpoint';
import { bindEndpoint, type EndpointTools } from '../http/bind-endpoint';
import { takeRequest } from '../http/request-limit';
import { type OperatorCaller } from './find-operator-caller';
import { operatorEndpoints } from './operator-endpoints';

/** More than anybody clicks. */
const MOST_WRITES_PER_MINUTE = 120;

interface OperatorTools {
  readonly deps: DashboardDeps;
  /** @throws Refusal 401, 403 */
  readonly findOperator: (request: FastifyRequest, reply: FastifyReply) => Promise<OperatorCaller>;
}

/** The API of the operators' pages. */
export function addOperatorRoutes(app: FastifyInstance, { deps, findOperator }: OperatorTools): void {
  const tools: EndpointTools<OperatorCaller> = {
    deps,
    findCaller: findOperator,
    takeWrite: ({ id }) => takeRequest(deps.db, { kind: 'operator', customerId: id, mostPerMinute: MOST_WRITES_PER_MINUTE }),
  };
  for (const endpoint of operatorEndpoints) {
    const handler = bindEndpoint(endpoint, tools);
    app.route({ method: endpoint.method, url: `/api${endpoint.path}`, exposeHeadRoute: false, handler });
  }
}
