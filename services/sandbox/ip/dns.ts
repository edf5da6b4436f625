import { type IpAddress, parseIpAddress } from '../../../plugins/core/access/ip-address';
import { readDnsQuestion, RECORD_TYPES, writeDnsAnswer } from './dns-message';
import { ALL_HOSTS, HOSTS, type SandboxHost } from './internet-hosts';
import { type SandboxExample, type SandboxUpstream } from '../sandbox-upstream';

function example(outcome: string, host: SandboxHost, yields: string): SandboxExample {
  return { product: 'api-ip', route: '/ip', method: 'GET', outcome, input: { ip: host.address }, yields };
}

const examples: readonly SandboxExample[] = [
  example('success', HOSTS.google, '200, hostname dns.google, AS15169; also 2001:4860:4860::8888 and 1.1.1.1'),
  {
    product: 'api-ip',
    route: '/ip',
    method: 'POST',
    outcome: 'success',
    input: { ips: [HOSTS.google.address, HOSTS.lasting.address, HOSTS.tor.address, '10.1'] },
    yields: '200, four results; the last, which is no address, with is_valid false',
  },
  example('changing_name', HOSTS.changing, '200, a reverse name of a dial-up pool: static_ip_score 0'),
  example('lasting_name', HOSTS.lasting, '200, a reverse name with "static": static_ip_score 45'),
  example('forged_name', HOSTS.forged, '200, hostname null: the reverse name does not point back at the address'),
  example(
    'name_server_silent',
    HOSTS.silent,
    '200 after a second, hostname null and reverse_dns in checked with ok false: the name server never answers',
  ),
  example('block_listed', HOSTS.listed, '200, risk signals dnsbl_sbl and dnsbl_xbl: ip_risk 88'),
  example('block_listed_drop', HOSTS.dropped, '200, risk signals dnsbl_sbl and dnsbl_drop: ip_risk 98'),
  example('policy_listed', HOSTS.policy, '200, risk signal dnsbl_pbl with weight 0: ip_risk 0, static_ip_score 5'),
  example('block_list_refuses', HOSTS.refused, '200, no risk signal: the list answers with an error code'),
];

/** The sandbox's block list, under the zone of the real one. */
const BLOCK_LIST = 'zen.spamhaus.org';

interface Zone {
  /** By lower-case name, then by record type. */
  readonly records: ReadonlyMap<string, ReadonlyMap<number, readonly string[]>>;
  readonly silent: ReadonlySet<string>;
}

function parsed(text: string): IpAddress {
  const address = parseIpAddress(text);
  if (!address) throw new Error(`${text} is not an address`);
  return address;
}

function reversed(address: IpAddress): string {
  const labels = address.version === 4 ? address.text.split('.') : [...address.value.toString(16).padStart(32, '0')];
  return labels.reverse().join('.');
}

function buildZone(): Zone {
  const records = new Map<string, Map<number, string[]>>();
  const silent = new Set<string>();
  const add = (name: string, type: number, value: string): void => {
    const ofName = records.get(name) ?? new Map<number, string[]>();
    ofName.set(type, [...(ofName.get(type) ?? []), value]);
    records.set(name, ofName);
  };
  for (const host of ALL_HOSTS) {
    const address = parsed(host.address);
    const pointer = `${reversed(address)}.${address.version === 4 ? 'in-addr' : 'ip6'}.arpa`;
    if (host.silent) silent.add(pointer);
    for (const name of host.names) add(pointer, RECORD_TYPES.PTR, name);
    for (const name of host.resolves) add(name, address.version === 4 ? RECORD_TYPES.A : RECORD_TYPES.AAAA, host.address);
    for (const code of host.listings) add(`${reversed(address)}.${BLOCK_LIST}`, RECORD_TYPES.A, code);
  }
  return { records, silent };
}

function bytesOf(address: string): Buffer {
  const { value, bits } = parsed(address);
  return Buffer.from(value.toString(16).padStart(bits / 4, '0'), 'hex');
}

/** A name server that knows the hosts of {@link ALL_HOSTS} and sends NXDOMAIN for every other name. */
export function createDns(): SandboxUpstream {
  const { records, silent } = buildZone();
  return {
    name: 'dns',
    examples,
    datagram(message) {
      const question = readDnsQuestion(message);
      if (!question || silent.has(question.name)) return undefined;
      const ofName = records.get(question.name);
      const values = ofName?.get(question.type) ?? [];
      const answers = values.map((value) => (question.type === RECORD_TYPES.PTR ? { name: value } : { bytes: bytesOf(value) }));
      return writeDnsAnswer(question, { exists: ofName !== undefined, answers });
    },
  };
}
