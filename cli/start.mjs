#!/usr/bin/env node
// `npm start [-- --port 8000 --json]` and `tollgate start`.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { bootstrap, places } from './bootstrap.mjs';
import { identifyProcess, isSameProcess, takeLock } from './bootstrap/exclusive.mjs';

await bootstrap();
const { runStart } = await import(pathToFileURL(join(places.root, 'dist', 'cli', 'run-start.js')).href);
await runStart({ ...places, argv: process.argv.slice(2), processes: { identifyProcess, isSameProcess }, takeLock });
