#!/usr/bin/env node
// `npx tollgate …`: works in a bare clone too.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { bootstrap, places } from './bootstrap.mjs';
import { isSameProcess } from './bootstrap/exclusive.mjs';

if (process.argv[2] === 'start') {
  process.argv.splice(2, 1);
  await import('./start.mjs');
} else {
  await bootstrap();
  const { runTollgate } = await import(pathToFileURL(join(places.root, 'dist', 'cli', 'run-tollgate.js')).href);
  process.exitCode = await runTollgate({ ...places, argv: process.argv.slice(2), isSameProcess });
}
