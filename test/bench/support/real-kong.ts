import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { findFreePorts } from '../../../cli/supervisor/free-port';
import { eventually } from '../../support/eventually';
import { NO_LIMIT } from './bench-stores';

const ours = resolve(__dirname, '../../../../kong');

/** A way of guarding the same service; each has a Kong of its own, so that none pays for what another configures. */
export const CHAINS = ['bare', 'lua-local', 'lua-redis', 'tollgate'] as const;
export type Chain = (typeof CHAINS)[number];

export interface RealKong {
  /** URL of the one route. */
  readonly url: string;
  readonly workerPid: number;
  stop(): void;
}

export interface RealKongOptions {
  readonly chain: Chain;
  /** What runs Kong: `kong`, or a path. */
  readonly command: string;
  readonly folder: string;
  /** URL of what the route leads to. */
  readonly service: string;
  readonly pluginSocket: string;
  readonly redisUrl: string;
  /** The key that key-auth knows. */
  readonly key: string;
}

/** Kong's own way to do what the access layer does, counting here or in Redis; days and months, as the access layer does. */
function luaPlugins(policy: 'local' | 'redis', redisUrl: string): object[] {
  const { hostname, port } = new URL(redisUrl);
  const redis = policy === 'redis' ? { redis: { host: hostname, port: Number(port) } } : {};
  return [
    { name: 'key-auth', config: { key_names: ['x-api-key'], hide_credentials: true } },
    { name: 'acl', config: { allow: ['customers'] } },
    { name: 'rate-limiting', config: { day: NO_LIMIT, month: NO_LIMIT, policy, ...redis } },
  ];
}

function pluginsOf({ chain, redisUrl }: RealKongOptions): object[] {
  if (chain === 'bare') return [];
  if (chain === 'tollgate') return [{ name: 'access-layer', config: { products: ['api-ip'] } }];
  return luaPlugins(chain === 'lua-redis' ? 'redis' : 'local', redisUrl);
}

function kongYml(options: RealKongOptions): object {
  const { chain: name, service, key } = options;
  const routes = [{ name, paths: [`~/${name}(?:/.*)?$`], strip_path: false }];
  const consumer = { username: 'customer', keyauth_credentials: [{ key }], acls: [{ group: 'customers' }] };
  return {
    _format_version: '3.0',
    services: [{ name, url: service, routes, plugins: pluginsOf(options) }],
    consumers: name.startsWith('lua') ? [consumer] : [],
  };
}

/** Kong's defaults, or the project's kong.conf for the access layer, with paths of this run: one worker, no access log. */
function kongConf({ chain, folder, pluginSocket }: RealKongOptions, port: number): string {
  const changed: Record<string, string> = {
    database: 'off',
    declarative_config: join(folder, 'kong.yml'),
    proxy_access_log: 'off',
    proxy_error_log: join(folder, 'error.log'),
    prefix: join(folder, 'prefix'),
    proxy_listen: `127.0.0.1:${port}`,
    nginx_worker_processes: '1',
    admin_listen: 'off',
    admin_gui_listen: 'off',
    status_listen: 'off',
    anonymous_reports: 'off',
    ...(chain === 'tollgate' ? { pluginserver_tollgate_socket: pluginSocket } : {}),
  };
  const text = chain === 'tollgate' ? readFileSync(join(ours, 'kong.conf'), 'utf8') : '';
  const kept = text
    .split('\n')
    .filter((line) => !((/^(\w+) *=/.exec(line)?.[1] ?? '') in changed))
    .map((line) => line.replaceAll('/etc/kong/', `${ours}/`));
  return [...kept, ...Object.entries(changed).map(([name, value]) => `${name} = ${value}`), ''].join('\n');
}

/** The one child of the master that serves requests; undefined until it is there. */
function findWorker(prefix: string): number | undefined {
  const master = readFileSync(join(prefix, 'pids', 'nginx.pid'), 'utf8').trim();
  const children = readFileSync(`/proc/${master}/task/${master}/children`, 'utf8').trim().split(' ');
  const worker = children.find((pid) => pid !== '' && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('worker process'));
  return worker === undefined ? undefined : Number(worker);
}

/** Starts a Kong with one route. */
export async function startRealKong(options: RealKongOptions): Promise<RealKong> {
  const { command, folder } = options;
  mkdirSync(folder, { recursive: true });
  const [port = 0] = await findFreePorts(1);
  const conf = join(folder, 'kong.conf');
  writeFileSync(conf, kongConf(options, port));
  writeFileSync(join(folder, 'kong.yml'), JSON.stringify(kongYml(options)));
  const prefix = join(folder, 'prefix');
  const stop = (): void => void execFileSync(command, ['stop', '-p', prefix], { stdio: 'ignore' });
  execFileSync(command, ['start', '-c', conf], { stdio: ['ignore', 'ignore', 'inherit'] });
  try {
    await eventually(() => findWorker(prefix) !== undefined);
    return { url: `http://127.0.0.1:${port}/${options.chain}?a=1`, workerPid: findWorker(prefix) ?? 0, stop };
  } catch (error) {
    stop();
    throw error;
  }
}
