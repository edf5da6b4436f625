import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildDocument } from './build-document';
import { CATALOGUE_FILE, readCatalogue } from '../kit/read-catalogue';
import { ANY_GATEWAY, DOCUMENT_FILE } from './read-document';

// Run by the build: the dashboard serves the document without loading every product.
const catalogue = readCatalogue(join(__dirname, '..', '..', '..', CATALOGUE_FILE));
writeFileSync(join(__dirname, DOCUMENT_FILE), JSON.stringify(buildDocument(ANY_GATEWAY, catalogue)));
