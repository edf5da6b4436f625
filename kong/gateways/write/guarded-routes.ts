import { parse } from 'yaml';
import { ownNamesOf, readKeyPlaces } from '../../../plugins/core/key-places';
import { AS_KONG_READS } from '../../as-kong-reads';
import {
  declarativeSchema,
  isGrpc,
  isHttps,
  type DeclaredPlugin,
  type DeclaredRoute,
  type DeclaredService,
} from '../../local/config/declarative-schema';
import { findOverride } from '../../local/config/upstream-override';

/** One route of kong.yml behind the access layer, in the form that every other gateway needs. */
export interface WrittenRoute {
  /** Letters, digits, `-` and `_`: a prefix for the gateway's own names. Unique. */
  readonly name: string;
  /**
   * Regular expressions that begin with `^`, any of which may match. An expression for the whole path ends in `\z`, because `$` also
   * matches before a final line feed.
   */
  readonly patterns: readonly string[];
  /** The products and settings as gateways write them: `weather;strip_path=/weather`. */
  readonly question: string;
  /** Route-specific headers that carry the key, to be removed from the request. */
  readonly keyHeaders: readonly string[];
  /** Prefix to be stripped from the path; empty for none. */
  readonly stripped: string;
  readonly upstream: GatewayUpstream;
  /** False: the body is streamed to the API. */
  readonly buffersBody: boolean;
}

interface GatewayUpstream {
  readonly host: string;
  readonly port: number;
  /** The Host header for the API: with the port, unless it is the scheme's default. */
  readonly authority: string;
  /** Prefix added to every path, without a trailing slash; empty for none. */
  readonly base: string;
  readonly isHttps: boolean;
  /** Whether its certificate is checked. */
  readonly verifies: boolean;
  /** Seconds, at least one. */
  readonly connect: number;
  readonly send: number;
  readonly read: number;
}

export interface RouteSources {
  /** The text of kong.yml. */
  readonly kongYml: string;
  /** Addresses that replace those in kong.yml, as {@link findOverride} finds them. */
  readonly overrides?: Readonly<Record<string, string>>;
  /** Whether the gateway can pass a form to the access layer. If so, the form may hold the key. */
  readonly takesForms: boolean;
}

const GUARDS: readonly string[] = ['access-layer', 'tollgate'];
/** Settings of Kong's plugin alone. `socket` is the address of the plugin server. */
const OF_KONG: readonly string[] = ['products', 'socket'];

/** @throws Error, readable, naming the place in kong.yml that other gateways do not support */
export class UnwritableRoute extends Error {
  override readonly name = 'UnwritableRoute';
}

function questionOf({ config }: DeclaredPlugin, stripped: string, takesForms: boolean): string {
  const settings = Object.entries(config).flatMap(([name, value]) => {
    if (OF_KONG.includes(name) || value === null || (!takesForms && name.startsWith('form_'))) return [];
    const texts = (Array.isArray(value) ? value : [value]) as readonly (string | number | boolean)[];
    const places = texts.filter((each) => takesForms || each !== 'form').join(',');
    return [`;${name}=${places}`];
  });
  const strip = stripped === '' ? [] : [`;strip_path=${stripped}`];
  return [(config['products'] as string[]).join(','), ...strip, ...settings].join('');
}

function keyHeadersOf({ config: { key_in: places } }: DeclaredPlugin): readonly string[] {
  return ownNamesOf(readKeyPlaces(Array.isArray(places) ? places.map(String) : [])).headers;
}

/** Kong strips the text that a path matched, which is fixed only if the paths are `~/weather$` and `/weather/`. */
function strippedOf({ name, paths, strip_path: strips }: DeclaredRoute): string {
  if (!strips) return '';
  const prefixes = new Set(
    paths.map((path) =>
      path
        .replace(/^~(.*)\$$/, '$1')
        .replace(/\/$/, '')
        .replaceAll('\\.', '.'),
    ),
  );
  const [prefix = ''] = prefixes;
  if (prefixes.size === 1 && /^(?:\/[\w.~-]+)+$/.test(prefix)) return prefix;
  throw new UnwritableRoute(`route ${name}: strip_path needs the paths ~/NAME$ and /NAME/, as npx tollgate product new writes them`);
}

function patternOf(path: string): string {
  if (path.startsWith('~')) return `^${path.slice(1).replace(/\$$/, '')}\\z`;
  return `^${path.replace(/[.+?^${}()|[\]\\*]/g, '\\$&')}`;
}

const seconds = (milliseconds: number): number => Math.max(1, Math.ceil(milliseconds / 1_000));

function upstreamOf(service: DeclaredService, override: string | undefined): GatewayUpstream {
  const { host = '', port, path = '' } = service;
  const secure = override === undefined && isHttps(service);
  const declared = `${secure ? 'https' : 'http'}://${host}${port === undefined ? '' : `:${port}`}${path}`;
  const url = new URL(override ?? service.url ?? declared);
  if (service.ca_certificates) throw new UnwritableRoute(`service ${service.name}: only Kong has ca_certificates in kong.yml`);
  return {
    host: url.hostname,
    port: Number(url.port || (secure ? 443 : 80)),
    authority: url.host,
    base: url.pathname.replace(/\/+$/, ''),
    isHttps: secure,
    verifies: service.tls_verify === true,
    connect: seconds(service.connect_timeout),
    send: seconds(service.write_timeout),
    read: seconds(service.read_timeout),
  };
}

/**
 * The guarded routes of a kong.yml in the order in which they are tried: higher `regex_priority` first, then prefixes. Routes without a key
 * (`/` and `/openapi.json`) exist in Kong only.
 * @throws UnwritableRoute; the error of parsing the file
 */
export function readGuardedRoutes({ kongYml, overrides = {}, takesForms }: RouteSources): WrittenRoute[] {
  const { services } = declarativeSchema.parse(parse(kongYml, AS_KONG_READS));
  const routes = services.flatMap((service) => {
    const guard = service.plugins.find(({ name, enabled }) => enabled && GUARDS.includes(name));
    // Only Kong proxies gRPC.
    if (!guard || isGrpc(service) || service.routes.some(isGrpc)) return [];
    const upstream = upstreamOf(service, findOverride(service, overrides));
    return service.routes.map((route) => {
      const stripped = strippedOf(route);
      const isPrefix = route.paths.every((path) => !path.startsWith('~'));
      return {
        priority: isPrefix ? -1 : route.regex_priority,
        name: route.name.replace(/[^\w-]/g, '_'),
        patterns: route.paths.map(patternOf),
        question: questionOf(guard, stripped, takesForms),
        keyHeaders: keyHeadersOf(guard),
        stripped,
        upstream,
        buffersBody: route.request_buffering,
      };
    });
  });
  return routes.sort((left, right) => right.priority - left.priority);
}
