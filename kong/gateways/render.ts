import { type ReadOn } from '../../plugins/core/problems';
import { addReadOn } from '../add-read-on';

/** Gateways that can replace Kong in front of the products. */
export const GATEWAY_KINDS = ['nginx', 'caddy', 'haproxy', 'nginx-lua'] as const;

export type GatewayKind = (typeof GATEWAY_KINDS)[number];

interface GatewayListen {
  readonly host: string;
  readonly port: number;
}

/** Addresses and paths on this machine that replace those in the shipped configuration. Absent ones stay as shipped. */
export interface GatewayPlaces {
  readonly listen?: GatewayListen;
  /** The plugin server's FORWARD_AUTH_LISTEN, for nginx-lua its LANE_LISTEN. */
  readonly socketPath?: string;
  /** The folder in which nginx-lua finds its Lua. */
  readonly luaFolder?: string;
  /** A file. nginx cannot open a standard output that is a socket, like that of a supervised process. */
  readonly accessLog?: string;
  /** The plugin server's ANSWERS_LISTEN. nginx-lua reports to its LANE_LISTEN instead. */
  readonly answersTo?: string;
  /** Addresses of the pages that explain the gateway's own errors. */
  readonly readOn?: ReadOn;
}

const SHIPPED_SOCKET = /\/var\/run\/tollgate\/(forward-auth|lane)\.sock/g;
const SHIPPED_ANSWERS = /\b127\.0\.0\.1:9514\b/g;
/** These are beside the files that nginx-lua includes. */
const SHIPPED_LUA = /\/etc\/nginx\/tollgate(?=\/[\w?]+\.lua)/g;

/** The line that listens on the shipped port, in each language, and the same line for another port. */
const LISTEN: Readonly<Record<GatewayKind, readonly [string, (listen: GatewayListen) => string]>> = {
  nginx: ['listen 8000;', ({ host, port }) => `listen ${host}:${port};`],
  caddy: ['\n:8000 {\n', ({ host, port }) => `\n:${port} {\n\tbind ${host}\n`],
  haproxy: ['  bind :8000\n', ({ host, port }) => `  bind ${host}:${port}\n`],
  'nginx-lua': ['listen 8000;', ({ host, port }) => `listen ${host}:${port};`],
};

/** Debian's package enables its modules in the main configuration, which `npm start` does not use. */
export const LUA_MODULES = ['ndk_http_module', 'ngx_http_lua_module']
  .map((name) => `load_module /usr/lib/nginx/modules/${name}.so;`)
  .join(' ');

/**
 * Files below kong/ that a gateway needs besides those of its own folder. nginx with Lua uses nginx's routes, which include files of the
 * same names.
 */
export const SHARED_FILES: Readonly<Partial<Record<GatewayKind, readonly string[]>>> = {
  'nginx-lua': ['gateways/nginx/nginx.conf', 'lane/lane.lua'],
};

/**
 * One file of the shipped configuration, with this machine's addresses and paths. Everything else stays as shipped, so that the
 * configuration run here is the one run in production.
 */
export function renderConfiguration(kind: GatewayKind, text: string, places: GatewayPlaces): string {
  const [shipped, listen] = LISTEN[kind];
  const { accessLog, answersTo, luaFolder, socketPath } = places;
  const moved = places.listen ? text.replaceAll(shipped, listen(places.listen)) : text;
  const logged =
    accessLog === undefined
      ? moved
      : moved
          .replaceAll('error_log /var/log/nginx/error.log', 'error_log stderr')
          .replaceAll('access_log /var/log/nginx/access.log', () => `access_log ${accessLog}`);
  return addReadOn(logged, places.readOn)
    .replaceAll(SHIPPED_ANSWERS, (shippedAnswers) => answersTo ?? shippedAnswers)
    .replaceAll(SHIPPED_SOCKET, (shippedSocket) => socketPath ?? shippedSocket)
    .replaceAll(SHIPPED_LUA, (shippedLua) => luaFolder ?? shippedLua);
}
