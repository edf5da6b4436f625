import { type PathPattern } from './path-pattern';
import { type CheckedRoute } from './read-gateway';

/** A route's place before or after another in Kong's order, for a request that both would take. */
export type Order = 'before' | 'after' | 'open';

const isWild = (host: string): boolean => host.includes('*');

/** Whether two hosts of kong.yml, each of which may begin or end with `*`, have a name in common. */
function hostsMeet(a: string, b: string): boolean {
  if (isWild(a) && isWild(b)) return true;
  if (!isWild(a) && !isWild(b)) return a === b;
  const [wild, plain] = isWild(a) ? [a, b] : [b, a];
  return wild.startsWith('*') ? plain.endsWith(wild.slice(1)) : plain.startsWith(wild.slice(0, -1));
}

function listsMeet(
  a: readonly string[] | undefined,
  b: readonly string[] | undefined,
  meet = (one: string, other: string) => one === other,
): boolean {
  return a === undefined || b === undefined || a.some((one) => b.some((other) => meet(one, other)));
}

/** To Kong's routers a gRPC call is a request like any other. */
const httpOf = (protocols: readonly string[]): string[] =>
  protocols.filter((each) => /^(http|grpc|ws)s?$/.test(each)).map((each) => each.replace('grpc', 'http'));

/** Whether one request can match host, method, protocol, server name and headers of both. Their paths are compared elsewhere. */
export function conditionsMeet(a: CheckedRoute, b: CheckedRoute): boolean {
  if (!listsMeet(httpOf(a.protocols), httpOf(b.protocols))) return false;
  const headers = b.entity.headers ?? {};
  const apart = Object.entries(a.entity.headers ?? {}).some(([name, values]) => {
    const others = Object.entries(headers).find(([other]) => other.toLowerCase() === name.toLowerCase())?.[1];
    return others !== undefined && ![...values, ...others].some((value) => value.startsWith('~*')) && !listsMeet(values, others);
  });
  return !apart && listsMeet(a.hosts, b.hosts, hostsMeet) && listsMeet(a.methods, b.methods) && listsMeet(a.entity.snis, b.entity.snis);
}

/** The attributes that a route sets, as text: all of Kong's routers order routes with the same attributes alike. */
function attributesOf({ entity, hosts, methods }: CheckedRoute): string[] {
  const given = { hosts, headers: Object.keys(entity.headers ?? {}), paths: entity.paths ?? [], methods, snis: entity.snis ?? [] };
  return Object.entries(given).flatMap(([name, list = []]) => (list.length > 0 ? [name] : []));
}

/** Compared in turn; the larger value comes first. */
function rankOf({ hosts = [], entity }: CheckedRoute, path: PathPattern): number[] {
  const isPlain = hosts.length > 0 && !hosts.some(isWild);
  const byPath = path.isRegex ? [1, entity.regex_priority ?? 0, 0] : [0, 0, path.text.length];
  return [Number(isPlain), Object.keys(entity.headers ?? {}).length, ...byPath];
}

/**
 * `before` or `after` if all of Kong's routers (traditional, traditional_compatible and expressions) agree; `open` if they differ, or if
 * the creation time decides.
 * @param paths one path of each
 */
export function orderOf(a: CheckedRoute, b: CheckedRoute, paths: { readonly a: PathPattern; readonly b: PathPattern }): Order {
  const [left, right] = [a.entity.expression, b.entity.expression];
  if (left !== undefined || right !== undefined) {
    if (left === undefined || right === undefined) return 'open';
    return named((a.entity.priority ?? 0) - (b.entity.priority ?? 0));
  }
  const [some, others] = [attributesOf(a), attributesOf(b)];
  if (some.length !== others.length) return named(some.length - others.length);
  if (some.join() !== others.join()) return 'open';
  const rank = rankOf(b, paths.b);
  return named(rankOf(a, paths.a).map((value, index) => value - (rank[index] ?? 0)).find((difference) => difference !== 0) ?? 0); // prettier-ignore
}

function named(difference: number): Order {
  return difference === 0 ? 'open' : difference > 0 ? 'before' : 'after';
}

/**
 * Whether every request for its path that reaches the other route could also reach this one, because it has no conditions that the other
 * lacks.
 */
export function coversConditions(a: CheckedRoute, b: CheckedRoute): boolean {
  const covers = (wide: readonly string[] | undefined, narrow: readonly string[] | undefined): boolean =>
    wide === undefined || narrow?.every((each) => wide.includes(each)) === true;
  const { entity } = a;
  const isConditional = entity.expression !== undefined || (entity.snis ?? []).length + Object.keys(entity.headers ?? {}).length > 0;
  return !isConditional && covers(a.hosts, b.hosts) && covers(a.methods, b.methods) && covers(httpOf(a.protocols), httpOf(b.protocols));
}
