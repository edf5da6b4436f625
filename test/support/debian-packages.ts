import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** What tests use and npm does not install: by a program on the PATH or the path of a file, the Debian package that brings it. */
export const DEBIAN_PACKAGES = {
  aapt: 'aapt',
  aapt2: 'aapt',
  apksigner: 'apksigner',
  zipalign: 'zipalign',
  keytool: 'default-jre-headless',
  smali: 'smali',
  openssl: 'openssl',
  unzip: 'unzip',
  '/usr/share/android-framework-res/framework-res.apk': 'android-framework-res',
  // A library here; another installation of androguard may have another interface.
  '/usr/lib/python3/dist-packages/androguard/core/bytecodes/apk.py': 'androguard',
  '/usr/bin/chromium-headless-shell': 'chromium-headless-shell',
  '/usr/lib/postgresql': 'postgresql',
  ffmpeg: 'ffmpeg',
  ffprobe: 'ffmpeg',
  'redis-server': 'redis-server',
  curl: 'curl',
  python3: 'python3',
  '/usr/lib/python3/dist-packages/jwt/__init__.py': 'python3-jwt',
  '/usr/lib/python3/dist-packages/cryptography/__init__.py': 'python3-cryptography',
  '/usr/lib/python3/dist-packages/fastapi/__init__.py': 'python3-fastapi',
  '/usr/lib/python3/dist-packages/uvicorn/__init__.py': 'python3-uvicorn',
  java: 'default-jre-headless',
  '/usr/lib/python3/dist-packages/certifi/__init__.py': 'python3-certifi',
  '/usr/lib/python3/dist-packages/dateutil/__init__.py': 'python3-dateutil',
  '/usr/lib/python3/dist-packages/urllib3/__init__.py': 'python3-urllib3',
  go: 'golang-go',
  php: 'php-cli',
  pgrep: 'procps',
  nginx: 'nginx',
  '/usr/lib/nginx/modules/ngx_http_lua_module.so': 'libnginx-mod-http-lua',
  '/usr/share/lua/5.1/resty/core.lua': 'lua-resty-core',
  caddy: 'caddy',
  haproxy: 'haproxy',
  luarocks: 'luarocks',
  pgbouncer: 'pgbouncer',
  // Its server, which nothing starts here, would listen on 9090.
  promtool: 'prometheus',
} as const;

export type ProgramOrFile = keyof typeof DEBIAN_PACKAGES;

function isPresent(programOrFile: string): boolean {
  if (isAbsolute(programOrFile)) return existsSync(programOrFile);
  return (process.env.PATH ?? '').split(delimiter).some((folder) => existsSync(join(folder, programOrFile)));
}

function missingOf(wanted: readonly ProgramOrFile[]): string[] {
  return [...new Set(wanted.filter((each) => !isPresent(each)).map((each) => DEBIAN_PACKAGES[each]))];
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
export async function ensurePackages(wanted: readonly ProgramOrFile[], purpose: string): Promise<void> {
  const missing = missingOf(wanted);
  if (missing.length > 0) await install(missing, purpose);
  const still = missingOf(wanted);
  if (still.length > 0) throw new Error(`${purpose} need Debian's ${still.join(' ')}, and installing them did not make them available.`);
}
