import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** By a program on the PATH or the path of a file: the Debian package that brings it. */
export type WantedPackages = Readonly<Record<string, string>>;

function isPresent(programOrFile: string): boolean {
  if (isAbsolute(programOrFile)) return existsSync(programOrFile);
  return (process.env.PATH ?? '').split(delimiter).some((folder) => existsSync(join(folder, programOrFile)));
}

function missingOf(wanted: WantedPackages): string[] {
  const missing = Object.entries(wanted).filter(([programOrFile]) => !isPresent(programOrFile));
  return [...new Set(missing.map(([, debianPackage]) => debianPackage))];
}

async function install(packages: readonly string[], purpose: string): Promise<void> {
  const names = packages.join(' ');
  if (process.getuid?.() !== 0 || !isPresent('apt-get')) {
    throw new Error(`${purpose} need Debian's ${names}. Install them: sudo apt-get install ${names}`);
  }
  // Another test file may be installing the same.
  const wait = ['-o', 'DPkg::Lock::Timeout=300'];
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  await run('apt-get', [...wait, 'update', '-q'], { env, maxBuffer: 1e8 }).catch(() => undefined);
  try {
    await run('apt-get', [...wait, 'install', '-y', '-q', '--no-install-recommends', ...packages], { env, maxBuffer: 1e8 });
  } catch (error) {
    throw new Error(`${purpose} need Debian's ${names}, which apt-get could not install.`, { cause: error });
  }
}

/**
 * Makes sure that programs are there: as they are, else installed by apt-get when this is root.
 * @param purpose begins the sentence of an error, for example `The tests of APKs`
 * @throws Error that says what to install
 */
export async function ensurePackages(wanted: WantedPackages, purpose: string): Promise<void> {
  const missing = missingOf(wanted);
  if (missing.length > 0) await install(missing, purpose);
  const still = missingOf(wanted);
  if (still.length > 0) throw new Error(`${purpose} need Debian's ${still.join(' ')}, and installing them did not make them available.`);
}
