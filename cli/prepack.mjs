// Runs before `npm pack`: builds dist/, and pins dependencies of the package to the versions that the tests ran with. npm reads
// npm-shrinkwrap.json of an installed package, but neither package-lock.json nor `overrides`.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bootstrap, root } from './bootstrap.mjs';

await bootstrap();
const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
const production = Object.entries(lock.packages).filter(([, { dev }]) => dev !== true);
writeFileSync(join(root, 'npm-shrinkwrap.json'), JSON.stringify({ ...lock, packages: Object.fromEntries(production) }));
