import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { ensurePackages } from '../debian-packages';

const run = promisify(execFile);

const PROGRAMS = ['aapt', 'aapt2', 'apksigner', 'zipalign', 'keytool', 'smali', 'dexdump', 'openssl', 'unzip'] as const;
const FRAMEWORK_FILE = '/usr/share/android-framework-res/framework-res.apk';
const ANDROGUARD = '/usr/lib/python3/dist-packages/androguard/core/bytecodes/apk.py';

export type ApkTool = (typeof PROGRAMS)[number];

/**
 * Makes sure that the Android build tools are there: on the PATH, else installed by apt-get when this is root.
 * @returns the path of the platform's resources, against which apps are built
 * @throws Error that says what to install
 */
export async function ensureApkTools(): Promise<string> {
  await ensurePackages([...PROGRAMS, FRAMEWORK_FILE, ANDROGUARD], 'These tests build and check real APKs and');
  return FRAMEWORK_FILE;
}

/** Runs a tool and returns its standard output. @throws Error with its standard error when it fails */
export async function runTool(tool: ApkTool, args: readonly string[], cwd?: string): Promise<string> {
  const { stdout } = await run(tool, [...args], { maxBuffer: 1e8, ...(cwd !== undefined && { cwd }) });
  return stdout;
}
