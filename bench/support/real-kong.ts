import { laneSettings, type RealKong, startKong } from '../../test/support/gateway/real-kong';
import { NO_LIMIT } from './bench-stores';

/** A way of guarding the same service. Each has a Kong of its own, so that none pays for the configuration of another. */
export const CHAINS = ['bare', 'lua-local', 'lua-redis', 'tollgate', 'lane'] as const;
export type Chain = (typeof CHAINS)[number];

export interface RealKongOptions {
  readonly chain: Chain;
  /** The command that runs Kong: `kong`, or a path. */
  readonly command: string;
  readonly folder: string;
  /** URL that the route leads to. */
  readonly service: string;
  readonly pluginSocket: string;
  readonly laneSocket: string;
  /** Address to which Kong reports responses; undefined: none. */
  readonly answersTo: string | undefined;
  readonly redisUrl: string;
  /** The key that key-auth knows. */
  readonly key: string;
}

/** Kong's own plugins for the access layer's work, counting here or in Redis; by days and months, as the access layer does. */
function luaPlugins(policy: 'local' | 'redis', redisUrl: string): object[] {
  const { hostname, port } = new URL(redisUrl);
  const redis = policy === 'redis' ? { redis: { host: hostname, port: Number(port) } } : {};
  return [
    { name: 'key-auth', config: { key_names: ['x-api-key'], hide_credentials: true } },
    { name: 'acl', config: { allow: ['customers'] } },
    { name: 'rate-limiting', config: { day: NO_LIMIT, month: NO_LIMIT, policy, ...redis } },
  ];
}

function pluginsOf({ chain, laneSocket, redisUrl }: RealKongOptions): object[] {
  if (chain === 'bare') return [];
  if (chain === 'tollgate') return [{ name: 'access-layer', config: { products: ['api-ip'] } }];
  if (chain === 'lane') return [{ name: 'tollgate', config: { products: ['api-ip'], socket: laneSocket } }];
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

/** Settings that the access layer needs in Kong, for either entrance. */
function settingsOf({ chain, folder, pluginSocket, answersTo }: RealKongOptions): Record<string, string> {
  if (chain === 'lane') return laneSettings(folder);
  if (chain !== 'tollgate') return {};
  const log = answersTo === undefined ? 'off' : `syslog:server=${answersTo},nohostname,tag=tg tollgate_answer`;
  // Replaces Kong's usual log: with `off`, nginx would write no other log.
  return { pluginserver_tollgate_socket: pluginSocket, proxy_access_log: log, nginx_proxy_access_log: '' };
}

/** Starts a Kong with one route. It has Kong's defaults, and for the access layer the settings in the project's kong.conf. */
export async function startRealKong(options: RealKongOptions): Promise<RealKong> {
  const { chain, command, folder } = options;
  const conf = chain === 'tollgate' ? 'ours' : 'default';
  const kong = await startKong({ command, folder, file: kongYml(options), conf, settings: settingsOf(options) });
  return { ...kong, url: `${kong.url}/${chain}?a=1` };
}
