import { type FastifyInstance } from 'fastify';
import { bindEndpoint, type EndpointTools } from '../http/bind-endpoint';
import { type DashboardDeps, type Route } from '../http/define-endpoint';
import { deletionEndpoints } from './deletion-endpoints';
import { confirmEmailHandler, emailEndpoint } from './email-endpoints';
import { exportEndpoint } from './export-endpoint';
import { connectHandler, waysEndpoints } from './providers/ways-endpoints';
import { addPasskeyRoutes, removePasskeyEndpoint } from './passkeys/passkey-endpoints';
import { passkeyDomain } from './passkeys/passkey-domain';
import { personalEndpoints } from './person-endpoints';
import { findPerson, type Person, type PersonTools, takePersonWrite } from './person';

/** What a person may do with the own account. Not among the endpoints of customers: no role and no token reaches it. */
export function personEndpoints(tools: PersonTools): readonly Route<Person>[] {
  return [
    ...personalEndpoints,
    ...deletionEndpoints(tools),
    exportEndpoint,
    emailEndpoint(tools),
    ...waysEndpoints(tools),
    removePasskeyEndpoint,
  ];
}

export function addPersonRoutes(app: FastifyInstance, deps: DashboardDeps, tools: PersonTools): void {
  const endpointTools: EndpointTools<Person> = {
    deps,
    findCaller: (request, reply) => findPerson(request, reply, tools),
    takeWrite: (caller) => takePersonWrite(deps.db, caller),
  };
  for (const endpoint of personEndpoints(tools)) {
    const handler = bindEndpoint(endpoint, endpointTools);
    app.route({ method: endpoint.method, url: `/api${endpoint.path}`, exposeHeadRoute: false, handler });
  }
  app.route({ method: 'POST', url: '/api/account/email/confirm', handler: confirmEmailHandler(tools) });
  app.route({ method: 'POST', url: '/api/account/ways', handler: connectHandler(tools) });
  if (passkeyDomain(tools.url) !== undefined) addPasskeyRoutes(app, tools);
}
