import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { formatIpAddress, parseIpNetwork } from '../../../plugins/core/access/ip-address';
import { classifyAddress } from '../../../services/kit/upstream/reserved-addresses';
import { fc } from '../../support/fast-check';
import { encodingOf, unpackStart, unpackSync, unpackWhole } from '../../../services/kit/upstream/unpack-body';

interface Verdict {
  readonly reserved: boolean;
  readonly private: boolean;
  readonly loopback: boolean;
}

const PUBLIC: Verdict = { reserved: false, private: false, loopback: false };
const RESERVED: Verdict = { reserved: true, private: false, loopback: false };
const PRIVATE: Verdict = { reserved: true, private: true, loopback: false };
const LOOPBACK: Verdict = { reserved: true, private: false, loopback: true };

function verdictOn(text: string): Verdict {
  const found = classifyAddress(text);
  if (!found) throw new Error(`${text} is not an address`);
  return { reserved: found.isReserved, private: found.isPrivate, loopback: found.isLoopback };
}

/** Network; what its addresses are; what the addresses just before and after are (undefined: there is none). */
const RANGES: readonly (readonly [network: string, inside: Verdict, before: Verdict | undefined, after: Verdict | undefined])[] = [
  ['0.0.0.0/8', RESERVED, undefined, PUBLIC],
  ['10.0.0.0/8', PRIVATE, PUBLIC, PUBLIC],
  ['100.64.0.0/10', RESERVED, PUBLIC, PUBLIC],
  ['127.0.0.0/8', LOOPBACK, PUBLIC, PUBLIC],
  ['169.254.0.0/16', RESERVED, PUBLIC, PUBLIC],
  ['172.16.0.0/12', PRIVATE, PUBLIC, PUBLIC],
  ['192.0.0.0/24', RESERVED, PUBLIC, PUBLIC],
  ['192.0.0.9/32', PUBLIC, RESERVED, PUBLIC],
  ['192.0.0.10/32', PUBLIC, PUBLIC, RESERVED],
  ['192.0.2.0/24', RESERVED, PUBLIC, PUBLIC],
  ['192.31.196.0/24', PUBLIC, PUBLIC, PUBLIC],
  ['192.52.193.0/24', PUBLIC, PUBLIC, PUBLIC],
  ['192.88.99.0/24', RESERVED, PUBLIC, PUBLIC],
  ['192.168.0.0/16', PRIVATE, PUBLIC, PUBLIC],
  ['192.175.48.0/24', PUBLIC, PUBLIC, PUBLIC],
  ['198.18.0.0/15', RESERVED, PUBLIC, PUBLIC],
  ['198.51.100.0/24', RESERVED, PUBLIC, PUBLIC],
  ['203.0.113.0/24', RESERVED, PUBLIC, PUBLIC],
  ['224.0.0.0/4', RESERVED, PUBLIC, RESERVED],
  ['240.0.0.0/4', RESERVED, RESERVED, undefined],
  ['255.255.255.255/32', RESERVED, RESERVED, undefined],
  ['::/128', RESERVED, undefined, LOOPBACK],
  ['::1/128', LOOPBACK, RESERVED, PUBLIC],
  ['::ffff:0:0:0/96', RESERVED, PUBLIC, PUBLIC],
  ['64:ff9b:1::/48', RESERVED, PUBLIC, PUBLIC],
  ['100::/64', RESERVED, PUBLIC, RESERVED],
  ['100:0:0:1::/64', RESERVED, RESERVED, PUBLIC],
  ['2001::/23', RESERVED, PUBLIC, PUBLIC],
  ['2001:1::1/128', PUBLIC, RESERVED, PUBLIC],
  ['2001:1::2/128', PUBLIC, PUBLIC, PUBLIC],
  ['2001:1::3/128', PUBLIC, PUBLIC, RESERVED],
  ['2001:3::/32', PUBLIC, RESERVED, RESERVED],
  ['2001:4:112::/48', PUBLIC, RESERVED, RESERVED],
  ['2001:20::/28', PUBLIC, RESERVED, PUBLIC],
  ['2001:30::/28', PUBLIC, PUBLIC, RESERVED],
  ['2001:db8::/32', RESERVED, PUBLIC, PUBLIC],
  ['2002::/16', RESERVED, PUBLIC, PUBLIC],
  ['2620:4f:8000::/48', PUBLIC, PUBLIC, PUBLIC],
  ['3fff::/20', RESERVED, PUBLIC, PUBLIC],
  ['5f00::/16', RESERVED, PUBLIC, PUBLIC],
  ['fc00::/7', PRIVATE, PUBLIC, PUBLIC],
  ['fe80::/10', RESERVED, PUBLIC, RESERVED],
  ['fec0::/10', RESERVED, RESERVED, RESERVED],
  ['ff00::/8', RESERVED, RESERVED, undefined],
];

function bounds(text: string) {
  const network = parseIpNetwork(text);
  if (!network) throw new Error(`${text} is not a network`);
  const { bits, value } = network.address;
  const last = value + (1n << BigInt(bits - network.prefixLength)) - 1n;
  const of = (each: bigint): string | undefined => (each < 0n || each >= 1n << BigInt(bits) ? undefined : formatIpAddress(each, bits));
  return { first: of(value), last: of(last), before: of(value - 1n), after: of(last + 1n) };
}

