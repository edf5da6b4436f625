import { execFileSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const ROOT = resolve(__dirname, '..', '..', '..');

export interface InstalledPackage {
  /** Outside the project, so that no package of the project is found from it. */
  readonly prefix: string;
  /** The package's own folder. */
  readonly folder: string;
  /** The command that people call. */
  readonly command: string;
  /** The packed file. */
  readonly tarball: string;
}

function npm(...words: readonly string[]): string {
  return execFileSync('npm', [...words, '--loglevel=error'], { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
}

/** What `npm pack` and then `npm i -g` give. npm has most packages in its cache, because the project installed them. */
export function installPackage(): InstalledPackage {
  const prefix = mkdtempSync(join(tmpdir(), 'tollgate-package-'));
  const [{ filename = '' } = {}] = JSON.parse(npm('pack', '--json', '--pack-destination', prefix)) as { filename: string }[];
  const tarball = join(prefix, filename);
  npm('install', '--global', '--prefix', prefix, '--prefer-offline', '--no-audit', '--no-fund', tarball);
  return { prefix, tarball, folder: join(prefix, 'lib/node_modules/tollgate'), command: join(prefix, 'bin/tollgate') };
}
