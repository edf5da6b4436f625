import { guardedRoutes, guardRoutes } from './check-guard';
import { readGateway, type CheckedRoute } from './read-gateway';

/** The part of an OpenAPI document that gives the address of its API. */
interface ServedDocument {
  readonly servers?: unknown;
  readonly paths?: unknown;
}

const withoutEnd = (path: string): string => path.replace(/\/+$/, '');
/** Host of servers that name none. Only the path matters. */
const ANYWHERE = 'http://host.invalid';

const memberOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name) ? Reflect.get(value, name) : undefined;

/** The address of a server, with each variable's default filled in. Variables without a default stay. */
function addressOf(server: unknown): string | undefined {
  const url = memberOf(server, 'url');
  if (typeof url !== 'string') return undefined;
  return url.replaceAll(/\{([^{}]*)\}/g, (open, name: string) => {
    const value = memberOf(memberOf(memberOf(server, 'variables'), name), 'default');
    return typeof value === 'string' ? value : open;
  });
}

/** The path below which a document puts its API; empty if it names none, or one with open variables. */
function serverPath({ servers }: ServedDocument): string {
  const [first] = Array.isArray(servers) ? (servers as readonly unknown[]) : [];
  const url = addressOf(first);
  if (url === undefined || url.includes('{') || !URL.canParse(url, ANYWHERE)) return '';
  return withoutEnd(new URL(url, ANYWHERE).pathname);
}

function servicePath({ service }: CheckedRoute): string {
  const { url, path = '' } = service?.entity ?? {};
  return withoutEnd(url !== undefined && URL.canParse(url) ? new URL(url).pathname : path);
}

/**
 * Notes about products whose document has the API below a path that kong.yml does not add, so that every call would miss it.
 * @param documents OpenAPI documents by product
 * @returns one sentence each
 */
export function noteServerPaths(kongYml: string, documents: ReadonlyMap<string, unknown>): string[] {
  const gateway = readGateway(kongYml);
  if (Array.isArray(gateway)) return [];
  const routes = guardedRoutes(guardRoutes(gateway));
  return [...documents].flatMap(([product, document]) => {
    const below = serverPath(document as ServedDocument);
    const route = routes.find(({ guard }) => guard.config.products?.[0] === product)?.route;
    // An API that gets the whole path serves paths below its prefix.
    if (below === '' || route?.service === undefined || route.entity.strip_path === false) return [];
    const own = Object.keys((document as ServedDocument).paths ?? {});
    if (servicePath(route).endsWith(below) || own.every((path) => path.startsWith(`${below}/`))) return [];
    return [`product ${product}: its document says that the API is below ${below}; add that to the url of ${route.service.label}`];
  });
}
