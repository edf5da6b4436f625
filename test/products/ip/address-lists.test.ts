import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { formatIpAddress, networkValue, parseIpNetwork } from '../../../plugins/core/access/ip-address';
import { openAddressLists } from '../../../services/products/ip/lists/address-lists';
import { LIST_DEFINITIONS } from '../../../services/products/ip/lists/list-definitions';
import { listPath, parseListFile, writeList } from '../../../services/products/ip/lists/list-file';
import { createNetworkSet } from '../../../services/products/ip/lists/network-set';
import { readNetworks } from '../../../services/products/ip/lists/read-networks';
import { fc, propertyRuns } from '../../support/fast-check';
import { addressOf } from './address-of';
import { type Clock } from '../../../plugins/core/ports';
import { type DnsResolver } from '../../../services/products/ip/dns-resolver';
import { DnsblRefused, dnsblName, findListings, readListings } from '../../../services/products/ip/dnsbl';
import { createNetworkFacts, type NetworkSources, SOURCE_DEADLINE_MS } from '../../../services/products/ip/network-facts';
import { cleanName, findHostname } from '../../../services/products/ip/reverse-dns';
import { holdTime } from '../../support/faults/held-time';

describe('lists of addresses', () => {
  const DAY = new Date('2026-11-20T06:00:00Z');
  const HOUR_MS = 3_600_000;

  let folder: string;
  beforeEach(async () => (folder = await mkdtemp(join(tmpdir(), 'ip-lists-'))));
  afterEach(() => rm(folder, { recursive: true }));

  describe('a fetched file', () => {
    it.each([
      ['lines', '# exits\n\n185.220.101.1\r\n2a0b:f4c2::/40\n', ['185.220.101.1/32', '2a0b:f4c2::/40']],
      ['lines', '10.0.0.9/8', ['10.0.0.0/8']],
      ['csv', '172.224.224.0/31,US,US-CA,LOSANGELES,\n2a02:26f7::/64,DE,,,\n', ['172.224.224.0/31', '2a02:26f7::/64']],
      [
        'json',
        '{"prefixes":[{"ip_prefix":"3.5.140.0/22"}],"ipv6_prefixes":[{"ipv6_prefix":"2600:1f00::/40"}]}',
        ['3.5.140.0/22', '2600:1f00::/40'],
      ],
      [
        'json',
        '{"prefixes":[{"ipv4Prefix":"34.1.208.0/20"},{"ipv6Prefix":"2600:1900:4000::/44"}]}',
        ['34.1.208.0/20', '2600:1900:4000::/44'],
      ],
      ['json', '{}', []],
    ] as const)('of the format %s is read: %j', (format, text, networks) => expect(readNetworks(text, format)).toEqual(networks));

    it.each([
      ['lines', '<!doctype html>', 'line 1'],
      ['lines', '0.0.0.0/0', 'too wide'],
      ['csv', 'network,country\n', 'line 1'],
      ['json', '185.220.101.1', 'JSON'],
      ['json', '{"prefixes":[{"region":"eu"}]}', 'prefixes[0]'],
    ] as const)('of the format %s that is no list is refused: %j', (format, text, message) => {
      expect(() => readNetworks(text, format)).toThrow(message);
    });
  });

  it('a set of networks holds the addresses of its networks and no others', async () => {
    const near = fc.integer({ min: 0, max: 4_095 });
    const network = fc.tuple(fc.constantFrom(32, 128), near, fc.integer({ min: 0, max: 12 })).map(([bits, low, hostBits]) => {
      const base = bits === 32 ? 0x0a00_0000n : 0x2001_0db8n << 96n;
      const address = addressOf(formatIpAddress(base + BigInt(low), bits));
      return `${formatIpAddress(networkValue(address, bits - hostBits), address.bits)}/${bits - hostBits}`;
    });
    await fc.assert(
      fc.asyncProperty(fc.array(network, { maxLength: 12 }), fc.array(near, { minLength: 20, maxLength: 20 }), async (networks, lows) => {
        const set = await createNetworkSet(networks);
        const parsed = networks.map((text) => parseIpNetwork(text));
        const addresses = lows.flatMap((low) => [
          addressOf(formatIpAddress(0x0a00_0000n + BigInt(low), 32)),
          addressOf(formatIpAddress((0x2001_0db8n << 96n) + BigInt(low), 128)),
        ]);
        const isIn = (address: (typeof addresses)[number]): boolean =>
          parsed.some((each) => each?.address.bits === address.bits && networkValue(address, each.prefixLength) === each.address.value);
        const held = addresses.filter((address) => set.has(address)).map(({ text }) => text);
        expect(held).toEqual(addresses.filter(isIn).map(({ text }) => text));
      }),
      { numRuns: propertyRuns(60) },
    );
  });

  describe('a kept list', () => {
    it('is read as it was written', async () => {
      const path = listPath(folder, 'tor_exits');
      await writeList(path, { asOf: DAY, networks: ['185.220.101.1/32', '2a0b:f4c2::/40'] });
      expect(parseListFile(await readFile(path))).toEqual({ asOf: DAY, networks: ['185.220.101.1/32', '2a0b:f4c2::/40'] });
    });

    it('that is cut short, changed or no list is refused', async () => {
      const path = listPath(folder, 'tor_exits');
      await writeList(path, { asOf: DAY, networks: Array.from({ length: 300 }, (_, index) => `185.220.${index % 256}.1/32`) });
      const whole = await readFile(path);
      for (let length = 0; length < whole.length; length += 97) expect(() => parseListFile(whole.subarray(0, length))).toThrow('complete');
      const changed = Buffer.from(whole.toString('utf8').replace('185.220.9.1', '185.220.8.1'));
      for (const bytes of [changed, Buffer.from('<html>'), Buffer.from('# tollgate address list {}\n')])
        expect(() => parseListFile(bytes)).toThrow('complete list');
    });
  });

  describe('the folder of lists', () => {
    const failures: string[] = [];
    beforeEach(() => failures.splice(0));
    const open = (off: readonly string[] = []) =>
      openAddressLists({ folder, off, pollMs: 0, onError: (path) => failures.push(path.slice(folder.length + 1)) });
    const keep = (id: string, ...networks: string[]) => writeList(listPath(folder, id), { asOf: DAY, networks });

    it('may be empty, or not there', async () => {
      const lists = await openAddressLists({ folder: join(folder, 'absent'), off: [], pollMs: 0, onError: (path) => failures.push(path) });
      expect([lists.find(addressOf('185.220.101.1')), lists.describe(), failures]).toEqual([[], [], []]);
    });

    it('says of an address which lists have it, and of which date each is', async () => {
      await keep('tor_exits', '185.220.101.0/24');
      await keep('x4b_data_centres', '185.220.0.0/16', '2a0b:f4c2::/40');
      const lists = await open();
      expect(lists.find(addressOf('185.220.101.7'))).toEqual([
        { says: 'tor_exit', source: 'tor_exits' },
        { says: 'hosting', source: 'x4b_data_centres' },
      ]);
      expect(lists.find(addressOf('2a0b:f4c2::1'))).toEqual([{ says: 'hosting', source: 'x4b_data_centres' }]);
      expect(lists.find(addressOf('185.221.0.1'))).toEqual([]);
      expect(lists.describe()).toEqual([
        { source: 'tor_exits', builtAt: DAY },
        { source: 'x4b_data_centres', builtAt: DAY },
      ]);
    });

    it('says of an address that it is no Tor exit only while the list is young', async () => {
      await keep('tor_exits', '185.220.101.0/24');
      await keep('x4b_vpn', '1.2.3.0/24');
      const lists = await open();
      const after = (hours: number) => DAY.getTime() + hours * HOUR_MS;
      expect([lists.knowsAll('tor_exit', after(48)), lists.knowsAll('tor_exit', after(49))]).toEqual([true, false]);
      expect(lists.knowsAll('proxy_or_vpn', after(1))).toBe(false);
    });

    it('is looked at again: a new list is used, a broken one is not, one that is gone is not either', async () => {
      const lists = await open();
      await keep('tor_exits', '185.220.101.0/24');
      await lists.checkForChanges();
      expect(lists.find(addressOf('185.220.101.7'))).toHaveLength(1);
      await writeFile(listPath(folder, 'tor_exits'), '<html>');
      await lists.checkForChanges();
      expect([lists.find(addressOf('185.220.101.7')).length, failures]).toEqual([1, ['tor_exits.txt']]);
      await keep('tor_exits', '9.9.9.9/32');
      await lists.checkForChanges();
      expect([lists.find(addressOf('185.220.101.7')).length, lists.find(addressOf('9.9.9.9')).length]).toEqual([0, 1]);
      await rm(listPath(folder, 'tor_exits'));
      await lists.checkForChanges();
      expect(lists.describe()).toEqual([]);
    });

    it('is not asked for lists that are switched off', async () => {
      await keep('tor_exits', '185.220.101.0/24');
      const lists = await open(['tor_exits']);
      expect([lists.find(addressOf('185.220.101.7')), lists.describe()]).toEqual([[], []]);
    });
  });

  it('every list tells its licence and comes by https', () => {
    for (const { licence, urls } of LIST_DEFINITIONS) {
      expect(licence).not.toBe('');
      for (const url of urls) expect(new URL(url).protocol).toBe('https:');
    }
  });
});

