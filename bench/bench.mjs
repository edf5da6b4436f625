// `npm run bench`: builds the program, then runs the benchmark.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { bootstrap, root } from '../cli/bootstrap.mjs';

await bootstrap();
await import(pathToFileURL(join(root, 'dist', 'bench', 'run.js')).href);
