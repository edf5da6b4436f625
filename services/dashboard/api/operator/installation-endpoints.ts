import { windowsAt } from '../../../../plugins/core/quota';
import { readProductFigures } from '../../../../plugins/stores/postgres/operators/product-figures';
import { readNodes, readStoreHealth } from '../../../../plugins/stores/postgres/operators/read-nodes';
import { nodeList, productFigures } from '../../contract/operator';
import { productList } from '../../contract/plans';
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
  answer: productList,
  handler: async (_call, deps) => ({
    products: (await deps.catalogue()).products.map((product) => describeProduct(product, { subscription: undefined, request: undefined })),
  }),
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
      })),
      database: { ...database, startedAt: database.startedAt.toISOString(), answeredInMs },
    };
  },
});

/** What is sold and how it runs. */
export const installationEndpoints: readonly OperatorEndpoint[] = [figures, catalogue, nodes];
