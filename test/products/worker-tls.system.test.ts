import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { checkHealth } from '../../cli/container/check-health';
import { type ServiceDefinition } from '../../services/kit/service/define-service';
import { type MutualTls } from '../../services/kit/mutual-tls';
import { SERVICES } from '../support/services';
import { runServices, type RunningServices } from '../../services/products/run-services';
import { createTestAuthority } from '../support/certificates';
import { eventually } from '../support/eventually';
import { firstOf } from '../support/scenes';
import { endProgram, type StartedProgram, startProgram } from '../support/system/program';
import { PROOF, contextFor, proofHeader } from '../kit/context';

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

/** Real processes, by worker, all with certificates. */
let workers: Map<string, StartedProgram>;
const moduleOf = (worker: string): string => `services/workers/${worker}/main.js`;

beforeAll(async () => {
  const env = { LOG_LEVEL: 'silent', ...tlsEnv(WORKER), WORKER_PORT: '0', SANDBOX_URL: 'http://127.0.0.1:1' };
  const started = WORKERS.map(async (worker) => [worker, await startProgram(moduleOf(worker), { env })] as const);
  workers = new Map(await Promise.all(started));
});
afterAll(() => Promise.all([...workers.values()].map(({ child }) => endProgram(child))));

const portOf = (worker: string): string => String(workers.get(worker)?.ready['port']);

const running: RunningServices[] = [];
afterEach(() => Promise.all(running.splice(0).map((each) => each.close())));

async function servicesWith(tls: MutualTls | undefined): Promise<RunningServices> {
  const chosen: readonly ServiceDefinition[] = Object.keys(WORKER_OF).map((name) => SERVICES[name as keyof typeof WORKER_OF]);
  const addresses = WORKERS.map((worker) => [`${worker.toUpperCase()}_WORKER_URL`, `127.0.0.1:${portOf(worker)}`]);
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

it('every worker says on one line where it listens', () => {
  for (const { ready: line } of workers.values()) expect(line).toEqual({ ready: true, port: expect.any(Number) });
});

it('every service reaches its worker when both have certificates of one authority', async () => {
  const services = await servicesWith(SERVICE);
  // Each worker has a second to say that it serves.
  await eventually(async () => (await ready(services)).status === 200);
  const { checks } = await ready(services);
  expect(Object.keys(checks).sort()).toEqual(Object.keys(WORKER_OF).sort());
  await eventually(async () => (await ask(services, 'grank', '/health')).status === 200);
});

it.each<[string, MutualTls | undefined]>([
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

it('the health check of a container speaks as its worker does', async () => {
  const env = { WORKER_PORT: portOf('ranking') };
  await checkHealth('worker', { ...env, ...tlsEnv(WORKER) });
  await expect(checkHealth('worker', env)).rejects.toThrow();
});

it('every worker ends cleanly on SIGTERM', async () => {
  expect(await Promise.all([...workers.values()].map(({ child }) => endProgram(child)))).toEqual(WORKERS.map(() => 0));
});

// The settings of certificates are one schema, which every worker has.
it.each(firstOf(WORKERS))('the %s worker does not start with a key alone', async (worker) => {
  const env = { PATH: process.env['PATH'], WORKER_TLS_KEY: WORKER.key.toString() };
  const run = promisify(execFile)(process.execPath, [join(__dirname, '../../dist', moduleOf(worker))], { env });
  const missing = ['CA', 'CERT'].map((name) => `  WORKER_TLS_${name}: is required and not set\n`);
  await expect(run).rejects.toMatchObject({ code: 1, stderr: `The settings have 2 problems:\n${missing.join('')}` });
});

it('no service starts with a certificate that cannot be read', async () => {
  const tls = { ...tlsEnv(SERVICE), WORKER_TLS_CERT: '/no/such/file.pem' };
  const env = { TOLLGATE_CONTEXT_JWKS: PROOF.keySet, ...tls };
  await expect(runServices([], env)).rejects.toThrow('WORKER_TLS_CERT: names a file that cannot be read (ENOENT)');
});
