import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildDocument } from './build-document';
import { catalogueFile, CatalogueError, readCatalogue } from '../kit/read-catalogue';
import { ANY_GATEWAY, DOCUMENT_FILE } from './read-document';

// Run by the build: the dashboard serves the document without loading every product.
try {
  const catalogue = readCatalogue(join(__dirname, '..', '..', '..', catalogueFile({})));
  writeFileSync(join(__dirname, DOCUMENT_FILE), JSON.stringify(buildDocument(ANY_GATEWAY, catalogue)));
} catch (error) {
  // Each problem has its line and column already; a stack would bury them.
  if (!(error instanceof CatalogueError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