const GOOGLE = '8.8.8.8.in-addr.arpa';
const GOOGLE_V6 = '8.8.8.8.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.6.8.4.0.6.8.4.1.0.0.2.ip6.arpa';

class NoSuchName extends Error {
  readonly code = 'ENOTFOUND';
}

/** Answers from tables; counts what it is asked. */
class FakeResolver implements DnsResolver {
  readonly asked: string[] = [];
  constructor(
    private readonly pointers: Readonly<Record<string, string[]>>,
    private readonly addresses: Readonly<Record<string, string[]>> = {},
  ) {}

  private async answer(table: Readonly<Record<string, string[]>>, name: string): Promise<string[]> {
    this.asked.push(name);
    const found = table[name];
    if (!found) throw new NoSuchName();
    return found;
  }

  resolvePtr = (name: string) => this.answer(this.pointers, name);
  resolve4 = (host: string) => this.answer(this.addresses, host);
  resolve6 = (host: string) => this.answer(this.addresses, host);
}

/** One of which only this is known. */
const resolverThat = (does: Partial<DnsResolver>): DnsResolver => ({
  resolvePtr: async () => [],
  resolve4: async () => [],
  resolve6: async () => [],
  ...does,
});

describe('reverse DNS', () => {
  it('gives a name that resolves back to the address', async () => {
    const resolver = new FakeResolver({ [GOOGLE]: ['dns.google'] }, { 'dns.google': ['8.8.4.4', '8.8.8.8'] });
    await expect(findHostname(addressOf('8.8.8.8'), resolver)).resolves.toBe('dns.google');
  });

  it('compares v6 addresses by value', async () => {
    const resolver = new FakeResolver({ [GOOGLE_V6]: ['dns.google'] }, { 'dns.google': ['2001:4860:4860:0:0:0:0:8888'] });
    await expect(findHostname(addressOf('2001:4860:4860::8888'), resolver)).resolves.toBe('dns.google');
  });

  it('gives nothing for a forged name', async () => {
    const resolver = new FakeResolver({ [GOOGLE]: ['mail.bank.example'] }, { 'mail.bank.example': ['192.0.2.1'] });
    await expect(findHostname(addressOf('8.8.8.8'), resolver)).resolves.toBeUndefined();
  });

  it('does not take a name for forged when it could not be looked up', async () => {
    const late = Object.assign(new Error('queryA ETIMEOUT dns.google'), { code: 'ETIMEOUT' });
    const failing = resolverThat({ resolvePtr: async () => ['dns.google'], resolve4: () => Promise.reject(late) });
    await expect(findHostname(addressOf('8.8.8.8'), failing)).rejects.toMatchObject({ code: 'ETIMEOUT' });
  });

  it('gives the confirmed one of several names, and nothing when there is none', async () => {
    const resolver = new FakeResolver({ [GOOGLE]: ['forged.example', 'dns.google'] }, { 'dns.google': ['8.8.8.8'] });
    await expect(findHostname(addressOf('8.8.8.8'), resolver)).resolves.toBe('dns.google');
    await expect(findHostname(addressOf('8.8.4.4'), resolver)).resolves.toBeUndefined();
  });

  it('strips what a hostile zone puts into a name', () => {
    expect(cleanName('a\u0000b\r\nSet-Cookie: x\u202e.example.')).toBe('abSet-Cookie:x.example');
    expect(cleanName('x'.repeat(400))).toHaveLength(253);
    expect(cleanName('\u0007.')).toBeUndefined();
  });
});

