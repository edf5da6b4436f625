import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { loadService, SERVICE_NAMES } from '../../services/products/registry';
import { type Route } from '../../services/kit/service/define-service';
import { CATALOGUE } from '../support/catalogue';

interface KongService {
  readonly routes: readonly { readonly paths: readonly string[]; readonly regex_priority?: number }[];
  readonly plugins: readonly { readonly config: { readonly post_units?: number } }[];
}

const kong: { readonly services: readonly KongService[] } = parse(readFileSync(join(__dirname, '../../kong/kong.yml'), 'utf8'));

let routes: Route[];
beforeAll(async () => {
  routes = (await Promise.all(SERVICE_NAMES.map(loadService))).flatMap((service) => service.routes);
});

/** What the gateway takes for a POST to this path. */
function reservedAt(path: string): number | undefined {
  const taking = kong.services.flatMap(({ routes: of, plugins }) =>
    of.filter(({ paths }) => paths.some((each) => new RegExp(`^${each.slice(1)}`).test(path))).map((route) => ({ route, plugins })),
  );
  const [first] = taking.sort((one, other) => (other.route.regex_priority ?? 0) - (one.route.regex_priority ?? 0));
  return first?.plugins[0]?.config.post_units;
}

describe('requests that may cost several units', () => {
  it('are those that ask for several things, of routes beyond the specification', () => {
    const dear = routes.filter(({ units }) => units).map(({ method, path, units }) => [method, path, units?.most]);
    expect(dear).toEqual([
      ['POST', '/grank/grid', 49],
      ['POST', '/ip', 100],
    ]);
  });

  it('have as much reserved at the gateway as they may cost, and no other request has', () => {
    for (const { method, path, units } of routes) {
      if (method === 'GET') continue;
      expect([path, reservedAt(path)]).toEqual([path, units?.most]);
    }
  });

  it('fit into a day of every plan that is sold', () => {
    for (const { path, units } of routes) {
      if (!units) continue;
      const product = CATALOGUE.products.find(({ prefix }) => prefix !== null && path.startsWith(prefix));
      for (const limits of [product?.base, ...(product?.plans ?? [])])
        expect([path, (limits?.daily ?? 0) >= units.most]).toEqual([path, true]);
    }
  });
});
