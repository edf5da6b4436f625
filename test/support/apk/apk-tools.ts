import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { ensurePackages } from '../debian-packages';

const run = promisify(execFile);

const PROGRAMS = ['aapt', 'aapt2', 'apksigner', 'zipalign', 'keytool', 'smali', 'openssl', 'unzip'] as const;
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

/** Those that are written in Java run for a second: compiling their code well would take longer than that. */
const SHORT_LIVED_JAVA = { JAVA_TOOL_OPTIONS: '-XX:TieredStopAtLevel=1 -XX:+UseSerialGC' };

/** Runs a tool and returns its standard output. @throws Error with its standard error when it fails */
export async function runTool(tool: ApkTool, args: readonly string[], cwd?: string): Promise<string> {
  const env = { ...process.env, ...SHORT_LIVED_JAVA };
  const { stdout } = await run(tool, [...args], { env, maxBuffer: 1e8, ...(cwd !== undefined && { cwd }) });
  return stdout;
}
