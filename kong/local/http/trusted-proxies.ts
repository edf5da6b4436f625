import { BlockList, isIP } from 'node:net';

/** The settings of kong.conf that name the peers which may forward a caller's address. */
export interface RealIpSettings {
  /** Addresses and CIDR blocks whose forwarding headers are trusted; none by default. */
  trustedIps: readonly string[];
  /** Lower-cased name of the header that carries the address; Kong's default is `x-real-ip`. */
  realIpHeader: string;
  /** Walk the list from the right past every trusted address, instead of taking the last address. */
  recursive: boolean;
}

export interface CallerAddress {
  ip: string;
  /** 0 if a forwarding header named the caller without a port. */
  port: number;
}

/** nginx's realip module with Kong's settings. */
export class TrustedProxies {
  private readonly trusted = new BlockList();
  private readonly any: boolean;

  constructor(private readonly settings: RealIpSettings) {
    this.any = settings.trustedIps.length > 0;
    for (const entry of settings.trustedIps) this.add(entry);
  }

  get headerName(): string {
    return this.settings.realIpHeader;
  }

  isTrusted(ip: string): boolean {
    if (!this.any) return false;
    const family = isIP(ip);
    return family !== 0 && this.trusted.check(ip, family === 6 ? 'ipv6' : 'ipv4');
  }

  /** `forwarded` is the value of {@link headerName}, repeats joined with commas. */
  callerOf(peer: CallerAddress, forwarded: string | undefined): CallerAddress {
    if (!this.any || forwarded === undefined) return peer;
    const entries = forwarded.split(/[\s,]+/).filter((entry) => entry !== '');
    let caller = peer;
    while (entries.length > 0 && this.isTrusted(caller.ip)) {
      const next = parseAddress(entries.pop() ?? '');
      if (next === undefined) break;
      caller = next;
      if (!this.settings.recursive) break;
    }
    return caller;
  }

  private add(entry: string): void {
    const [address = '', prefix] = entry.split('/');
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    if (prefix === undefined) this.trusted.addAddress(address, family);
    else this.trusted.addSubnet(address, Number(prefix), family);
  }
}

/** Whether a `trusted_ips` entry is an address or a CIDR block. */
export function isTrustedIpEntry(entry: string): boolean {
  const [address = '', prefix, rest] = entry.split('/');
  const family = isIP(address);
  if (family === 0 || rest !== undefined) return false;
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= (family === 6 ? 128 : 32));
}

/** `1.2.3.4`, `1.2.3.4:80`, `::1` and `[::1]:80`: the forms that nginx reads in a forwarding header. */
function parseAddress(text: string): CallerAddress | undefined {
  if (isIP(text) !== 0) return { ip: text, port: 0 };
  const match = /^(?:\[([^\]]+)\]|([^:]+))(?::(\d{1,5}))?$/.exec(text);
  const ip = match?.[1] ?? match?.[2] ?? '';
  if (isIP(ip) === 0) return undefined;
  return { ip, port: Number(match?.[3] ?? 0) };
}

/** Node shows IPv4 peers of a dual-stack socket as `::ffff:1.2.3.4`; Kong shows them plain. */
export function plainAddress(address: string | undefined): string {
  if (address === undefined) return '';
  return address.startsWith('::ffff:') && address.includes('.') ? address.slice(7) : address;
}
