import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describeServices } from './describe-services';
import { catalogueFile, CatalogueError, readCatalogue } from '../kit/read-catalogue';
import { loadService, SERVICE_NAMES } from '../products/registry';
import { ANY_GATEWAY, DOCUMENT_FILE } from './read-document';

// Run by the build, so that the dashboard can serve the document without loading every product.
async function writeDocument(): Promise<void> {
  const catalogue = readCatalogue(join(__dirname, '..', '..', '..', catalogueFile({})));
  const services = await Promise.all(SERVICE_NAMES.map(loadService));
  const document = describeServices(services, { baseUrl: ANY_GATEWAY, catalogue });
  writeFileSync(join(__dirname, DOCUMENT_FILE), JSON.stringify(document));
}

writeDocument().catch((error: unknown) => {
  // Each problem names its line and column already. A stack would bury them.
  if (!(error instanceof CatalogueError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
});
