import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, relative, resolve } from 'node:path';

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

/**
 * Does what the Dockerfile's last stage does: installs with its own command, copies what it copies. Both stay the same because this reads
 * the Dockerfile.
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
  execFileSync('npm', [...install.trim().split(/\s+/), '--prefer-offline', '--loglevel=error'], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
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