describe('DNS block list', () => {
  it('asks for reversed octets and nibbles', () => {
    expect(dnsblName(addressOf('1.2.3.4'), 'zen.example')).toBe('4.3.2.1.zen.example');
    expect(dnsblName(addressOf('2001:db8::1'), 'zen.example')).toBe(
      '1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.zen.example',
    );
  });

  it.each([
    ['127.0.0.2', ['dnsbl_sbl']],
    ['127.0.0.10', ['dnsbl_pbl']],
    ['127.0.0.1', []],
    ['127.255.255.254', []],
    ['93.184.216.34', []],
  ])('reads return code %s', (code, listings) => expect(readListings([code])).toEqual(listings));

  it('never counts an error code, alone or beside a listing', async () => {
    const of = (...answers: string[]): FakeResolver => new FakeResolver({}, { '4.3.2.1.zen.example': answers });
    await expect(findListings(addressOf('1.2.3.4'), 'zen.example', of('127.255.255.254'))).rejects.toThrow(DnsblRefused);
    await expect(findListings(addressOf('1.2.3.4'), 'zen.example', of('127.0.0.2', '127.255.255.255'))).resolves.toEqual(['dnsbl_sbl']);
    await expect(findListings(addressOf('1.2.3.5'), 'zen.example', of())).resolves.toEqual([]);
  });
});

