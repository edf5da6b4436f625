import { type FastifyInstance } from 'fastify';
import { type Catalogue, type CatalogueProduct } from '../../../plugins/core/catalogue/catalogue';
import { readCatalogueRevision } from '../../selling/catalogue/read-catalogue';
import { type DashboardDeps } from '../http/dashboard-deps';
import { askSeldom, keepDocument, type KeptDocument, serveDocument } from '../http/serve-document';
import { type SellersFolder } from './sellers-folder';

/** The folder from which kong.yml has the gateway serve `/` and `/openapi.json`. */
const FOLDER = '/gateway';

/** Programs and caches in between may keep a copy this long. Pages of other sites may read it: it holds nothing private. */
const HEADERS = {
  'Cache-Control': 'public, max-age=60',
  'Access-Control-Allow-Origin': '*',
  'Cross-Origin-Resource-Policy': 'cross-origin',
};

function describeProduct({ id, title, prefix, routes, base, plans }: CatalogueProduct): object {
  return {
    id,
    title,
    prefix,
    endpoints: routes,
    base,
    plans: plans.map(({ name, daily, monthly, price, currency, overage }) => ({ name, daily, monthly, price, currency, overage })),
    active_plans: plans.length,
    listed_only: prefix === null,
  };
}

interface Addresses {
  readonly name: string;
  /** Origin of the dashboard. */
  readonly portal: string;
  /** Base URL of the gateway. */
  readonly gateway: string;
}

/** The gateway's response at `/`: everything that is sold or listed, and where to read on. Limits are requests, prices a month. */
export function describeGateway({ products }: Catalogue, { name, portal, gateway }: Addresses): object {
  return { name, portal, openapi: `${gateway}/openapi.json`, products: products.map(describeProduct) };
}

/** The gateway's responses without a key: the catalogue, and the description of the API. Headers and query of the request are ignored. */
export function serveGatewayRoot(
  app: FastifyInstance,
  deps: DashboardDeps,
  { document, url, folder }: { readonly document: () => Promise<KeptDocument>; readonly url: string; readonly folder: SellersFolder },
): void {
  const addresses = { portal: url, gateway: deps.gatewayUrl.replace(/\/$/, '') };
  const askRevision = askSeldom(() => readCatalogueRevision(deps.db), deps.clock);
  const catalogue = keepDocument({
    revision: async () => `${await askRevision()} ${folder.revision}`,
    read: async () => JSON.stringify(describeGateway(await deps.catalogue(), { ...addresses, name: folder.brand.name })),
  });
  serveDocument(app, catalogue, { path: FOLDER, headers: HEADERS });
  serveDocument(app, document, { path: `${FOLDER}/openapi.json`, headers: HEADERS });
}
