/** What of an upstream is read: its name and id, and the addresses that it spreads requests over. */
interface NamedUpstream {
  readonly name?: string | undefined;
  readonly id?: string | undefined;
  readonly targets?: readonly { readonly target?: string | undefined }[] | undefined;
}
/** A target that stands beside the upstreams and refers to its own. */
interface LooseTarget {
  readonly upstream?: readonly string[] | undefined;
  readonly target?: string | undefined;
}

/** Kong's own port for a target that names none. */
const TARGET_PORT = 8_000;

/**
 * One text for every spelling of a place that Kong would call: case, a dot at the end, short forms of IPv4, `localhost`.
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

/** Where each upstream leads, by its name. */
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

/** Everything that a service with this host may call, as `host:port`, each in one spelling; the upstream itself where the file has no targets of it. */
export function addressesOf(host: string, port: number, targets: ReturnType<typeof readTargets>): readonly string[] {
  const known = targets.get(keyOf(host)) ?? [];
  return known.length > 0 ? known : [addressOf(host, port)];
}
