import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, relative, resolve } from 'node:path';
import { isSampled } from '../../support/sample';

const ROOT = resolve(__dirname, '..', '..', '..');

/** What the image's last stage holds, on this machine. */
export interface ImageTree {
  /** Outside the project, so that no package of the project is found from it. */
  readonly folder: string;
  /** The image's own variables. */
  readonly env: Readonly<Record<string, string>>;
}

/** The last stage of the Dockerfile, one instruction a line. */
function lastStage(): string {
  const joined = readFileSync(join(ROOT, 'Dockerfile'), 'utf8')
    .replace(/^#.*\n/gm, '')
    .replace(/\\\n/g, ' ');
  return joined.slice(joined.lastIndexOf('\nFROM '));
}

/** Folders of the project that the build context admits. */
function admitted(): string[] {
  const lines = readFileSync(join(ROOT, '.dockerignore'), 'utf8').split('\n');
  return lines.filter((line) => line.startsWith('!')).map((line) => line.slice(1));
}

/** Compiled code of a folder that the build context leaves out, such as the tests. */
function isLeftOut(path: string): boolean {
  const [top = '', ...below] = relative(join(ROOT, 'dist'), path).split('/');
  return !path.startsWith(join(ROOT, 'dist', '/')) || (below.length === 0 && /^\./.test(top)) ? false : !admitted().includes(top);
}

/** `COPY [--from=build] SOURCE… TARGET`: the build stage works on the project's files, so that its folder is this project. */
function copy(instruction: string, folder: string): void {
  const words = instruction.split(/\s+/).filter((word) => !word.startsWith('--'));
  const sources = words.slice(0, -1);
  const target = join(folder, words.at(-1) ?? '');
  for (const source of sources) {
    const from = join(ROOT, source.replace(/^\/build\//, ''));
    const to = sources.length > 1 || target.endsWith('/') ? join(target, basename(from)) : target;
    mkdirSync(resolve(to, '..'), { recursive: true });
    cpSync(from, to, { recursive: true, filter: (path) => !isLeftOut(path) });
  }
}

/** What a sampled run knows the outcome of. */
const KNOWN_INSTALL = 'ci --omit=dev --ignore-scripts --no-audit --no-fund';

/** Packages as {@link KNOWN_INSTALL} leaves them: those of the lock file that are not for development alone, from this project's own. */
function copyPackages(folder: string): void {
  const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { readonly dev?: boolean }>;
  };
  const installed = Object.keys(packages).filter((path) => path !== '' && existsSync(join(ROOT, path)));
  const [left, kept] = [installed.filter((path) => packages[path]?.dev), installed.filter((path) => !packages[path]?.dev)];
  execFileSync('cp', ['-r', '--parents', '-t', folder, ...kept.filter((path) => path.lastIndexOf('node_modules') === 0)], { cwd: ROOT });
  for (const path of left) rmSync(join(folder, path), { recursive: true, force: true });
  const lock = { packages: Object.fromEntries(kept.map((path) => [path, packages[path]])) };
  writeFileSync(join(folder, 'node_modules', '.package-lock.json'), JSON.stringify(lock));
}

/**
 * Does what the Dockerfile's last stage does: installs with its own command, copies what it copies. Both stay the same because this reads
 * the Dockerfile. A sampled run copies the packages: npm would unpack them again for half a minute of CPU time.
 */
export function makeImageTree(): ImageTree {
  const stage = lastStage();
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-image-'));
  const env: Record<string, string> = {};
  for (const [, name, rest = ''] of stage.matchAll(/^(COPY|ENV) +(.+)$/gm)) {
    if (name === 'COPY') copy(rest, folder);
    else for (const [, key = '', value = ''] of rest.matchAll(/(\w+)=(\S+)/g)) env[key] = value;
  }
  const [, install] = /^RUN npm (ci [^&\n]*)/m.exec(stage) ?? [];
  if (install === undefined) throw new Error('the last stage of the Dockerfile does not run npm ci');
  if (isSampled && install.trim() === KNOWN_INSTALL) copyPackages(folder);
  else {
    const args = [...install.trim().split(/\s+/), '--prefer-offline', '--loglevel=error'];
    execFileSync('npm', args, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
  }
  return { folder, env };
}

/** Names of packages that compiled code loads, also those that it loads late, with one file that does. */
export function loadedPackages(folder: string): Map<string, string> {
  const dist = join(folder, 'dist');
  const found = new Map<string, string>();
  // The pages' scripts are bundles for browsers.
  const files = readdirSync(dist, { recursive: true, encoding: 'utf8' }).filter(
    (name) => name.endsWith('.js') && !name.startsWith('services/dashboard/web/'),
  );
  for (const file of files) {
    const text = readFileSync(join(dist, file), 'utf8');
    for (const [, name = ''] of text.matchAll(/\b(?:require|require\.resolve|import)\(["']((?:@[\w.-]+\/)?[a-z][\w.-]*)["'/]/g))
      found.set(name, file);
  }
  return found;
}
