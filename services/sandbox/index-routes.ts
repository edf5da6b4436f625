import { type SandboxExample, type SandboxUpstream } from './sandbox-upstream';

function index(product: string, route: string): SandboxExample {
  return { product, route, method: 'GET', outcome: 'success', input: {}, yields: '200, the index of the product' };
}

/** Products that publish only an index. They have no upstream, only documentation. */
export function createIndexRoutes(): SandboxUpstream {
  return {
    name: 'index-routes',
    examples: [index('api-vahaan', '/vahaan'), index('api-background-remover', '/background_remover')],
  };
}
