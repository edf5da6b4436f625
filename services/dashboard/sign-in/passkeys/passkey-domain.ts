import { isIP } from 'node:net';

/**
 * The name to which browsers bind passkeys: the host of the dashboard's own URL, whatever host a request names. Browsers keep none for a
 * network address, and none over plain http except for this machine.
 * @param url origin of the dashboard as browsers see it
 * @returns undefined where there can be none
 */
export function passkeyDomain(url: string): string | undefined {
  const { protocol, hostname } = new URL(url);
  if (isIP(hostname.replace(/^\[|\]$/g, '')) !== 0) return undefined;
  return protocol === 'https:' || hostname === 'localhost' || hostname.endsWith('.localhost') ? hostname : undefined;
}
