import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildDocument } from './build-document';
import { ANY_GATEWAY, DOCUMENT_FILE } from './read-document';

// Run by the build: the dashboard serves the document without loading every product.
writeFileSync(join(__dirname, DOCUMENT_FILE), JSON.stringify(buildDocument(ANY_GATEWAY)));
