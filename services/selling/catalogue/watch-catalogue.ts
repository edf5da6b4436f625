import { type Pool } from 'pg';
import { type Catalogue } from '../../../plugins/core/catalogue/catalogue';
import { readAppliedCatalogue, readCatalogueRevision } from './read-catalogue';

/**
 * The catalogue as it is at each call. Each costs one row: products and plans are read again only when they changed.
 */
export function watchCatalogue(db: Pool): () => Promise<Catalogue> {
  let known: { readonly revision: string; readonly catalogue: Catalogue } | undefined;
  return async () => {
    const revision = await readCatalogueRevision(db);
    // Asked first: a change that comes between is read now and once more at the next call.
    if (known?.revision !== revision) known = { revision, catalogue: await readAppliedCatalogue(db) };
    return known.catalogue;
  };
}
