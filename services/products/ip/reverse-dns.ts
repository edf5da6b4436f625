import { type IpAddress, parseIpAddress } from '../../../plugins/core/access/ip-address';
import { type DnsResolver, isNoRecord, reversedLabels } from './dns-resolver';

/** RFC 1035's maximum length. */
const MAX_NAME = 253;
/** An address may have any number of PTR records, because its owner decides. */
const NAMES_TRIED = 4;

/**
 * A PTR name that is safe to show. The owner of the address wrote it, so control and invisible characters and the rest of an overlong name
 * are removed. Undefined if nothing is left.
 */
export function cleanName(name: string): string | undefined {
  const clean = name
    .replace(/[\p{C}\p{Z}]/gu, '')
    .slice(0, MAX_NAME)
    .replace(/\.+$/, '');
  return clean === '' ? undefined : clean;
}

/** The name that holds an address's PTR records. */
function pointerName(address: IpAddress): string {
  return `${reversedLabels(address)}.${address.version === 4 ? 'in-addr' : 'ip6'}.arpa`;
}

async function resolvesTo(name: string, address: IpAddress, resolver: DnsResolver): Promise<boolean> {
  const answers = await (address.version === 4 ? resolver.resolve4(name) : resolver.resolve6(name));
  return answers.some((answer) => parseIpAddress(answer)?.value === address.value);
}

/**
 * The first PTR name of the address that resolves back to it (forward-confirmed reverse DNS): anyone can name an address `mail.google.com`,
 * but only Google can make that name point to it.
 * @returns undefined when there is none
 * @throws when the resolver fails; the caller sets the deadline
 */
export async function findHostname(address: IpAddress, resolver: DnsResolver): Promise<string | undefined> {
  let names: string[];
  try {
    names = await resolver.resolvePtr(pointerName(address));
  } catch (error) {
    if (isNoRecord(error)) return undefined;
    throw error;
  }
  const candidates = names.flatMap((name) => cleanName(name) ?? []).slice(0, NAMES_TRIED);
  const checks = await Promise.allSettled(candidates.map((name) => resolvesTo(name, address, resolver)));
  const confirmed = checks.findIndex((check) => check.status === 'fulfilled' && check.value);
  if (confirmed >= 0) return candidates[confirmed];
  // A name that could not be looked up is not proven false.
  const failure = checks.find((check) => check.status === 'rejected' && !isNoRecord(check.reason));
  if (failure?.status === 'rejected') throw failure.reason;
  return undefined;
}
