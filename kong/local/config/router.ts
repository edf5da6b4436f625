import { type LocalRoute } from './kong-yml';

export interface RouteMatch {
  route: LocalRoute;
  /** The part of the path that the route's own path matched. */
  prefix: string;
}

interface Matcher {
  route: LocalRoute;
  methods: ReadonlySet<string> | undefined;
  regex: RegExp | undefined;
  prefixes: readonly string[];
  rank: readonly number[];
}

/**
 * Kong 3.9's `traditional_compatible` order: routes with methods before routes without, regular expressions before prefixes, then the
 * higher `regex_priority`, then the longer prefix. Where Kong falls back to the routes' ids, the order in kong.yml decides here.
 */
export class Router {
  private readonly matchers: readonly Matcher[];

  constructor(routes: readonly LocalRoute[]) {
    this.matchers = routes.flatMap(splitRoute).sort((a, b) => compareRanks(b.rank, a.rank));
  }

  /** `path` must be normalised. The match is case-sensitive. */
  match(method: string, path: string): RouteMatch | undefined {
    for (const matcher of this.matchers) {
      if (matcher.methods !== undefined && !matcher.methods.has(method)) continue;
      if (matcher.regex !== undefined) {
        const found = matcher.regex.exec(path);
        if (found !== null) return { route: matcher.route, prefix: found[0] };
        continue;
      }
      for (const prefix of matcher.prefixes) if (path.startsWith(prefix)) return { route: matcher.route, prefix };
    }
    return undefined;
  }
}

/** Kong ranks the paths of one route separately: each regular expression by itself, prefixes by their length. */
function splitRoute(route: LocalRoute): Matcher[] {
  const methods = route.methods === undefined ? undefined : new Set(route.methods);
  const weight = methods === undefined ? 1 : 2;
  const groups = new Map<number, string[]>();
  const matchers: Matcher[] = [];
  for (const path of route.paths) {
    if (path.startsWith('~')) {
      const regex = new RegExp(`^${asRust(path.slice(1))}`);
      matchers.push({ route, methods, regex, prefixes: [], rank: [weight, 1, route.regexPriority, 0] });
    } else {
      groups.set(path.length, [...(groups.get(path.length) ?? []), path]);
    }
  }
  for (const [length, prefixes] of groups) matchers.push({ route, methods, regex: undefined, prefixes, rank: [weight, 0, 0, length] });
  return matchers;
}

/** In Kong's engine `.` matches every character but a line feed; in JavaScript it does not match a carriage return either. */
function asRust(pattern: string): string {
  return pattern.replace(/\\.|\[(?:\\.|[^\]\\])*\]|\./gs, (part) => (part === '.' ? '[^\\n]' : part));
}

function compareRanks(a: readonly number[], b: readonly number[]): number {
  for (let i = 0; i < a.length; i++) {
    const difference = (a[i] ?? 0) - (b[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** The path for the service: its own path, then the request's, without the matched prefix if the route strips it. */
export function upstreamPath(match: RouteMatch, path: string): string {
  const base = match.route.service.path;
  const slashBase = base.endsWith('/');
  if (!match.route.stripPath) {
    if (slashBase) return base + path.slice(1);
    return path === '/' ? base : base + path;
  }
  const rest = sanitizeRest(path.slice(match.prefix.length));
  if (rest === '') {
    if (base === '/') return '/';
    const wantsSlash = path.length > 1 && path.endsWith('/');
    return slashBase === wantsSlash ? base : wantsSlash ? `${base}/` : base.slice(0, -1);
  }
  const bare = slashBase ? base.slice(0, -1) : base;
  return rest.startsWith('/') ? bare + rest : `${bare}/${rest}`;
}

/** The rest after stripping may not start with a dot segment. */
function sanitizeRest(rest: string): string {
  if (rest === '.' || rest === '..') return '';
  if (rest.startsWith('.//')) return rest.slice(2);
  return rest.startsWith('../') ? rest.slice(3) : rest;
}
