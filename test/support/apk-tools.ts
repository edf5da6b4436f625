import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Debian's Android build tools, by the program that must be found. */
const PACKAGES = {
  aapt: 'aapt',
  aapt2: 'aapt',
  apksigner: 'apksigner',
  zipalign: 'zipalign',
  keytool: 'default-jre-headless',
  smali: 'smali',
  dexdump: 'dexdump',
  openssl: 'openssl',
  unzip: 'unzip',
} as const;

const FRAMEWORK_FILE = '/usr/share/android-framework-res/framework-res.apk';

/** Packages that are used through a file. androguard is a library here, and another installation of it may have another interface. */
const PACKAGES_BY_FILE = {
  [FRAMEWORK_FILE]: 'android-framework-res',
  '/usr/lib/python3/dist-packages/androguard/core/bytecodes/apk.py': 'androguard',
};

export type ApkTool = keyof typeof PACKAGES;

function isOnPath(program: string): boolean {
  return (process.env.PATH ?? '').split(delimiter).some((folder) => existsSync(join(folder, program)));
}

function missingPackages(): string[] {
  const programs = Object.entries(PACKAGES).filter(([program]) => !isOnPath(program));
  const files = Object.entries(PACKAGES_BY_FILE).filter(([file]) => !existsSync(file));
  return [...programs, ...files].map(([, debianPackage]) => debianPackage);
}

async function install(packages: readonly string[]): Promise<void> {
  const names = packages.join(' ');
  if (process.getuid?.() !== 0 || !isOnPath('apt-get')) {
    throw new Error(`These tests build and check real APKs and need Debian's ${names}. Install them: sudo apt-get install ${names}`);
  }
  // Another test file may be installing the same.
  const wait = ['-o', 'DPkg::Lock::Timeout=300'];
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  await run('apt-get', [...wait, 'update', '-q'], { env, maxBuffer: 1e8 }).catch(() => undefined);
  try {
    await run('apt-get', [...wait, 'install', '-y', '-q', '--no-install-recommends', ...packages], { env, maxBuffer: 1e8 });
  } catch (error) {
    throw new Error(`These tests build and check real APKs and need Debian's ${names}, which apt-get could not install.`, { cause: error });
  }
}

/**
 * Makes sure that the Android build tools are there: on the PATH, else installed by apt-get when this is root.
 * @returns the path of the platform's resources, against which apps are built
 * @throws Error that says what to install
 */
export async function ensureApkTools(): Promise<string> {
  const missing = missingPackages();
  if (missing.length > 0) await install(missing);
  const still = missingPackages();
  if (still.length > 0) throw new Error(`These tests need Debian's ${still.join(' ')}, and installing them did not make them available.`);
  return FRAMEWORK_FILE;
}

/** Runs a tool and returns its standard output. @throws Error with its standard error when it fails */
export async function runTool(tool: ApkTool, args: readonly string[], cwd?: string): Promise<string> {
  const { stdout } = await run(tool, [...args], { maxBuffer: 1e8, ...(cwd !== undefined && { cwd }) });
  return stdout;
}
