import { readCatalogueRevision } from '../../selling/catalogue/read-catalogue';
import { readProductDocuments } from '../../selling/catalogue/product-documents';
import { type ApiDocumentParts, describeApi } from '../../openapi/describe-api';
import { type DashboardDeps } from './dashboard-deps';
import { type DocumentSource } from './serve-document';

/**
 * The API's description as it is now: what the build wrote from our services, and what is sold besides.
 * @param readBuilt the text that the build wrote
 * @param title the name of the installation. The build's licence is that of our own services
 */
export function apiDocumentSource(
  { db, catalogue, log }: DashboardDeps,
  { readBuilt, title }: { readonly readBuilt: () => string; readonly title: string },
): DocumentSource {
  return {
    revision: () => readCatalogueRevision(db),
    read: async () => {
      const built = JSON.parse(readBuilt()) as ApiDocumentParts;
      const { document, leftOut } = describeApi(built, await catalogue(), await readProductDocuments(db));
      for (const each of leftOut) log.warn(each, 'an operation of a product’s own OpenAPI document is broken and left out');
      const { license, ...info } = built.info;
      const isOurs = built.info.title === title && Object.keys(built.paths).some((path) => path in document.paths);
      return JSON.stringify({ ...document, info: { ...info, title, ...(isOurs && { license }) } });
    },
  };
}
