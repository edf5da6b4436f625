import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { INDIA_FILE, indiaAnswer, parseIndiaFile, updateIndiaFile } from '../../../services/products/pincode/india-file';
import { indiaProvider } from '../../../services/products/pincode/india-provider';
import { normalPlaces, withCoordinates } from '../../../services/products/pincode/normal-places';
import { pincodeService } from '../../../services/products/pincode/routes';
import { pincodeOutput } from '../../../services/products/pincode/schema';
import { buildHarness } from '../../kit/harness';
import { indiaLines } from './india-lines';

const NOW_MS = Date.UTC(2026, 10, 29);
let folder: string;
beforeEach(async () => (folder = await mkdtemp(join(tmpdir(), 'india-'))));
afterEach(() => rm(folder, { recursive: true }));

async function sourceOf(bytes: Buffer | string): Promise<string> {
  const path = join(folder, 'IN.txt');
  await writeFile(path, bytes);
  return path;
}

const kept = () => join(folder, 'kept', 'india-pins.txt');
const update = (source: string, asOf?: Date) => updateIndiaFile({ path: kept(), source, asOf, nowMs: NOW_MS });
const keptFile = () => parseIndiaFile(readFileSync(kept()));

describe('the postal codes of India', () => {
  it.each([
    ['as they are', indiaLines()],
    ['gzipped', gzipSync(indiaLines())],
    ['with line ends of Windows', indiaLines().replaceAll('\n', '\r\n')],
  ])('are kept with the day that they are said to be of, %s', async (_how, bytes) => {
    await update(await sourceOf(bytes), new Date('2026-03-11'));
    const { pins, asOf } = await keptFile();
    expect([pins, asOf]).toEqual([10_001, new Date('2026-03-11')]);
    // What was kept may be kept again, with its day.
    await update(kept());
    expect((await keptFile()).asOf).toEqual(new Date('2026-03-11'));
  });

  it.each([
    ['breaks off in a line', indiaLines().slice(0, -20), 'not GeoNames’ list of postal codes'],
    ['is of another country', indiaLines().replace('IN\t', 'US\t'), 'not GeoNames’ list of postal codes'],
    ['has a few of them', indiaLines().split('\n').slice(-200).join('\n'), 'never had fewer'],
  ])('stay where the new file %s', async (_what, bytes, reason) => {
    await update(await sourceOf(indiaLines()));
    await expect(update(await sourceOf(bytes))).rejects.toThrow(reason);
    expect((await keptFile()).pins).toBe(10_001);
    expect(await readdir(join(folder, 'kept'))).toEqual(['india-pins.txt']);
  });

  it('answer in the form of the provider, with their source and day, and say nothing that they do not know', async () => {
    await update(await sourceOf(indiaLines()), new Date('2026-03-11'));
    const body = indiaAnswer(await keptFile(), '110001');
    if (!body) throw new Error('no answer');
    expect(indiaProvider.judge(200, body)).toEqual({ usable: true });
    const [answer] = JSON.parse(body.toString());
    expect(pincodeOutput.safeParse([answer]).success).toBe(true);
    expect(answer.Message).toBe('Number of pincode(s) found:2, by GeoNames (CC BY 4.0), data of 2026-03-11');
    expect(answer.PostOffice[0]).toMatchObject({ Name: 'Connaught Place', BranchType: null, District: 'New Delhi', Latitude: 28.6431 });
    expect(normalPlaces(INDIA_FILE, body)[0]).toMatchObject({ name: 'Connaught Place', postal_code: '110001', latitude: 28.6431 });
    expect(indiaAnswer(await keptFile(), '999999')).toBeUndefined();
  });

  it('add coordinates to a place of the same name and PIN, and to no other', async () => {
    const file = await parseIndiaFile(Buffer.from(indiaLines()));
    const places = normalPlaces(
      'postalpincode.in',
      Buffer.from(JSON.stringify([{ PostOffice: ['Connaught place', 'Elsewhere'].map((Name) => ({ Name, Pincode: '110001' })) }])),
    );
    expect(withCoordinates(places, file)?.map(({ latitude }) => latitude)).toEqual([28.6431, null]);
    expect(withCoordinates(places.slice(1), file)).toBeUndefined();
  });
});

describe('the pincode service with such a file', () => {
  const nowhere = { PINCODE_INDIA_URL: 'http://127.0.0.1:9', PINCODE_ZIPPOPOTAM_URL: 'http://127.0.0.1:9' };
  const ask = async (env: Record<string, string>, query: Record<string, string>) => {
    const harness = await buildHarness(pincodeService, { ...nowhere, ...env });
    const response = await harness.call({ method: 'GET', url: '/pincode', query: { country: 'IN', ...query } });
    await harness.app.close();
    const { data } = query['format'] === 'normal' ? response.json() : { data: undefined };
    return [response.statusCode, response.headers['x-upstream-provider'], ...(data ? [data.provider, data.attribution] : [])];
  };

  it('answers live keys where the source is away, in both forms, and fails as before for what it does not have', async () => {
    await update(await sourceOf(indiaLines()), new Date('2026-03-11'));
    const file = { PINCODE_INDIA_PINS: kept() };
    expect(await ask(file, { pin: '110001' })).toEqual([200, 'geonames-file']);
    expect(await ask(file, { pin: '110001', format: 'normal' })).toEqual([
      ...[200, 'geonames-file', 'geonames-file'],
      'GeoNames (CC BY 4.0), data of 2026-03-11',
    ]);
    expect(await ask(file, { pin: '110999' })).toEqual([502, 'postalpincode.in']);
    expect(await ask(file, { pin: 'Connaught Place' })).toEqual([502, 'postalpincode.in']);
    expect(await ask({ ...file, PINCODE_FALLBACK: 'off' }, { pin: '110001' })).toEqual([502, 'postalpincode.in']);
    expect(await ask({ PINCODE_INDIA_PINS: join(folder, 'absent') }, { pin: '110001' })).toEqual([502, 'postalpincode.in']);
  });
});