describe('special-purpose address ranges', () => {
  it.each(RANGES)('%s: its first and last address and its neighbours are judged as the registry says', (network, inside, before, after) => {
    const at = bounds(network);
    expect([at.first, at.last].map((text) => verdictOn(text ?? ''))).toEqual([inside, inside]);
    expect(at.before === undefined ? undefined : verdictOn(at.before)).toEqual(before);
    expect(at.after === undefined ? undefined : verdictOn(at.after)).toEqual(after);
  });

  it.each([
    ['::8.8.8.8', '::808:808'],
    ['0:0:0:0:0:0:8.8.8.8', '::808:808'],
    ['::127.0.0.1', '::7f00:1'],
    ['::ffff:8.8.8.8', '8.8.8.8'],
  ])('%s is the address %s, however it is spelled', (text, canonical) => {
    expect(classifyAddress(text)).toEqual(classifyAddress(canonical));
    expect(classifyAddress(text)?.text).toBe(canonical);
  });

  it.each([
    ['::ffff:10.0.0.1', PRIVATE],
    ['::ffff:8.8.8.8', PUBLIC],
    ['::ffff:127.0.0.1', LOOPBACK],
    ['64:ff9b::10.0.0.1', PRIVATE],
    ['64:ff9b::7f00:1', LOOPBACK],
    ['64:ff9b::8.8.8.8', PUBLIC],
    ['64:ff9b::255.255.255.255', RESERVED],
    ['64:ff9b::', RESERVED],
    ['64:ff9a:ffff:ffff:ffff:ffff:ffff:ffff', PUBLIC],
    ['64:ff9b::1:0:0', PUBLIC],
  ])('%s is judged by the v4 address inside, when there is one', (text, verdict) => expect(verdictOn(text)).toEqual(verdict));

  it('link-local, multicast and unspecified addresses are told apart, and the block of an address is named', () => {
    expect(classifyAddress('169.254.169.254')).toMatchObject({ isLinkLocal: true });
    expect(classifyAddress('ff02::1')).toMatchObject({ isMulticast: true });
    expect(classifyAddress('::')).toMatchObject({ isUnspecified: true });
    expect(classifyAddress('192.168.1.1')).toMatchObject({ block: 'private use' });
    expect(classifyAddress('8.8.8.8')).toEqual({
      text: '8.8.8.8',
      version: 4,
      isReserved: false,
      isPrivate: false,
      isLoopback: false,
      isLinkLocal: false,
      isMulticast: false,
      isUnspecified: false,
      block: null,
    });
  });

  it('what only looks like an address is none', () => {
    const texts = [
      '',
      ' ',
      '1.2',
      '1.2.3',
      '127.1',
      '0x7f.1',
      '010.0.0.1',
      '1.1.1.01',
      '2130706433',
      '1.2.3.4:80',
      '1.2.3.4.5',
      '1.2.3.256',
    ];
    const more = ['8.8.8.8/24', ' 8.8.8.8', '8.8.8.8\n', '8.8.8.8,1.1.1.1', '١.١.١.١', 'example.com'];
    const v6 = ['[::1]', '[::1]:80', 'fe80::1%eth0', '::1::', ':::', '12345::', '::ffff:1.2.3'];
    for (const text of [...texts, ...more, ...v6]) expect([text, classifyAddress(text)]).toEqual([text, undefined]);
  });
});

const MOST = 10_000;
const PACKERS: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  identity: (bytes) => bytes,
  gzip: gzipSync,
  'X-GZip ': gzipSync,
  deflate: deflateSync,
  br: brotliCompressSync,
};

/** What came out, or the reason why nothing did. */
const outcome = async (work: () => Promise<Uint8Array> | Uint8Array): Promise<string> => {
  try {
    return Buffer.from(await work()).toString('hex');
  } catch (error) {
    return `refused: ${String(Reflect.get(Object(error), 'reason'))}`;
  }
};

it('with and without waiting for it, whatever the bytes are and whatever they call themselves', async () => {
  const encoding = fc.constantFrom(...Object.keys(PACKERS), 'zstd', 'gzip, gzip');
  const packer = fc.constantFrom(...Object.values(PACKERS));
  const property = fc.asyncProperty(encoding, packer, fc.uint8Array({ maxLength: 200 }), fc.nat(400), async (header, pack, bytes, cut) => {
    const packed = pack(Buffer.from(bytes)).subarray(0, cut);
    const waited = await outcome(() => unpackWhole(packed, header, 100));
    expect(await outcome(() => unpackSync(packed, header, 100))).toBe(waited);
  });
  await fc.assert(property);
});

describe.each(Object.entries(PACKERS))('%s', (header, pack) => {
  it('comes out as it went in, up to the cap', async () => {
    const whole = Buffer.from('page '.repeat(MOST / 5));
    expect(whole.equals(await unpackWhole(pack(whole), header, MOST))).toBe(true);
    expect(whole.equals(unpackSync(pack(whole), header, MOST))).toBe(true);
    const larger = Buffer.concat([whole, Buffer.from('!')]);
    for (const unpack of [unpackWhole, unpackSync])
      expect(await outcome(() => unpack(pack(larger), header, MOST))).toBe('refused: too_large');
    const start = await unpackStart(pack(larger), header, MOST);
    expect([start.isCut, whole.equals(start.bytes)]).toEqual([true, true]);
  });
});

it('an empty body is empty, however it is said to be packed', async () => {
  for (const header of [undefined, 'gzip', 'br']) expect(await outcome(() => unpackWhole(Buffer.alloc(0), header, MOST))).toBe('');
});

it.each(['zstd', 'compress', 'gzip, gzip', 'br,gzip', '*'])('%s is not read', (header) => {
  expect(encodingOf(header)).toBeUndefined();
});
