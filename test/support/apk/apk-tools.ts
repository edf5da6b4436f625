import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { ensurePackages } from '../debian-packages';

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

/**
 * Makes sure that the Android build tools are there: on the PATH, else installed by apt-get when this is root.
 * @returns the path of the platform's resources, against which apps are built
 * @throws Error that says what to install
 */
export async function ensureApkTools(): Promise<string> {
  await ensurePackages({ ...PACKAGES, ...PACKAGES_BY_FILE }, 'These tests build and check real APKs and');
  return FRAMEWORK_FILE;
}

/** Runs a tool and returns its standard output. @throws Error with its standard error when it fails */
export async function runTool(tool: ApkTool, args: readonly string[], cwd?: string): Promise<string> {
  const { stdout } = await run(tool, [...args], { maxBuffer: 1e8, ...(cwd !== undefined && { cwd }) });
  return stdout;
}
