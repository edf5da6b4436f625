import { type ReadOn } from '../../plugins/core/problems';
import { addReadOn } from '../add-read-on';

/** Gateways that stand in front of the products in place of Kong. */
export const GATEWAY_KINDS = ['nginx', 'caddy', 'haproxy', 'nginx-lua'] as const;

export type GatewayKind = (typeof GATEWAY_KINDS)[number];

interface GatewayListen {
  readonly host: string;
  readonly port: number;
}

/** Where the shipped configuration's places are on this machine. What is not named stays as it is shipped. */
export interface GatewayPlaces {
  readonly listen?: GatewayListen;
  /** The plugin server's FORWARD_AUTH_LISTEN, for nginx-lua its LANE_LISTEN. */
  readonly socketPath?: string;
  /** Where nginx-lua finds its Lua. */
  readonly luaFolder?: string;
  /** A file; nginx cannot open a standard output that is a socket, as that of a supervised process is. */
  readonly accessLog?: string;
  /** The plugin server's ANSWERS_LISTEN; nginx-lua tells its LANE_LISTEN. */
  readonly answersTo?: string;
  /** Where callers read on about what the gateway answers by itself. */
  readonly readOn?: ReadOn;
}

const SHIPPED_SOCKET = /\/var\/run\/tollgate\/(forward-auth|lane)\.sock/g;
const SHIPPED_ANSWERS = /\b127\.0\.0\.1:9514\b/g;
/** Beside the files that nginx-lua includes. */
const SHIPPED_LUA = /\/etc\/nginx\/tollgate(?=\/[\w?]+\.lua)/g;

/** What listens on the shipped port, in each language, and the same on another. */
const LISTEN: Readonly<Record<GatewayKind, readonly [string, (listen: GatewayListen) => string]>> = {
  nginx: ['listen 8000;', ({ host, port }) => `listen ${host}:${port};`],
  caddy: ['\n:8000 {\n', ({ host, port }) => `\n:${port} {\n\tbind ${host}\n`],
  haproxy: ['  bind :8000\n', ({ host, port }) => `  bind ${host}:${port}\n`],
  'nginx-lua': ['listen 8000;', ({ host, port }) => `listen ${host}:${port};`],
};

/** Debian's package enables its modules in the main configuration, which is not used by `npm start`. */
export const LUA_MODULES = ['ndk_http_module', 'ngx_http_lua_module']
  .map((name) => `load_module /usr/lib/nginx/modules/${name}.so;`)
  .join(' ');

/** What a gateway runs besides the files of its own folder, below kong/. nginx with Lua has nginx's routes, which include files of the same names. */
export const SHARED_FILES: Readonly<Partial<Record<GatewayKind, readonly string[]>>> = {
  'nginx-lua': ['gateways/nginx/nginx.conf', 'lane/lane.lua'],
};

/**
 * One file of the shipped configuration with the places of this machine; everything else stays as it is shipped, so that what runs here is what is
 * run in production.
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
