import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type IpDatabasePaths, type IpDatabases, openDatabases } from '../../../services/products/ip/ip-databases';
import { UNKNOWN_PLACE } from '../../../services/products/ip/ip-records';
import { writeMmdb } from './mmdb-writer';
import { addressOf } from './address-of';

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
