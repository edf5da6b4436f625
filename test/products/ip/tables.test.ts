import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { type IpDatabases, openDatabases, type IpDatabasePaths } from '../../../services/products/ip/ip-databases';
import { tablePath, updateTable } from '../../../services/products/ip/tables/update-table';
import { writeMmdb } from './mmdb-writer';
import { addressOf } from './address-of';
import { type AsnTable, createAsnTable } from '../../../services/products/ip/asn-table';
import { parseAsnCsv } from '../../../services/products/ip/parse-asn-csv';
import { UNKNOWN_PLACE } from '../../../services/products/ip/ip-records';

describe('the renewal of tables', () => {
  const NOW_MS = Date.UTC(2026, 10, 29);
  const BUILT_AT = new Date(1_767_225_600_000);
  const HALVES = ['0.0.0.0/1', '128.0.0.0/1'] as const;
  const everywhere = (record: object) => Object.fromEntries(HALVES.map((half) => [half, { ...record }]));
  const cityTable = (city: string) => writeMmdb('city', everywhere({ country_code: 'GB', city }));
  const asnTable = (organisation: string) =>
    writeMmdb('asn', everywhere({ autonomous_system_number: 64500, autonomous_system_organization: organisation }));

  let folder: string;
  let opened: IpDatabases | undefined;
  const errors: string[] = [];
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'ip-tables-'));
    errors.length = 0;
  });
  afterEach(async () => {
    opened?.close();
    opened = undefined;
    await rm(folder, { recursive: true });
  });

  async function sourceOf(bytes: Buffer | string, name = 'source.mmdb'): Promise<string> {
    const path = join(folder, name);
    await writeFile(path, bytes);
    return path;
  }

  /** A table as an earlier renewal left it. */
  async function keep(bytes: Buffer | string): Promise<void> {
    await mkdir(join(folder, 'kept'));
    await writeFile(tablePath(join(folder, 'kept'), 'city'), bytes);
  }

  const update = (id: 'city' | 'asn', source: string) => updateTable(id, { folder: join(folder, 'kept'), source, nowMs: NOW_MS });

  describe('a table that is renewed', () => {
    it.each([
      ['as it is', cityTable('London')],
      ['gzipped', gzipSync(cityTable('London'))],
    ])('is kept with the date of its data, %s', async (_how, bytes) => {
      expect(await update('city', await sourceOf(bytes))).toEqual(BUILT_AT);
      expect(await readdir(join(folder, 'kept'))).toEqual(['city.mmdb']);
      expect(await readFile(tablePath(join(folder, 'kept'), 'city'))).toEqual(cityTable('London'));
    });

    it('may be named by its month', async () => {
      await sourceOf(cityTable('London'), 'dbip-city-lite-2026-11.mmdb');
      expect(await update('city', join(folder, 'dbip-city-lite-{month}.mmdb'))).toEqual(BUILT_AT);
    });

    it.each([
      ['breaks off', cityTable('London').subarray(0, -20), 'not a complete MMDB file'],
      ['is another table', asnTable('Acme'), 'not the table city'],
      ['knows a few addresses', writeMmdb('city', { '81.2.69.0/24': { country_code: 'GB' } }), 'not the table city'],
      ['has IPv4 alone', writeMmdb('city', everywhere({ country_code: 'GB' }), 4), 'no IPv6'],
      ['is a broken archive', gzipSync(cityTable('London')).subarray(0, 60), 'unexpected end of file'],
    ])('leaves the one before in its place where the new one %s', async (_what, bytes, reason) => {
      await keep(cityTable('London'));
      await expect(update('city', await sourceOf(bytes))).rejects.toThrow(reason);
      expect(await readFile(tablePath(join(folder, 'kept'), 'city'))).toEqual(cityTable('London'));
      expect(await readdir(join(folder, 'kept'))).toEqual(['city.mmdb']);
    });
  });

  describe('look-ups while tables are renewed', () => {
    const renewals = () => ({ city: tablePath(join(folder, 'kept'), 'city'), asn: tablePath(join(folder, 'kept'), 'asn') });

    async function open(): Promise<IpDatabases> {
      const city = await sourceOf(cityTable('Shipped'), 'shipped.mmdb');
      const asn = await sourceOf('0.0.0.0,255.255.255.255,1,Shipped\n', 'shipped.csv');
      const paths = { city: [city], asn: [asn], renewals: renewals(), anonymous: undefined, risk: undefined, staticScore: undefined };
      opened = await openDatabases({ paths, pollMs: 0, onError: (path) => errors.push(path) });
      return opened;
    }
    const known = (databases: IpDatabases) => [
      databases.findPlace(addressOf('9.9.9.9'))?.city,
      databases.findAsn(addressOf('9.9.9.9'))?.organisation,
    ];

    it('go from what ships to the renewal, from it to the next, and never miss', async () => {
      const databases = await open();
      expect(known(databases)).toEqual(['Shipped', 'Shipped']);
      expect(databases.describe().map(({ builtAt }) => builtAt)).toEqual([BUILT_AT, null]);
      let isOver = false;
      let missed = 0;
      const load = (async () => {
        while (!isOver) {
          if (known(databases).includes(undefined)) missed += 1;
          await new Promise((resolve) => setImmediate(resolve));
        }
      })();
      await update('city', await sourceOf(cityTable('London')));
      await databases.checkForChanges();
      expect(known(databases)).toEqual(['London', 'Shipped']);
      await update('asn', await sourceOf(asnTable('Acme')));
      await update('city', await sourceOf(cityTable('Leeds')));
      await databases.checkForChanges();
      expect(known(databases)).toEqual(['Leeds', 'Acme']);
      expect(databases.describe().map(({ builtAt }) => builtAt)).toEqual([BUILT_AT, BUILT_AT]);
      isOver = true;
      await load;
      expect([missed, errors]).toEqual([0, []]);
    });

    it('stay with what ships while the renewal is broken, and with the renewal once it breaks', async () => {
      await keep('broken');
      const databases = await open();
      expect([known(databases), errors]).toEqual([['Shipped', 'Shipped'], [renewals().city]]);
      await update('city', await sourceOf(cityTable('London')));
      await databases.checkForChanges();
      await writeFile(renewals().city, 'broken');
      await databases.checkForChanges();
      expect(known(databases)).toEqual(['London', 'Shipped']);
    });
  });
});

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

