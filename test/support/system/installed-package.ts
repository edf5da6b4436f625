import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { runsEveryScene } from '../scenes';

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
  const installed = { prefix, tarball: join(prefix, filename), folder: join(prefix, 'lib/node_modules/tollgate') };
  if (runsEveryScene) npm('install', '--global', '--prefix', prefix, '--prefer-offline', '--no-audit', '--no-fund', installed.tarball);
  else unpack(installed);
  return { ...installed, command: join(prefix, 'bin/tollgate') };
}

/** Does what npm would do, with the packages that the project has: those that the tarball pins, and no other. */
function unpack({ prefix, tarball, folder }: Omit<InstalledPackage, 'command'>): void {
  mkdirSync(folder, { recursive: true });
  execFileSync('tar', ['-xzf', tarball, '-C', folder, '--strip-components=1']);
  const read = (name: string): unknown => JSON.parse(readFileSync(join(folder, name), 'utf8'));
  const { packages } = read('npm-shrinkwrap.json') as { packages: Record<string, unknown> };
  // One below another comes with it; one of another platform is not there.
  const own = Object.keys(packages).filter((path) => path.lastIndexOf('node_modules/') === 0 && existsSync(join(ROOT, path)));
  execFileSync('cp', ['-a', '--parents', ...own, folder], { cwd: ROOT });
  const { bin } = read('package.json') as { bin: { tollgate: string } };
  mkdirSync(join(prefix, 'bin'));
  chmodSync(join(folder, bin.tollgate), 0o755);
  symlinkSync(join('../lib/node_modules/tollgate', bin.tollgate), join(prefix, 'bin/tollgate'));
}
