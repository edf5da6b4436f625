import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { buildConnector } from 'undici';
import { classifyAddress, isUnsafeTarget } from './reserved-addresses';
import { createHostResolver, HostUnresolved, type Resolve } from './resolve-host';

/** Why a caller's URL was not fetched. The texts reveal nothing about the network behind us. */
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

/** A refused or failed fetch. The message is only the refusal and never the URL, which may hold secrets. */
export class FetchRefused extends Error {
  override readonly name = 'FetchRefused';

  constructor(
    readonly reason: FetchRefusal,
    cause?: unknown,
  ) {
    super(reason, cause === undefined ? undefined : { cause });
  }
}

/** Opens a connection to exactly the `hostname` in its options, which is an IP address. */
export type Dial = buildConnector.connector;

/** Resolves hosts of the surrounding network, with the hosts file and the search list. It is only for callers who own that network. */
async function resolveBySystem(host: string): Promise<readonly string[]> {
  return (await lookup(host, { all: true })).map(({ address }) => address);
}

interface Judging {
  readonly resolve: Resolve;
  readonly allowPrivate: boolean;
}

/**
 * The addresses that a connection may use. One reserved address among several refuses the host, because the next look-up might choose it.
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

/** Further tries cost time. A host with two dead addresses is unreachable. */
const MAX_ADDRESSES_TRIED = 2;

export interface ConnectorOptions {
  readonly resolve?: Resolve | undefined;
  readonly dial?: Dial | undefined;
  readonly connectTimeoutMs: number;
  /** Allows reserved addresses too, for an installation whose callers own it. Default false. */
  readonly allowPrivate?: boolean | undefined;
}

/**
 * Resolves, judges and connects in one step. The address judged is the address connected to, so a second response of the name server cannot
 * come between. Address literals are judged too (undici does not call its own `lookup` option for them).
 */
export function createPinnedConnector(options: ConnectorOptions): Dial {
  const { allowPrivate = false } = options;
  const judging = { resolve: options.resolve ?? (allowPrivate ? resolveBySystem : createHostResolver()), allowPrivate };
  const dial = options.dial ?? buildConnector({ timeout: options.connectTimeoutMs, autoSelectFamily: false });
  return (target, callback) => {
    const host = target.hostname.replace(/^\[|\]$/g, '');
    const connectTo = ([address, ...others]: readonly [string, ...string[]]): void => {
      // The certificate is checked against the requested name, not against the pinned address.
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
