#!/usr/bin/env node
// `npx tollgate …`: works in a bare clone too.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { bootstrap, root } from './bootstrap.mjs';
import { isSameProcess } from './bootstrap/exclusive.mjs';

await bootstrap();
const { runTollgate } = await import(pathToFileURL(join(root, 'dist', 'cli', 'run-tollgate.js')).href);
process.exitCode = await runTollgate({ root, argv: process.argv.slice(2), isSameProcess });
