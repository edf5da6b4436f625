// `npm run check`: everything that reads the code without running it. All checks run, so that one report shows all problems.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { bootstrap, root } from './bootstrap.mjs';

const folders = ['plugins', 'services', 'kong', 'cli', 'bench', 'test'].filter((folder) => existsSync(join(root, folder)));

/** Caches that checks keep for the next run. They compare contents, so results are the same with and without a cache. */
const kept = join(root, 'node_modules', '.cache', 'check');

/** Name, package whose command runs, arguments. The slowest begin first. */
const checks = [
  ['eslint', 'eslint/bin/eslint.js', ['.']],
  ['types', 'typescript/bin/tsc', ['-p', 'tsconfig.json']],
  [
    'prettier',
    'prettier/bin/prettier.cjs',
    ['--check', '--log-level=warn', '--cache', '--cache-strategy=content', '--cache-location', join(kept, 'prettier'), '.'],
  ],
  ['redocly lint of the OpenAPI document', '../test/openapi/lint-document.mjs', []],
  ['types of the pages', 'typescript/bin/tsc', ['-p', 'services/dashboard/web/tsconfig.json']],
  ['dependency-cruiser', 'dependency-cruiser/bin/dependency-cruise.mjs', [...folders, '--config', '.dependency-cruiser.cjs']],
  ['knip', 'knip/bin/knip.js', ['--no-progress']],
  ['knip of what runs in production', 'knip/bin/knip.js', ['--production', '--no-progress']],
];
/** For two cores. */
const AT_ONCE = 2;

function run([name, program, args]) {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [join(root, 'node_modules', program), ...args], { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
    const output = [];
    child.stdout.on('data', (chunk) => output.push(chunk));
    child.stderr.on('data', (chunk) => output.push(chunk));
    child.on('close', (code) => resolve({ name, ok: code === 0, output: Buffer.concat(output).toString() }));
  });
}

await bootstrap();
let failed = 0;
const waiting = [...checks];

/** Runs one check after another while any wait, and reports each as soon as it ends. */
async function runInTurn() {
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    const { name, ok, output } = await run(next);
    console.log(`${ok ? 'ok    ' : 'FAILED'} ${name}`);
    if (ok) continue;
    failed += 1;
    console.log(output.trimEnd());
  }
}

await Promise.all(Array.from({ length: AT_ONCE }, runInTurn));
console.log(failed === 0 ? 'all checks passed' : `${failed} of ${checks.length} checks failed`);
process.exit(failed === 0 ? 0 : 1);
