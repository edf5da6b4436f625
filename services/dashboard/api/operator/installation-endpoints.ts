import { windowsAt } from '../../../../plugins/core/access/quota';
import { readCatalogueSource } from '../../../../plugins/stores/postgres/catalogue/read-catalogue';
import { readProductFigures } from '../../../../plugins/stores/postgres/operators/product-figures';
import { readNodes, readStoreHealth } from '../../../../plugins/stores/postgres/operators/read-nodes';
import { nodeList, operatorCatalogue, productFigures } from '../../contract/operator';
import { describeProduct } from '../plans/plan-endpoints';
import { defineOperatorEndpoint, type OperatorEndpoint } from './define-operator-endpoint';

const figures = defineOperatorEndpoint({
  method: 'GET',
  path: '/operator/products',
  answer: productFigures,
  handler: async (_call, { db, clock, timeZone }) => ({
    figures: await readProductFigures(db, windowsAt(clock.now() / 1000, timeZone).day),
  }),
});

/** As the customers' pages show it, with nobody's subscriptions. */
const catalogue = defineOperatorEndpoint({
  method: 'GET',
  path: '/operator/catalogue',
  answer: operatorCatalogue,
  handler: async (_call, deps) => {
    const source = await readCatalogueSource(deps.db);
    const placeOf = (id: string): string | null => {
      const line = source?.lines[id];
      return source === undefined || line === undefined ? null : `${source.file}:${line}`;
    };
    return {
      products: (await deps.catalogue()).products.map((product) => ({
        ...describeProduct(product, {
          subscription: undefined,
          request: undefined,
          liveSource: deps.liveSources?.find(product.id) ?? null,
        }),
        source: placeOf(product.id),
      })),
    };
  },
});

const nodes = defineOperatorEndpoint({
  method: 'GET',
  path: '/operator/nodes',
  answer: nodeList,
  handler: async (_call, { db, clock }) => {
    const start = clock.monotonic();
    const database = await readStoreHealth(db);
    const answeredInMs = clock.monotonic() - start;
    return {
      nodes: (await readNodes(db)).map((node) => ({
        ...node,
        startedAt: node.startedAt.toISOString(),
        seenAt: node.seenAt.toISOString(),
        stateSince: node.stateSince?.toISOString() ?? null,
        redisSince: node.redisSince?.toISOString() ?? null,
      })),
      database: { ...database, startedAt: database.startedAt.toISOString(), answeredInMs },
    };
  },
});

/** What is sold and how it runs. */
export const installationEndpoints: readonly OperatorEndpoint[] = [figures, catalogue, nodes];
