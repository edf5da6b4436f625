// Writes TypeScript types of the workers' protos. Only compilers and linters read them: compiled code loads the protos themselves.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** The options of services/kit/worker/load-proto.ts. */
const OPTIONS = ['--longs=Number', '--enums=String', '--defaults', '--oneofs', '--grpcLib=@grpc/grpc-js'];

const outputOf = (root) => join(root, 'services', 'workers', 'generated');
const stampOf = (root) => join(outputOf(root), '.stamp');

/** `KIND/v1/KIND.proto` of every worker; other folders of protos/ hold no workers. */
function listProtos(root) {
  const protos = join(root, 'protos');
  return readdirSync(protos)
    .sort()
    .map((kind) => ({ kind, file: join(protos, kind, 'v1', `${kind}.proto`) }))
    .filter(({ file }) => existsSync(file));
}

/** Changes with the protos, and with this file, which holds the options. */
function fingerprint(root) {
  const hash = createHash('sha256');
  for (const file of [fileURLToPath(import.meta.url), ...listProtos(root).map((each) => each.file)]) hash.update(readFileSync(file));
  return hash.digest('hex');
}

/**
 * @param {string} root the project's folder
 * @returns {boolean} true when the types match the protos
 */
export function hasProtoTypes(root) {
  return existsSync(stampOf(root)) && readFileSync(stampOf(root), 'utf8') === fingerprint(root);
}

/**
 * Writes the types unless they are current.
 * @param {string} root the project's folder
 * @throws Error when a proto cannot be read; the generator's own messages are on stderr
 */
export function buildProtoTypes(root) {
  if (hasProtoTypes(root)) return;
  const loader = dirname(createRequire(import.meta.url).resolve('@grpc/proto-loader/package.json'));
  const generator = join(loader, 'build', 'bin', 'proto-loader-gen-types.js');
  rmSync(outputOf(root), { recursive: true, force: true });
  for (const { kind, file } of listProtos(root)) {
    const args = [generator, ...OPTIONS, `--outDir=${join(outputOf(root), kind)}`, file];
    if (spawnSync(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] }).status !== 0)
      throw new Error(`types could not be generated from ${file}`);
  }
  writeFileSync(stampOf(root), fingerprint(root));
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  buildProtoTypes(resolve(dirname(fileURLToPath(import.meta.url)), '..'));
}
