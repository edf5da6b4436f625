import { type Pool } from 'pg';
import { type Catalogue } from '../../../plugins/core/catalogue/catalogue';
import { readAppliedCatalogue, readCatalogueRevision } from './read-catalogue';

/** The present catalogue at each call. Each call costs one row: products and plans are read again only if they changed. */
export function watchCatalogue(db: Pool): () => Promise<Catalogue> {
  let known: { readonly revision: string; readonly catalogue: Catalogue } | undefined;
  return async () => {
    const revision = await readCatalogueRevision(db);
    // The revision is read first: a change in between is read now and once more at the next call.
    if (known?.revision !== revision) known = { revision, catalogue: await readAppliedCatalogue(db) };
    return known.catalogue;
  };
}
