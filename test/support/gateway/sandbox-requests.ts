import { requestOf, type SandboxExample } from '../follow-example';
import { send } from '../http';
import { type BalancedRequest } from '../system/balanced-client';

/** The requests that the sandbox documents as answered with 200, one a route. @throws Error for a route that it does not document */
export async function successfulRequests(sandboxUrl: string, routes: readonly string[]): Promise<BalancedRequest[]> {
  const entries = (await send(`${sandboxUrl}/`)).json() as SandboxExample[];
  return routes.map((route) => {
    const entry = entries.find((each) => each.route === route && each.outcome === 'success');
    if (!entry) throw new Error(`the sandbox documents no success of ${route}`);
    return requestOf(entry);
  });
}
