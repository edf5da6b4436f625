import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { buildConnector } from 'undici';
import { classifyAddress, isUnsafeTarget } from './reserved-addresses';
import { createHostResolver, HostUnresolved, type Resolve } from './resolve-host';

/** Why a URL of a caller was not fetched. Texts say nothing about what the network behind us looks like. */
export type FetchRefusal =
  | 'url_invalid'
  | 'scheme_refused'
  | 'port_refused'
  | 'userinfo_refused'
  | 'host_unknown'
  | 'host_unresolved'
  | 'address_refused'
  | 'too_many_redirects'
  | 'too_many_hosts'
  | 'too_large'
  | 'content_type_refused'
  | 'encoding_refused'
  | 'unreachable'
  | 'timeout';

/** A refused or failed fetch. The message is the refusal alone: never the URL, which may hold secrets. */
export class FetchRefused extends Error {
  override readonly name = 'FetchRefused';

  constructor(
    readonly reason: FetchRefusal,
    cause?: unknown,
  ) {
    super(reason, cause === undefined ? undefined : { cause });
  }
}

/** Opens a connection to exactly the `hostname` in its options, which is an address. */
export type Dial = buildConnector.connector;

/** For hosts of the network around us: the hosts file and the search list count. Who gives the URLs owns that network. */
async function resolveBySystem(host: string): Promise<readonly string[]> {
  return (await lookup(host, { all: true })).map(({ address }) => address);
}

interface Judging {
  readonly resolve: Resolve;
  readonly allowPrivate: boolean;
}

/**
 * The addresses a connection may go to. One reserved address among several refuses the host: the next look-up might choose it.
 * @throws FetchRefused `host_unknown`, `host_unresolved`, `timeout` or `address_refused`
 */
async function safeAddresses(host: string, { resolve, allowPrivate }: Judging): Promise<readonly [string, ...string[]]> {
  const addresses = isIP(host) === 0 ? await resolve(host).catch((error: unknown) => refuseHost(error)) : [host];
  const [first, ...rest] = addresses;
  if (first === undefined) throw new FetchRefused('host_unknown');
  for (const address of addresses) {
    const known = classifyAddress(address);
    if (!known || (isUnsafeTarget(known) && !allowPrivate)) throw new FetchRefused('address_refused');
  }
  return [first, ...rest];
}

function refuseHost(error: unknown): never {
  if (error instanceof HostUnresolved) throw new FetchRefused(error.isTimeout ? 'timeout' : 'host_unresolved', error);
  throw new FetchRefused('host_unknown', error);
}

/** Second tries cost time; a host with two dead addresses is unreachable. */
const MAX_ADDRESSES_TRIED = 2;

export interface ConnectorOptions {
  readonly resolve?: Resolve | undefined;
  readonly dial?: Dial | undefined;
  readonly connectTimeoutMs: number;
  /** Connects to reserved addresses too: for an installation whose callers are its owners. Default false. */
  readonly allowPrivate?: boolean | undefined;
}

/**
 * Resolves, judges and connects in one step, so that the address judged is the address connected to: a second answer of the name
 * server cannot come between. Address literals are judged too (undici's own `lookup` option is not called for them).
 */
export function createPinnedConnector(options: ConnectorOptions): Dial {
  const { allowPrivate = false } = options;
  const judging = { resolve: options.resolve ?? (allowPrivate ? resolveBySystem : createHostResolver()), allowPrivate };
  const dial = options.dial ?? buildConnector({ timeout: options.connectTimeoutMs, autoSelectFamily: false });
  return (target, callback) => {
    const host = target.hostname.replace(/^\[|\]$/g, '');
    const connectTo = ([address, ...others]: readonly [string, ...string[]]): void => {
      // The certificate is checked against the name that was asked for, not against the pinned address.
      const servername = target.servername ?? (isIP(host) === 0 ? host : undefined);
      const pinned = { ...target, hostname: address, host: address, ...(servername !== undefined && { servername }) };
      dial(pinned, (...result) => {
        const [next, ...rest] = others;
        if (result[0] !== null && next !== undefined) connectTo([next, ...rest]);
        else callback(...result);
      });
    };
    safeAddresses(host, judging).then(
      ([first, ...rest]) => connectTo([first, ...rest.slice(0, MAX_ADDRESSES_TRIED - 1)]),
      (error: unknown) => callback(error instanceof Error ? error : new FetchRefused('unreachable', error), null),
    );
  };
}
