/** The fields of an upstream that are read: its name, its id and its targets. */
interface NamedUpstream {
  readonly name?: string | undefined;
  readonly id?: string | undefined;
  readonly targets?: readonly { readonly target?: string | undefined }[] | undefined;
}
/** A target outside the upstreams, which refers to its upstream. */
interface LooseTarget {
  readonly upstream?: readonly string[] | undefined;
  readonly target?: string | undefined;
}

/** Kong's default port for a target. */
const TARGET_PORT = 8_000;

/**
 * Normalises an address that Kong would call: case, a trailing dot, short forms of IPv4, `localhost`.
 * @param host a name, an IPv4 address, or an IPv6 address in brackets
 */
function addressOf(host: string, port: number): string {
  const bare = host.toLowerCase().replace(/\.$/, '');
  const known = URL.canParse(`http://${bare}`) ? new URL(`http://${bare}`).hostname : bare;
  return `${known === 'localhost' ? '127.0.0.1' : known}:${port}`;
}

function targetAddress(target: string): string {
  const [, host = '', port] = /^(.*?)(?::(\d+))?$/s.exec(target.trim()) ?? [];
  return addressOf(host, Number(port ?? TARGET_PORT));
}

const keyOf = (name: string): string => name.toLowerCase().replace(/\.$/, '');

/** The addresses of each upstream, by its name. */
export function readTargets(upstreams: readonly NamedUpstream[], loose: readonly LooseTarget[]): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  for (const { name = '', id, targets = [] } of upstreams) {
    const beside = loose.filter(({ upstream = [] }) => upstream.some((each) => each === name || each === id));
    found.set(
      keyOf(name),
      [...targets, ...beside].flatMap(({ target }) => target ?? []),
    );
  }
  return new Map([...found].map(([name, targets]) => [name, targets.map(targetAddress)]));
}

/**
 * Every address that a service with this host may call, as normalised `host:port`; the upstream itself if the file has no targets for it.
 */
export function addressesOf(host: string, port: number, targets: ReturnType<typeof readTargets>): readonly string[] {
  const known = targets.get(keyOf(host)) ?? [];
  return known.length > 0 ? known : [addressOf(host, port)];
}