describe('facts from the network', () => {
  let nowMs: number;
  const clock: Clock = { now: () => nowMs, monotonic: () => nowMs };
  const failures: string[] = [];
  const off: NetworkSources = { resolver: undefined, blockList: undefined, findAbuse: undefined };

  beforeEach(() => {
    nowMs = 1_000;
    failures.length = 0;
  });

  function factsFrom(sources: Partial<NetworkSources>) {
    return createNetworkFacts({ sources: { ...off, ...sources }, clock, onFailure: (source) => failures.push(source) });
  }

  it('are asked once for simultaneous requests and again after five minutes', async () => {
    const resolver = new FakeResolver({ [GOOGLE]: ['dns.google'] }, { 'dns.google': ['8.8.8.8'] });
    const find = factsFrom({ resolver });
    const both = await Promise.all([find(addressOf('8.8.8.8')), find(addressOf('8.8.8.8'))]);
    expect(both.map(({ hostname }) => hostname)).toEqual(['dns.google', 'dns.google']);
    expect(resolver.asked).toEqual([GOOGLE, 'dns.google']);
    nowMs += 5 * 60_000 - 1;
    await find(addressOf('8.8.8.8'));
    expect(resolver.asked).toHaveLength(2);
    nowMs += 2;
    await find(addressOf('8.8.8.8'));
    expect(resolver.asked).toHaveLength(4);
  });

  it('lack what a failing source would have said, and ask it again after half a minute', async () => {
    let calls = 0;
    const findAbuse = () => Promise.reject(new Error(`AbuseIPDB answered 429, time ${++calls}`));
    const resolver = new FakeResolver({ [GOOGLE]: ['dns.google'] }, { 'dns.google': ['8.8.8.8'] });
    const find = factsFrom({ findAbuse, resolver });
    const as_of = '1970-01-01T00:00:01.000Z';
    await expect(find(addressOf('8.8.8.8'))).resolves.toMatchObject({
      checked: [
        { source: 'reverse_dns', as_of, ok: true },
        { source: 'abuseipdb', as_of, ok: false, error: 'failed' },
      ],
      hostname: 'dns.google',
      abuse: undefined,
    });
    await find(addressOf('8.8.8.8'));
    expect(calls).toBe(1);
    nowMs += 30_001;
    await find(addressOf('8.8.8.8'));
    expect(calls).toBe(2);
    expect(failures).toEqual(['abuseipdb', 'abuseipdb']);
  });

  it('come without a name when the name server stays silent for a second', async () => {
    const silent = resolverThat({ resolvePtr: () => new Promise(() => undefined) });
    const time = holdTime('timeouts');
    const facts = factsFrom({ resolver: silent })(addressOf('8.8.8.8'));
    time.pass(SOURCE_DEADLINE_MS);
    time.release();
    await expect(facts).resolves.toMatchObject({ checked: [{ source: 'reverse_dns', ok: false, error: 'timeout' }], hostname: null });
    expect(failures).toEqual(['reverse_dns']);
  });

  it('name neither address nor zone when a source fails', async () => {
    const reasons: string[] = [];
    const failing = resolverThat({
      resolve4: (host) => Promise.reject(Object.assign(new Error(`queryA ESERVFAIL ${host}`), { code: 'ESERVFAIL' })),
    });
    const sources = { ...off, blockList: { zone: 'secretkey.zen.example', resolver: failing } };
    await createNetworkFacts({ sources, clock, onFailure: (source, reason) => reasons.push(`${source} ${reason}`) })(addressOf('8.8.8.8'));
    expect(reasons).toEqual(['dnsbl ESERVFAIL']);
  });

  it('leave a source alone for half a minute after five failures in a row', async () => {
    let calls = 0;
    const broken = resolverThat({ resolvePtr: () => Promise.reject(new Error(`ECONNREFUSED ${++calls}`)) });
    const find = factsFrom({ resolver: broken });
    for (let index = 1; index <= 8; index++) await find(addressOf(`8.8.8.${index}`));
    expect(calls).toBe(5);
    expect((await find(addressOf('8.8.8.200'))).checked).toMatchObject([{ source: 'reverse_dns', ok: false, error: 'paused' }]);
    nowMs += 30_001;
    await find(addressOf('8.8.8.100'));
    expect(calls).toBe(6);
  });
});
