import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { build } from 'esbuild';
import { checkHealth } from '../../cli/container/check-health';
import { type ServiceDefinition } from '../../services/kit/service/define-service';
import { type MutualTls } from '../../services/kit/worker/worker-wire';
import { SERVICES } from '../../services/registry';
import { runServices, type RunningServices } from '../../services/run-services';
import { createTestAuthority } from '../support/certificates';
import { eventually } from '../support/eventually';
import { contextFor, proofHeader, PROOF } from './kit/harness';

const root = join(__dirname, '../..');
const authority = createTestAuthority('authority');
const WORKER = authority.issue('workers');
const SERVICE = authority.issue('services');
const STRANGER: MutualTls = { ...createTestAuthority('another').issue('services'), ca: authority.ca };
/** Worker by the services that call it. */
const WORKER_OF = {
  aadhaar: 'identity',
  app: 'apk',
  glead: 'ranking',
  grank: 'ranking',
  gst: 'identity',
  image: 'image',
  seo: 'seo',
} as const;
const WORKERS = [...new Set(Object.values(WORKER_OF))];

const tlsEnv = ({ ca, cert, key }: MutualTls): Record<string, string> => ({
  WORKER_TLS_CA: ca.toString(),
  WORKER_TLS_CERT: cert.toString(),
  WORKER_TLS_KEY: key.toString(),
});

let folder: string;
const children: ChildProcess[] = [];
/** Port by worker: real processes, all with certificates. */
let ports: Map<string, number>;

function startProcess(module: string, env: Record<string, string>): ChildProcess {
  const child = spawn(process.execPath, [join(folder, `${module}.js`)], {
    env: { PATH: process.env['PATH'] ?? '', LOG_LEVEL: 'silent', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.push(child);
  return child;
}

async function readyPort(child: ChildProcess): Promise<number> {
  if (!child.stdout) throw new Error('no output');
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  return (JSON.parse(line) as { port: number }).port;
}

beforeAll(async () => {
  // Below the project, so that the bundles find the installed packages and, two folders down, the protos.
  mkdirSync(join(root, '.test'), { recursive: true });
  folder = mkdtempSync(join(root, '.test/worker-tls-'));
  await build({
    entryPoints: Object.fromEntries(
      WORKERS.map((worker) => [`services/workers/${worker}`, join(root, `services/workers/${worker}/main.ts`)]),
    ),
    outdir: folder,
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'cjs',
    logLevel: 'error',
    define: { __dirname: JSON.stringify(join(root, 'services/workers/bundled')) },
  });
  const started = WORKERS.map(async (worker) => {
    const env = { ...tlsEnv(WORKER), WORKER_PORT: '0', SANDBOX_URL: 'http://127.0.0.1:1' };
    return [worker, await readyPort(startProcess(`services/workers/${worker}`, env))] as const;
  });
  ports = new Map(await Promise.all(started));
});
afterAll(async () => {
  for (const child of children.filter(({ exitCode }) => exitCode === null)) {
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  }
  rmSync(folder, { recursive: true, force: true });
});

const running: RunningServices[] = [];
afterEach(() => Promise.all(running.splice(0).map((each) => each.close())));

async function servicesWith(tls: MutualTls | undefined): Promise<RunningServices> {
  const chosen: readonly ServiceDefinition[] = Object.keys(WORKER_OF).map((name) => SERVICES[name as keyof typeof WORKER_OF]);
  const addresses = WORKERS.map((worker) => [`${worker.toUpperCase()}_WORKER_URL`, `127.0.0.1:${String(ports.get(worker))}`]);
  const started = await runServices(chosen, {
    TOLLGATE_CONTEXT_JWKS: PROOF.keySet,
    SERVICE_PORT: '0',
    PRIVATE_PORT: '0',
    LOG_LEVEL: 'silent',
    ...Object.fromEntries(addresses),
    ...(tls && tlsEnv(tls)),
  });
  running.push(started);
  return started;
}

const ready = async ({ privateUrl }: RunningServices) => {
  const answer = await fetch(`${privateUrl}/ready`);
  const { checks } = (await answer.json()) as { checks: Record<string, string> };
  return { status: answer.status, checks };
};
const ask = ({ services }: RunningServices, name: 'grank' | 'glead', path: string, body?: object) =>
  fetch(`${services[name]}/${name}${path}`, {
    headers: {
      ...proofHeader(contextFor(`api-${name}`, { mode: 'test', expiresAt: Math.ceil(Date.now() / 1000) + 60 })),
      'content-type': 'application/json',
    },
    ...(body && { method: 'POST', body: JSON.stringify(body) }),
  });

test('every service reaches its worker when both have certificates of one authority', async () => {
  const services = await servicesWith(SERVICE);
  // Each worker has a second to say that it serves.
  await eventually(async () => (await ready(services)).status === 200);
  const { checks } = await ready(services);
  expect(Object.keys(checks).sort()).toEqual(Object.keys(WORKER_OF).sort());
  await eventually(async () => (await ask(services, 'grank', '/health')).status === 200);
});

test.each<[string, MutualTls | undefined]>([
  ['without a certificate', undefined],
  ['with one of another authority', STRANGER],
])('every service %s is not ready, and answers 502', async (_what, tls) => {
  const services = await servicesWith(tls);
  const { status, checks } = await ready(services);
  expect(status).toBe(503);
  for (const name of Object.keys(WORKER_OF)) expect(checks[name]).toBe('service_not_ready');
  expect((await ask(services, 'glead', '/health')).status).toBe(503);
  const answer = await ask(services, 'glead', '/search', { query: 'dentist' });
  expect([answer.status, await answer.json()]).toEqual([502, expect.objectContaining({ code: 'upstream_failed' })]);
});

test('the health check of a container speaks as its worker does', async () => {
  const env = { WORKER_PORT: String(ports.get('ranking')) };
  await checkHealth('worker', { ...env, ...tlsEnv(WORKER) });
  await expect(checkHealth('worker', env)).rejects.toThrow();
});

test.each(WORKERS)('the %s worker does not start with a key alone', async (worker) => {
  const child = startProcess(`services/workers/${worker}`, { WORKER_TLS_KEY: WORKER.key.toString() });
  let said = '';
  child.stderr?.on('data', (chunk: Buffer) => (said += chunk.toString()));
  expect(await once(child, 'close')).toEqual([1, null]);
  expect(said.trim().split('\n')).toEqual([
    'The settings have 2 problems:',
    '  WORKER_TLS_CA: is required and not set',
    '  WORKER_TLS_CERT: is required and not set',
  ]);
});

test('no service starts with a certificate that cannot be read', async () => {
  const tls = { ...tlsEnv(SERVICE), WORKER_TLS_CERT: '/no/such/file.pem' };
  const env = { TOLLGATE_CONTEXT_JWKS: PROOF.keySet, ...tls };
  await expect(runServices([], env)).rejects.toThrow('WORKER_TLS_CERT: names a file that cannot be read (ENOENT)');
});
