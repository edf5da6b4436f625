import { type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { GenericContainer, type StartedTestContainer } from 'testcontainers';
import { parse, stringify } from 'yaml';
import { findFreePorts } from '../../../cli/postgres/free-port';
import { findOverride } from '../../../kong/local/config/upstream-override';
import { eventually } from '../eventually';
import { closeConnections, send } from '../http';
import { startInstance, type RunningInstance } from '../system/instance';
import { startProgram } from '../system/program';

const ROOT = resolve(__dirname, '..', '..', '..');

/** What the acceptance suite needs to know of an installation behind a Kong in a container. */
export interface KongInstallation {
  readonly gatewayUrl: string;
  readonly databaseUrl: string;
  readonly sandboxUrl: string;
  stop(): Promise<void>;
}

interface KongFile {
  services: { name: string; url: string }[];
}

/** The folder that the container sees as /etc/kong: ours, with the services where they run now. */
function prepareKongFolder(folder: string, services: Readonly<Record<string, string>>): void {
  mkdirSync(folder);
  for (const name of ['kong.conf', 'log-maps.conf', 'request-map.conf', 'access-layer.json', 'templates'])
    cpSync(join(ROOT, 'kong', name), join(folder, name), { recursive: true });
  const file = parse(readFileSync(join(ROOT, 'kong', 'kong.yml'), 'utf8')) as KongFile;
  // A product that has no service yet refuses the connection.
  for (const service of file.services) service.url = findOverride(service, services) ?? 'http://127.0.0.1:9';
  writeFileSync(join(folder, 'kong.yml'), stringify(file));
}

/**
 * Kong shares the host's network: so it reaches services on loopback, and callers keep their address. That needs an engine on this
 * machine, which the shared socket needs anyway.
 */
async function startContainer(image: string, folder: string, port: number): Promise<StartedTestContainer> {
  return new GenericContainer(image)
    .withNetworkMode('host')
    .withBindMounts([
      { source: join(folder, 'kong'), target: '/etc/kong', mode: 'ro' },
      { source: join(folder, 'run'), target: '/var/run/tollgate', mode: 'rw' },
    ])
    .withEnvironment({ KONG_PROXY_LISTEN: `127.0.0.1:${port}`, KONG_STATUS_LISTEN: 'off', KONG_NGINX_WORKER_PROCESSES: '2' })
    .start();
}

/** Runs database, services and sandbox as `npm start` does, and a Kong of this image with a plugin server of its own in front of them. */
export async function startKongInstallation(image: string): Promise<KongInstallation> {
  const signingKeys = `kong-test:${randomBytes(32).toString('base64')}`;
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-kong-'));
  chmodSync(folder, 0o755);
  mkdirSync(join(folder, 'run'));
  let instance: RunningInstance | undefined;
  let sidecar: ChildProcess | undefined;
  let container: StartedTestContainer | undefined;
  const stop = async (): Promise<void> => {
    closeConnections();
    await container?.stop({ timeout: 10_000 });
    sidecar?.kill('SIGTERM');
    await instance?.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    instance = await startInstance({ TOLLGATE_SIGNING_KEYS: signingKeys, GDPLAY_LINK_KEYS: signingKeys });
    prepareKongFolder(join(folder, 'kong'), { ...instance.services, dashboard: `${instance.dashboard}/gateway` });
    const { databaseUrl, sandbox: sandboxUrl } = instance;
    const socket = join(folder, 'run', 'plugin.sock');
    const keys = { TOLLGATE_SIGNING_KEYS: signingKeys, GDPLAY_LINK_KEYS: signingKeys };
    const env = { DATABASE_URL: databaseUrl, ...keys, PLUGIN_SOCKET: socket, LOG_LEVEL: 'error' };
    ({ child: sidecar } = await startProgram('plugins/server/main.js', { env }));
    // For the container's user.
    chmodSync(socket, 0o666);
    const [port = 0] = await findFreePorts(1);
    container = await startContainer(image, folder, port);
    const gatewayUrl = `http://127.0.0.1:${port}`;
    // Kong and the plugin server work together once a request without a key is refused.
    await eventually(async () => (await send(`${gatewayUrl}/ip`).catch(() => undefined))?.status === 401);
    return { gatewayUrl, databaseUrl, sandboxUrl, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
