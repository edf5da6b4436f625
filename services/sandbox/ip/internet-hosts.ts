/**
 * The hosts of the sandbox's internet. Besides two well-known resolvers, every address with an outcome lies in 192.52.193.0/24 (AMT
 * anycast, RFC 7450): globally reachable, so that look-ups are allowed, and no person's address.
 */
export interface SandboxHost {
  readonly address: string;
  /** PTR names. */
  readonly names: readonly string[];
  /** Names that resolve to the address. A PTR name that is not among them is forged. */
  readonly resolves: readonly string[];
  /** Return codes of the DNS block list. */
  readonly listings: readonly string[];
  /** AbuseIPDB's `abuseConfidenceScore`, 0 to 100. */
  readonly abuseScore: number;
  readonly tor: boolean;
  /** DNS never responds for this address. */
  readonly silent: boolean;
}

const plain: Omit<SandboxHost, 'address'> = { names: [], resolves: [], listings: [], abuseScore: 0, tor: false, silent: false };

function named(address: string, ...names: readonly string[]): SandboxHost {
  return { ...plain, address, names, resolves: names };
}

function listed(address: string, ...listings: readonly string[]): SandboxHost {
  return { ...plain, address, listings };
}

export const HOSTS = {
  google: named('8.8.8.8', 'dns.google'),
  googleV6: named('2001:4860:4860::8888', 'dns.google'),
  cloudflare: named('1.1.1.1', 'one.one.one.one'),
  changing: named('192.52.193.20', '192-52-193-20.pool.isp.sandbox.example'),
  lasting: named('192.52.193.21', 'static.customer.sandbox.example'),
  forged: { ...plain, address: '192.52.193.22', names: ['mail.google.com'] },
  silent: { ...plain, address: '192.52.193.23', silent: true },
  listed: listed('192.52.193.30', '127.0.0.2', '127.0.0.4'),
  dropped: listed('192.52.193.31', '127.0.0.2', '127.0.0.9'),
  policy: listed('192.52.193.32', '127.0.0.10'),
  refused: listed('192.52.193.33', '127.255.255.254'),
  abusive: { ...plain, address: '192.52.193.40', abuseScore: 100 },
  tor: { ...plain, address: '192.52.193.41', abuseScore: 60, tor: true },
} as const satisfies Record<string, SandboxHost>;

export const ALL_HOSTS: readonly SandboxHost[] = Object.values(HOSTS);
