import { spawn, type ChildProcess } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { readOnSettings } from '../../plugins/core/read-on';
import { readSettings } from '../../plugins/core/settings';
import { GATEWAY_KINDS, LUA_MODULES, type GatewayKind } from './render';
import { gatewayFiles } from './write/gateway-files';

/** `npm start` kills this process 5 s after SIGTERM. Its gateway must have ended by then. */
const GRACE_MS = 4_000;
const READY_MS = 15_000;

const settingsSchema = z.object({
  GATEWAY_KIND: z.enum(GATEWAY_KINDS),
  GATEWAY_HOST: z.string().min(1).default('127.0.0.1'),
  GATEWAY_PORT: z.coerce.number().int().min(1).max(65_535),
  /** Created if missing; holds the running configuration and nginx's temporary files. */
  GATEWAY_DIR: z.string().min(1),
  FORWARD_AUTH_LISTEN: z.string().startsWith('/'),
  LANE_LISTEN: z.string().startsWith('/'),
  KONG_YML: z.string().min(1),
  ANSWERS_TO: z.string().min(1),
  UPSTREAM_OVERRIDES: z.string().transform((text) => z.record(z.string(), z.string()).parse(JSON.parse(text))),
});

type Settings = z.infer<typeof settingsSchema>;

/** The source folder, because the build does not copy these files. */
const SHIPPED = join(process.cwd(), 'kong');

function writeConfiguration(settings: Settings): void {
  const { GATEWAY_KIND: kind, GATEWAY_DIR: folder } = settings;
  mkdirSync(folder, { recursive: true });
  // The log is never rotated, so it must contain this run only.
  rmSync(join(folder, 'access.log'), { force: true });
  const files = gatewayFiles({
    kind,
    kongYml: readFileSync(settings.KONG_YML, 'utf8'),
    shipped: SHIPPED,
    folder,
    listen: { host: settings.GATEWAY_HOST, port: settings.GATEWAY_PORT },
    socketPath: kind === 'nginx-lua' ? settings.LANE_LISTEN : settings.FORWARD_AUTH_LISTEN,
    luaFolder: folder,
    answersTo: settings.ANSWERS_TO,
    accessLog: join(folder, 'access.log'),
    services: settings.UPSTREAM_OVERRIDES,
    readOn: readSettings({ readOn: readOnSettings }, process.env).readOn,
  });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
}

/** The socket belongs to the user who runs this. Under root, nginx's workers must be root too, or they could not connect. */
const nginxUser = process.getuid?.() === 0 ? 'user root;' : '';

function nginxCommand(folder: string, modules: string): string[] {
  return ['nginx', '-p', `${folder}/`, '-c', join(folder, 'nginx.conf'), '-g', `${modules} daemon off; ${nginxUser}`];
}

const COMMANDS: Readonly<Record<GatewayKind, (folder: string) => string[]>> = {
  nginx: (folder) => nginxCommand(folder, ''),
  'nginx-lua': (folder) => nginxCommand(folder, LUA_MODULES),
  caddy: (folder) => ['caddy', 'run', '--adapter', 'caddyfile', '--config', join(folder, 'Caddyfile')],
  // In the foreground: one process, no master.
  haproxy: (folder) => ['haproxy', '-db', '-f', join(folder, 'haproxy.cfg'), '-f', join(folder, 'routes.cfg')],
};

/** The signals that let running requests end. */
const GENTLY: Readonly<Record<GatewayKind, NodeJS.Signals>> = {
  nginx: 'SIGQUIT',
  'nginx-lua': 'SIGQUIT',
  caddy: 'SIGTERM',
  haproxy: 'SIGUSR1',
};

/** The gateway ends with this process, however that ends. Otherwise the next one could not have its port. */
function startGateway({ GATEWAY_KIND: kind, GATEWAY_DIR: folder }: Settings): ChildProcess {
  const home = { XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
  return spawn('setpriv', ['--pdeathsig', 'TERM', ...COMMANDS[kind](folder)], {
    cwd: folder,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, ...home },
  });
}

function accepts(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = connect({ host, port });
    probe.once('connect', () => {
      probe.destroy();
      resolve(true);
    });
    probe.once('error', () => resolve(false));
  });
}

async function untilAccepting({ GATEWAY_HOST: host, GATEWAY_PORT: port }: Settings): Promise<void> {
  const deadline = performance.now() + READY_MS;
  while (!(await accepts(host, port))) {
    if (performance.now() > deadline) throw new Error('the gateway does not listen');
    await sleep(20);
  }
}

/** Runs nginx (with or without Lua), Caddy or HAProxy with the shipped configuration, moved to this machine's places, until SIGTERM. */
async function main(): Promise<void> {
  const settings = settingsSchema.parse(process.env);
  writeConfiguration(settings);
  const gateway = startGateway(settings);
  gateway.once('error', (error) => {
    process.stderr.write(`${settings.GATEWAY_KIND} cannot be run: ${error.message}\n`);
    process.exit(1);
  });
  let isStopping = false;
  gateway.once('exit', (code) => process.exit(isStopping ? 0 : (code ?? 1)));
  const stop = (): void => {
    isStopping = true;
    gateway.kill(GENTLY[settings.GATEWAY_KIND]);
    setTimeout(() => gateway.kill('SIGKILL'), GRACE_MS);
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  await untilAccepting(settings);
  process.stdout.write(`${JSON.stringify({ ready: true, port: settings.GATEWAY_PORT })}\n`);
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : 'the gateway could not start'}\n`);
  process.exit(1);
});
