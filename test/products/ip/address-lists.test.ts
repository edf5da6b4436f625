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