/** MaxMind's nested shape. */
const city = {
  country: { iso_code: 'GB', names: { en: 'United Kingdom', de: 'Vereinigtes Königreich' } },
  city: { names: { en: 'London' } },
  subdivisions: [{ iso_code: 'ENG', names: { en: 'England' } }],
  location: { latitude: 51.5142, longitude: -0.0931, accuracy_radius: 10, time_zone: 'Europe/London' },
  postal: { code: 'OX1' },
};

describe('MMDB and CSV files', () => {
  let folder: string;
  let opened: IpDatabases | undefined;
  const errors: string[] = [];

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'ip-databases-'));
    errors.length = 0;
  });
  afterEach(async () => {
    opened?.close();
    opened = undefined;
    await rm(folder, { recursive: true });
  });

  async function fileOf(name: string, bytes: Buffer | string): Promise<string> {
    const path = join(folder, name);
    await writeFile(path, bytes);
    return path;
  }

  const mmdb = (name: string, records: Parameters<typeof writeMmdb>[1]) => fileOf(`${name}.mmdb`, writeMmdb(name, records));

  async function open(paths: Partial<IpDatabasePaths>): Promise<IpDatabases> {
    const none = { city: [], asn: [], anonymous: undefined, risk: undefined, staticScore: undefined };
    opened = await openDatabases({ paths: { ...none, ...paths }, pollMs: 0, onError: (path) => errors.push(path) });
    return opened;
  }

  it('a nested city record is read in full', async () => {
    const databases = await open({ city: [await mmdb('city', { '81.2.69.0/24': city, '2a02:d300::/27': city })] });
    const expected = {
      country: 'GB',
      countryName: 'United Kingdom',
      city: 'London',
      district: null,
      region: 'England',
      postalCode: 'OX1',
      latitude: 51.5142,
      longitude: -0.0931,
      accuracyRadiusKm: 10,
      timeZone: 'Europe/London',
      cellular: false,
    };
    expect(databases.findPlace(addressOf('81.2.69.160'))).toEqual(expected);
    expect(databases.findPlace(addressOf('2a02:d300::1'))).toEqual(expected);
    expect(databases.findPlace(addressOf('81.2.70.1'))).toBeUndefined();
  });

  it('a record with members missing or of other types reads as unknown', async () => {
    const traits = { connection_type: 'Cellular' };
    const odd = { country: { names: { en: 7 } }, location: { latitude: 'north' }, subdivisions: 'none', traits };
    const databases = await open({ city: [await mmdb('city', { '1.2.3.0/24': odd, '1.2.4.0/24': {} })] });
    expect(databases.findPlace(addressOf('1.2.3.4'))).toEqual({ ...UNKNOWN_PLACE, cellular: true });
    expect(databases.findPlace(addressOf('1.2.4.4'))).toEqual(UNKNOWN_PLACE);
  });

  it('autonomous systems come from an MMDB or a CSV file', async () => {
    const asn = { autonomous_system_number: 1221, autonomous_system_organization: 'Telstra Pty Ltd' };
    const file = await mmdb('asn', { '1.128.0.0/11': asn, '12.81.92.0/22': { autonomous_system_number: 7018 } });
    const csv = await fileOf('asn.csv', '134744064,134744319,15169,Google LLC\n');
    const databases = await open({ asn: [file, csv] });
    expect(databases.findAsn(addressOf('1.128.0.1'))).toEqual({ number: 1221, organisation: 'Telstra Pty Ltd', network: '1.128.0.0/11' });
    expect(databases.findAsn(addressOf('12.81.92.1'))).toEqual({ number: 7018, organisation: '', network: '12.81.92.0/22' });
    expect(databases.findAsn(addressOf('8.8.8.8'))).toEqual({ number: 15169, organisation: 'Google LLC', network: '8.8.8.0/24' });
    expect(databases.findAsn(addressOf('9.9.9.9'))).toBeUndefined();
  });

  it('a district behind the city is told apart from it', async () => {
    const cities = {
      '1.2.3.0/24': 'Seoul (Toegye-ro)',
      '1.2.4.0/24': 'Frankfurt am Main (Innenstadt I)',
      '1.2.5.0/24': '(x)',
      '1.2.6.0/24': 'A (b) c',
    };
    const records = Object.entries(cities).map(([network, city]) => [network, { country_code: 'XX', city }]);
    const databases = await open({ city: [await mmdb('city', Object.fromEntries(records))] });
    const found = ['1.2.3.4', '1.2.4.4', '1.2.5.4', '1.2.6.4'].map((text) => databases.findPlace(addressOf(text)));
    const expected = [
      ['Seoul', 'Toegye-ro'],
      ['Frankfurt am Main', 'Innenstadt I'],
      ['(x)', null],
      ['A (b) c', null],
    ];
    expect(found.map((place) => [place?.city, place?.district])).toEqual(expected);
  });

  it("scores and anonymity are MaxMind's members; a risk that is left out is 0", async () => {
    const proxy = { is_anonymous: true, is_public_proxy: true };
    const risk = await mmdb('risk', { '214.2.3.0/30': { ip_risk: 25, is_anonymous_vpn: true }, '11.1.2.3/32': proxy });
    const staticScore = await mmdb('static', { '1.2.3.0/24': { score: 0.06 } });
    const anonymous = await mmdb('anonymous', { '81.2.69.0/24': { is_hosting_provider: true, is_tor_exit_node: true } });
    const databases = await open({ risk, staticScore, anonymous });
    expect(databases.findIpRisk(addressOf('214.2.3.1'))).toBe(25);
    expect(databases.findIpRisk(addressOf('11.1.2.3'))).toBe(0);
    expect(databases.findIpRisk(addressOf('9.9.9.9'))).toBe(0);
    expect(databases.findStaticScore(addressOf('1.2.3.4'))).toBeCloseTo(0.06, 6);
    expect(databases.findStaticScore(addressOf('9.9.9.9'))).toBeUndefined();
    const [ofAnonymous, ofRisk] = databases.findAnonymity(addressOf('81.2.69.7'));
    expect(ofAnonymous).toEqual({ source: 'anonymous_ip_mmdb', facts: { torExit: true, hosting: true, proxyOrVpn: false } });
    expect(ofRisk?.facts).toEqual({ torExit: false, hosting: false, proxyOrVpn: false });
  });

  it('a file that changes is read again; of one that breaks the version in memory stays in use, until a good one comes', async () => {
    const path = await mmdb('city', { '81.2.69.0/24': { ...city, city: { names: { en: 'Oxford' } } } });
    const databases = await open({ city: [path] });
    await databases.checkForChanges();
    expect(databases.findPlace(addressOf('81.2.69.160'))?.city).toBe('Oxford');
    await mmdb('city', { '81.2.69.0/24': city });
    await databases.checkForChanges();
    expect([databases.findPlace(addressOf('81.2.69.160'))?.city, errors]).toEqual(['London', []]);
    await fileOf('city.mmdb', (await readFile(path)).subarray(0, 200));
    await databases.checkForChanges();
    await rm(path);
    await databases.checkForChanges();
    expect(errors).toEqual([path, path]);
    expect(databases.findPlace(addressOf('81.2.69.160'))?.city).toBe('London');
    await mmdb('city', { '81.2.69.0/24': { ...city, city: { names: { en: 'Leeds' } } } });
    await databases.checkForChanges();
    expect(databases.findPlace(addressOf('81.2.69.160'))?.city).toBe('Leeds');
  });

  it('a file that cannot be used at start is named', async () => {
    const path = await fileOf('city.mmdb', 'not a database');
    await expect(open({ city: [path] })).rejects.toThrow(path);
    await expect(open({ city: [join(folder, 'absent.mmdb')] })).rejects.toThrow('absent.mmdb');
  });
});
