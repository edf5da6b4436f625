import { type Clock } from '../../../plugins/core/ports';
import { type DnsResolver } from '../../../services/products/ip/dns-resolver';
import { DnsblRefused, dnsblName, findListings, readListings } from '../../../services/products/ip/dnsbl';
import { createNetworkFacts, type NetworkSources, SOURCE_DEADLINE_MS } from '../../../services/products/ip/network-facts';
import { cleanName, findHostname } from '../../../services/products/ip/reverse-dns';
import { holdTime } from '../../support/faults/held-time';
import { addressOf } from './address-of';

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
