import { relative } from 'node:path';
import { type Catalogue } from '../../../../plugins/core/catalogue/catalogue';
import { type CatalogueChange, compareCatalogues } from '../../../selling/catalogue/compare-catalogues';
import { CatalogueError, describeProblem, readCatalogue } from '../../../kit/read-catalogue';
import { type CatalogueFile } from '../../contract/operator';

type FileChange = CatalogueFile['changes'][number];

function toChange({ action, product, plan, fields }: CatalogueChange): FileChange {
  const side = (of: 'before' | 'after') => Object.fromEntries(Object.entries(fields).map(([name, change]) => [name, change[of]]));
  const subject = plan === undefined ? product : `${product} ${plan}`;
  return { action, subject, details: action === 'change' ? { before: side('before'), after: side('after') } : {} };
}

/**
 * What applying the catalogue's file would change.
 * @param path undefined if there is none
 */
export function compareFile(path: string | undefined, applied: Catalogue): CatalogueFile {
  if (path === undefined) return { file: null, mistakes: [], changes: [] };
  const near = relative(process.cwd(), path);
  const file = near.startsWith('..') ? path : near;
  try {
    return { file, mistakes: [], changes: compareCatalogues(applied, readCatalogue(path)).map(toChange) };
  } catch (error) {
    if (error instanceof CatalogueError) return { file, mistakes: error.problems.map((each) => describeProblem(file, each)), changes: [] };
    // A dashboard need not have the folder: what is sold is in the database.
    return { file: null, mistakes: [], changes: [] };
  }
}
