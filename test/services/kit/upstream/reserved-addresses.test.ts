import { classifyAddress } from '../../../../services/kit/upstream/reserved-addresses';

/** First and last address of every block in the registries, and their neighbours outside it. */
const RESERVED_BLOCKS: readonly (readonly [first: string, last: string, before: string | null, after: string | null])[] = [
  ['0.0.0.0', '0.255.255.255', null, '1.0.0.0'],
  ['10.0.0.0', '10.255.255.255', '9.255.255.255', '11.0.0.0'],
  ['100.64.0.0', '100.127.255.255', '100.63.255.255', '100.128.0.0'],
  ['127.0.0.0', '127.255.255.255', '126.255.255.255', '128.0.0.0'],
  ['169.254.0.0', '169.254.255.255', '169.253.255.255', '169.255.0.0'],
  ['172.16.0.0', '172.31.255.255', '172.15.255.255', '172.32.0.0'],
  ['192.0.0.0', '192.0.0.255', '191.255.255.255', '192.0.1.0'],
  ['192.0.2.0', '192.0.2.255', '192.0.1.255', '192.0.3.0'],
  ['192.88.99.0', '192.88.99.255', '192.88.98.255', '192.88.100.0'],
  ['192.168.0.0', '192.168.255.255', '192.167.255.255', '192.169.0.0'],
  ['198.18.0.0', '198.19.255.255', '198.17.255.255', '198.20.0.0'],
  ['198.51.100.0', '198.51.100.255', '198.51.99.255', '198.51.101.0'],
  ['203.0.113.0', '203.0.113.255', '203.0.112.255', '203.0.114.0'],
  ['224.0.0.0', '239.255.255.255', '223.255.255.255', null],
  ['240.0.0.0', '255.255.255.255', null, null],
  ['::', '::1', null, '::2'],
  // Beside it are the mapped addresses, which are judged by the v4 address inside.
  ['::ffff:0:0:0', '::ffff:0:ffff:ffff', '::fffe:ffff:ffff:ffff', '::ffff:1:0:0'],
  ['64:ff9b:1::', '64:ff9b:1:ffff:ffff:ffff:ffff:ffff', '64:ff9b:0:ffff:ffff:ffff:ffff:ffff', '64:ff9b:2::'],
  ['100::', '100::ffff:ffff:ffff:ffff', 'ff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '100:0:0:2::'],
  ['100:0:0:1::', '100:0:0:1:ffff:ffff:ffff:ffff', null, '100:0:0:2::'],
  ['2001::', '2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff', '2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '2001:200::'],
  ['2001:db8::', '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff', '2001:db7:ffff:ffff:ffff:ffff:ffff:ffff', '2001:db9::'],
  ['2002::', '2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '2001:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '2003::'],
  ['3fff::', '3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff', '3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '3fff:1000::'],
  ['5f00::', '5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '5eff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '5f01::'],
  ['fc00::', 'fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', 'fbff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', 'fe00::'],
  ['fe80::', 'febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff', 'fe7f:ffff:ffff:ffff:ffff:ffff:ffff:ffff', null],
  ['fec0::', 'feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', null, null],
  ['ff00::', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', null, null],
];

const reserved = (text: string): boolean | undefined => classifyAddress(text)?.isReserved;

describe('classifyAddress', () => {
  test.each(RESERVED_BLOCKS)('reserves %s to %s and nothing beside it', (first, last, before, after) => {
    expect([reserved(first), reserved(last)]).toEqual([true, true]);
    if (before !== null) expect(reserved(before)).toBe(false);
    if (after !== null) expect(reserved(after)).toBe(false);
  });

  test.each([
    '192.0.0.9',
    '192.0.0.10',
    '192.31.196.1',
    '192.52.193.1',
    '192.175.48.1',
    '2001:1::1',
    '2001:1::2',
    '2001:1::3',
    '2001:3::1',
    '2001:4:112::1',
    '2001:20::1',
    '2001:30::1',
    '2620:4f:8000::1',
  ])('%s is globally reachable inside or beside a special block', (text) => {
    expect(classifyAddress(text)).toMatchObject({ isReserved: false, isPrivate: false });
  });

  test('the neighbours of those exceptions stay reserved', () => {
    for (const text of ['192.0.0.8', '192.0.0.11', '2001:1::', '2001:1::4', '2001:2::', '2001:4:111::', '2001:40::'])
      expect(reserved(text)).toBe(true);
  });

  test('mapped and translated addresses are judged by the v4 address inside', () => {
    expect(classifyAddress('::ffff:10.0.0.1')).toMatchObject({ version: 4, text: '10.0.0.1', isPrivate: true, isReserved: true });
    expect([reserved('::ffff:0:0'), reserved('::ffff:7f00:1'), reserved('::ffff:ffff:ffff')]).toEqual([true, true, true]);
    expect(classifyAddress('::ffff:8.8.8.8')).toMatchObject({ version: 4, isReserved: false });
    expect(classifyAddress('64:ff9b::127.0.0.1')).toMatchObject({ version: 6, isLoopback: true, isReserved: true });
    expect(classifyAddress('64:ff9b::7f00:1')).toMatchObject({ isLoopback: true, isReserved: true });
    expect(classifyAddress('64:ff9b::8.8.8.8')).toMatchObject({ version: 6, isReserved: false });
  });

  test('private, loopback, link-local, multicast and unspecified are told apart', () => {
    expect(classifyAddress('192.168.1.1')).toMatchObject({ isPrivate: true, isLoopback: false, block: 'private use' });
    expect(classifyAddress('fd12::1')).toMatchObject({ isPrivate: true });
    expect(classifyAddress('127.0.0.53')).toMatchObject({ isLoopback: true, isPrivate: false });
    expect(classifyAddress('::1')).toMatchObject({ isLoopback: true });
    expect(classifyAddress('169.254.169.254')).toMatchObject({ isLinkLocal: true });
    expect(classifyAddress('ff02::1')).toMatchObject({ isMulticast: true });
    expect(classifyAddress('::')).toMatchObject({ isUnspecified: true });
    expect(classifyAddress('100.64.0.1')).toMatchObject({ isPrivate: false, isReserved: true });
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

  test.each(['', '127.1', '0x7f.1', '010.0.0.1', '2130706433', '1.2.3.4:80', 'fe80::1%eth0', '[::1]', 'example.com', '1.2.3.256'])(
    '"%s" is no address',
    (text) => {
      expect(classifyAddress(text)).toBeUndefined();
    },
  );
});
