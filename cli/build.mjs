// Transpiles every TypeScript source to CommonJS under dist/, and copies files that are read at run time beside them.
// Types are checked by `npm run check`, not here, because a start must not wait for that.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { buildProtoTypes, hasProtoTypes } from './build-proto-types.mjs';
import { buildWeb, webOutput } from './build-web.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const sourceFolders = ['plugins', 'services', 'kong', 'cli', 'protos', 'bench', 'test'];
/** Read in place, and changed while an instance runs, so they cause no rebuild. */
const kept = new Set(['kong/kong.yml', 'kong/catalogue.yml', 'kong/catalogue.schema.json']);
const assets = /\.(sql|lua|proto|json|yml|html|txt|css|md|mjs)$/;
const stampFile = join(root, 'dist', '.build-stamp');
const migrationsFolder = 'plugins/stores/postgres/migrations';
/** Built for browsers by Vite, with a stamp of its own. */
const webFolder = 'services/dashboard/web/';
/** Used by both the pages and the server. */
const sharedFolders = ['services/dashboard/reference/', 'services/dashboard/brand/', 'services/dashboard/contract/'];
/** Only types, which compiled code does not contain. */
const typesFolder = 'services/workers/generated/';
const webStampFile = join(root, 'dist', '.web-stamp');

/** Every file below `folder`, as paths relative to the project, in a stable order. */
function listFiles(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath ?? entry.path, entry.name)))
    .filter((path) => !path.includes('node_modules') && !path.startsWith('test/fixtures/'))
    .sort();
}

/** Changes whenever a source file is added, removed or touched. Cheap enough for every start. */
function fingerprint(files) {
  const hash = createHash('sha256');
  for (const path of files) {
    const { mtimeMs, size } = statSync(join(root, path));
    hash.update(`${path}\0${mtimeMs}\0${size}\n`);
  }
  return hash.digest('hex');
}

/** The files that go into dist/, and a stamp of their state. */
function readSources() {
  const files = sourceFolders
    .flatMap((folder) => listFiles(join(root, folder)))
    .filter((path) => !path.startsWith(webFolder) && !path.startsWith(typesFolder));
  const wanted = files
    .filter((path) => (/\.tsx?$/.test(path) && !path.endsWith('.d.ts')) || assets.test(path))
    .filter((path) => !kept.has(path));
  return { wanted, stamp: fingerprint([...wanted, 'cli/build.mjs', 'package.json']) };
}

/** A stamp of everything that the browser's code is built from. */
function stampWeb() {
  return fingerprint([
    ...[webFolder, ...sharedFolders].flatMap((folder) => listFiles(join(root, folder))),
    'cli/build-web.mjs',
    'package-lock.json',
  ]);
}

function isStamped(file, stamp) {
  return existsSync(file) && readFileSync(file, 'utf8') === stamp;
}

/** The API's description follows from the schemas of the services, so compiled code writes it. */
function writeApiDocument() {
  const { status } = spawnSync(process.execPath, [join(root, 'dist', 'services', 'openapi', 'write-document.js')], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  // The separate process has already reported the problem, usually with a line of the catalogue.
  if (status !== 0) process.exit(1);
}

/** True when dist/ and the proto types match the present sources. */
export function isBuilt() {
  return hasProtoTypes(root) && isStamped(stampFile, readSources().stamp) && isWebBuilt(stampWeb());
}

function isWebBuilt(stamp) {
  return isStamped(webStampFile, stamp) && existsSync(join(root, webOutput, 'index.html'));
}

async function buildServer() {
  const { wanted, stamp } = readSources();
  if (isStamped(stampFile, stamp)) return;

  const { build: esbuild } = await import('esbuild');
  mkdirSync(join(root, 'dist'), { recursive: true });
  await esbuild({
    absWorkingDir: root,
    entryPoints: wanted.filter((path) => /\.tsx?$/.test(path)),
    outdir: 'dist',
    outbase: '.',
    format: 'cjs',
    platform: 'node',
    target: 'node20',
    sourcemap: 'linked',
    logLevel: 'warning',
  });
  // Every file in this folder is run on the database, so a file that was removed from the sources must be removed here too.
  rmSync(join(root, 'dist', migrationsFolder), { recursive: true, force: true });
  for (const path of wanted.filter((each) => assets.test(each))) {
    const target = join(root, 'dist', path);
    mkdirSync(dirname(target), { recursive: true });
    cpSync(join(root, path), target);
  }
  writeApiDocument();
  writeFileSync(stampFile, stamp);
}

async function buildPages() {
  const stamp = stampWeb();
  if (isWebBuilt(stamp)) return;
  await buildWeb(root);
  writeFileSync(webStampFile, stamp);
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const current = isBuilt();
  buildProtoTypes(root);
  await buildServer();
  await buildPages();
  console.error(current ? 'dist/ is current' : 'built dist/');
}
