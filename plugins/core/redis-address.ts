/** The address of Redis: one server, or some nodes of a cluster that name the others. */
export type RedisAddress =
  | { readonly kind: 'server'; readonly url: string }
  | { readonly kind: 'cluster'; readonly nodes: readonly RedisNode[]; readonly login: RedisLogin };

export interface RedisNode {
  readonly host: string;
  readonly port: number;
}

/** The login, the same for all nodes. */
export interface RedisLogin {
  readonly username?: string;
  readonly password?: string;
  /** Present, and empty, for `rediss://`. */
  readonly tls?: Record<string, never>;
}

const DEFAULT_PORT = 6379;

/**
 * Parses REDIS_URL. Several URLs separated by commas are nodes of a Redis Cluster, and so is a single URL that ends in `?cluster=true`.
 * @throws Error that says what is wrong without repeating any of it
 */
export function parseRedisUrl(text: string): RedisAddress {
  const parts = text.split(',').map((part) => part.trim());
  const urls = parts.map(readUrl);
  const [first, ...others] = urls;
  if (!first) throw new Error('must be a redis:// or rediss:// URL');
  const isCluster = others.length > 0 || first.searchParams.get('cluster') === 'true';
  if (!isCluster) return { kind: 'server', url: text.trim() };
  const loginOf = ({ protocol, username, password }: URL): string => [protocol, username, password].join('\n');
  if (others.some((url) => loginOf(url) !== loginOf(first))) throw new Error('must name the same user, password and scheme for every node');
  if (urls.some(({ pathname }) => !['', '/', '/0'].includes(pathname))) throw new Error('must not name a database: a cluster has but one');
  return { kind: 'cluster', nodes: urls.map(nodeOf), login: readLogin(first) };
}

/** What is wrong with a REDIS_URL, or undefined. */
export function findRedisUrlProblem(text: string): string | undefined {
  try {
    parseRedisUrl(text);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : 'cannot be read';
  }
}

function readUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^rediss?:$/.test(url.protocol) || url.hostname === '') {
    throw new Error('must be a redis:// or rediss:// URL, or several of a cluster separated by commas');
  }
  return url;
}

function nodeOf({ hostname, port }: URL): RedisNode {
  return { host: hostname.replace(/^\[(.*)\]$/, '$1'), port: Number(port || DEFAULT_PORT) };
}

function readLogin({ protocol, username, password }: URL): RedisLogin {
  return {
    ...(username !== '' && { username: decodeURIComponent(username) }),
    ...(password !== '' && { password: decodeURIComponent(password) }),
    ...(protocol === 'rediss:' && { tls: {} }),
  };
}
