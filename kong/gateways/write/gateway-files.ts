import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { addReadOn } from '../../add-read-on';
import { renderConfiguration, SHARED_FILES, type GatewayKind, type GatewayPlaces } from '../render';
import { readGuardedRoutes, type WrittenRoute } from './guarded-routes';
import { caddyRoutes } from './write-caddy';
import { haproxyBackends, haproxyMap } from './write-haproxy';
import { nginxRoutes, nginxUpstreams } from './write-nginx';

export interface GatewayFilesOptions extends GatewayPlaces {
  readonly kind: GatewayKind;
  /** The text of kong.yml. */
  readonly kongYml: string;
  /** The project's folder `kong`, which has the shipped files. */
  readonly shipped: string;
  /** Absolute path of the files. */
  readonly folder: string;
  /** `http://host:port` that replace addresses in kong.yml, by service name. */
  readonly services?: Readonly<Record<string, string>>;
}

const nginx = (routes: readonly WrittenRoute[], folder: string): Record<string, string> => ({
  'upstreams.conf': nginxUpstreams(routes),
  'routes.conf': nginxRoutes(routes, join(folder, 'guard.conf')),
});

/** Functions that write files from kong.yml, by file name. */
const WRITERS: Readonly<Record<GatewayKind, (routes: readonly WrittenRoute[], folder: string) => Record<string, string>>> = {
  nginx,
  'nginx-lua': nginx,
  caddy: (routes) => ({ 'routes.caddy': caddyRoutes(routes) }),
  haproxy: (routes) => ({ 'routes.map': haproxyMap(routes), 'routes.cfg': haproxyBackends(routes) }),
};

function readShipped({ kind, shipped }: GatewayFilesOptions): string[] {
  const own = readdirSync(join(shipped, 'gateways', kind)).map((name) => join('gateways', kind, name));
  return [...own, ...(SHARED_FILES[kind] ?? [])].map((path) => join(shipped, path));
}

export type RouteFilesOptions = Pick<GatewayFilesOptions, 'kind' | 'kongYml' | 'folder' | 'services' | 'readOn'>;

/**
 * The files that are written from kong.yml.
 * @returns texts by file name
 * @throws UnwritableRoute
 */
export function routeFiles({ kind, kongYml, folder, services = {}, readOn }: RouteFilesOptions): Record<string, string> {
  const routes = readGuardedRoutes({ kongYml, overrides: services, takesForms: kind === 'nginx-lua' });
  const head = `# Written from kong.yml by npx tollgate gateway ${kind}: run it again after a change there.\n`;
  return Object.fromEntries(Object.entries(WRITERS[kind](routes, folder)).map(([name, text]) => [name, head + addReadOn(text, readOn)]));
}

/**
 * All files of a gateway in front of the products of a kong.yml: the shipped files with this machine's addresses and paths, and its routes.
 * @returns texts by file name
 * @throws UnwritableRoute; the error of reading a file
 */
export function gatewayFiles(options: GatewayFilesOptions): Record<string, string> {
  const shipped = readShipped(options).map(
    (path) => [basename(path), renderConfiguration(options.kind, readFileSync(path, 'utf8'), options)] as const,
  );
  return { ...Object.fromEntries(shipped), ...routeFiles(options) };
}
