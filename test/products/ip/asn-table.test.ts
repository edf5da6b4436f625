import { type AsnTable, createAsnTable } from '../../../services/products/ip/asn-table';
import { parseAsnCsv } from '../../../services/products/ip/parse-asn-csv';
import { addressOf } from './address-of';

async function tableOf(v4: string, v6: string): Promise<AsnTable> {
  const names = new Map<number, string>();
  return createAsnTable(await parseAsnCsv(Buffer.from(v4), 4, names), await parseAsnCsv(Buffer.from(v6), 6, names), names);
}

const V4 =
  '16777216,16777471,13335,"Cloudflare, Inc."\n16778240,16779263,38803,Gtelecom Pty Ltd\n4278190080,4278190335,64512,"A ""quoted"" name"\n';
const V6 =
  '2001:200::,2001:200:1b9:ffff:ffff:ffff:ffff:ffff,2500,WIDE Project\r\n2001:218:2000:2::,2001:218:ffff:ffff:ffff:ffff:ffff:ffff,2914,"NTT America, Inc."\n';

describe('table of autonomous systems', () => {
  it.each([
    ['0.255.255.255', undefined],
    ['1.0.0.255', 13335],
    ['1.0.1.0', undefined],
    ['255.0.0.0', 64512],
    ['2001:200:1b9:ffff:ffff:ffff:ffff:ffff', 2500],
    ['2001:200:1ba::', undefined],
  ])('knows who announces %s', async (address, number) => {
    expect((await tableOf(V4, V6)).find(addressOf(address))?.number).toBe(number);
  });

  it('reads quoted names and line ends of both kinds', async () => {
    const table = await tableOf(V4, V6);
    expect(table.find(addressOf('1.0.0.1'))?.organisation).toBe('Cloudflare, Inc.');
    expect(table.find(addressOf('255.0.0.1'))?.organisation).toBe('A "quoted" name');
    expect(table.find(addressOf('2001:200::1'))?.organisation).toBe('WIDE Project');
  });

  it('reads dotted v4 addresses and files without a final line end', async () => {
    const table = await tableOf('9.9.9.0,9.9.9.255,19281,Quad9', '');
    expect(table.find(addressOf('9.9.9.9'))).toEqual({ number: 19281, organisation: 'Quad9', network: '9.9.9.0/24' });
  });

  it.each([
    ['0.0.0.100', '0.0.0.100/30'],
    ['0.0.0.130', '0.0.0.128/26'],
    ['2001:db8::1', '2001:db8::/32'],
    ['2001:db9::1', '2001:db9::/126'],
  ])('names for %s the largest block that its network has whole, %s', async (address, network) => {
    const v6 = '2001:db8::,2001:db8:ffff:ffff:ffff:ffff:ffff:ffff,1,One\n2001:db9::,2001:db9::4,1,One\n';
    expect((await tableOf('100,200,1,One\n', v6)).find(addressOf(address))?.network).toBe(network);
  });

  it('lets the later of two overlapping ranges answer for what they share', async () => {
    const table = await tableOf('100,200,1,One\n150,250,2,Two\n', '');
    expect(table.find(addressOf('0.0.0.149'))?.number).toBe(1);
    expect(table.find(addressOf('0.0.0.150'))?.number).toBe(2);
  });

  it.each([
    ['out of order', '200,300,1,A\n100,150,2,B\n', 4],
    ['an end before its start', '200,100,1,A\n', 4],
    ['text', '<html></html>\n', 4],
    ['too few groups', '2001:1:2,2001::1,1,A\n', 6],
  ] as const)('refuses a file with %s', async (_what, csv, version) => {
    await expect(parseAsnCsv(Buffer.from(csv), version, new Map())).rejects.toThrow('malformed or out of order');
  });
});
