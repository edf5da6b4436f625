import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { type IpDatabases, openDatabases } from '../../../services/products/ip/ip-databases';
import { databasePaths, ipSettings } from '../../../services/products/ip/settings';
import { tablePath, updateTable } from '../../../services/products/ip/tables/update-table';
import { writeMmdb } from './mmdb-writer';
import { addressOf } from './address-of';

const [SHIPPED_V4 = ''] = databasePaths(ipSettings.parse({})).city;
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
    ['has IPv4 alone', undefined, 'no IPv6'],
    ['is a broken archive', gzipSync(cityTable('London')).subarray(0, 60), 'unexpected end of file'],
  ])('leaves the one before in its place where the new one %s', async (_what, bytes, reason) => {
    await keep(cityTable('London'));
    await expect(update('city', bytes ? await sourceOf(bytes) : SHIPPED_V4)).rejects.toThrow(reason);
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
