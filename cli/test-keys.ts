import { type CatalogueProduct, hasSandbox, refusesTestKeys } from '../plugins/core/catalogue/catalogue';

/** A sentence about test keys for each product that can be called and has no sandbox. */
export function noteTestKeys(products: readonly CatalogueProduct[]): string[] {
  return products
    .filter((product) => product.prefix !== null && !hasSandbox(product))
    .map((product) =>
      refusesTestKeys(product)
        ? `test keys of ${product.id} are refused: it has no sandbox, and the catalogue names no alternative (sandbox_url, test_keys)`
        : `test keys of ${product.id} reach its live API`,
    );
}
