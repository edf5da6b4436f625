import { readFile } from 'node:fs/promises';
import { ApkBuilder } from '../../support/apk/apk-builder';
import { CLEAN_APP, FULL_APP } from '../../support/apk/apk-samples';
import { analyzeBytes } from '../../support/apk/apk-worker';
import { writeZip, type ZipFile } from '../../support/apk/apk-zip';
import { runsEveryScene } from '../../support/scenes';

let builder: ApkBuilder;
let clean: string;
let manifest: ZipFile;
let resources: ZipFile;
let dex: ZipFile;

beforeAll(async () => {
  builder = await ApkBuilder.create();
  const apk = await builder.build('full', FULL_APP);
  clean = await builder.build('clean', CLEAN_APP);
  manifest = { name: 'AndroidManifest.xml', data: await builder.extract(clean, 'AndroidManifest.xml') };
  resources = { name: 'resources.arsc', data: await builder.extract(apk, 'resources.arsc') };
  dex = { name: 'classes.dex', data: await builder.extract(apk, 'classes.dex') };
});

afterAll(() => builder?.close());

const refusedWith = (code: string, message: RegExp) =>
  expect.objectContaining({ name: 'ApkRefused', code, message: expect.stringMatching(message) });
const warningsOf = async (files: readonly ZipFile[], options = {}) => (await analyzeBytes(writeZip(files, options))).warnings;

describe('is refused', () => {
  const cut = (bytes: number): ZipFile => ({ ...manifest, data: Buffer.from(manifest.data).subarray(0, bytes) });
  it.each<[string, () => Buffer, string, RegExp]>([
    ['what is no ZIP archive', () => Buffer.alloc(100_000, 'x'), 'not_an_apk', /not a ZIP/],
    ['a manifest that is cut', () => writeZip([cut(200)]), 'apk_malformed', /does not fit/],
    ['a manifest longer than it says', () => writeZip([{ ...manifest, size: 10 }]), 'apk_malformed', /cannot be unpacked/],
    ['a manifest with another checksum', () => writeZip([{ ...manifest, crc: 1 }]), 'apk_malformed', /checksum/],
    ['an archive whose directory is broken', () => writeZip([manifest], { entryCount: 2 }), 'apk_malformed', /damaged/],
  ])('%s', async (_what, archive, code, message) => {
    await expect(analyzeBytes(archive())).rejects.toEqual(refusedWith(code, message));
  });

  it('an archive cut at any of many places', async () => {
    const whole = await readFile(clean);
    for (let length = 0; length < whole.length; length += runsEveryScene ? 97 : 293) {
      const refusal = await analyzeBytes(whole.subarray(0, length)).then(
        () => undefined,
        (error: Error) => error.name,
      );
      expect({ length, refusal }).toEqual({ length, refusal: 'ApkRefused' });
    }
  });
});

describe('a ZIP bomb is refused without being unpacked', () => {
  const zeros = (mebibytes: number) => Buffer.alloc(mebibytes * 1024 * 1024);
  it.each<[string, () => ZipFile[]]>([
    ['many files that are large together', () => Array.from({ length: 3_000 }, (_, n) => ({ name: `${n}`, data: 'x', size: 400_000 }))],
    ['several files of zeros, each small enough by itself', () => ['a', 'b', 'c'].map((name) => ({ name, data: zeros(40) }))],
  ])('%s', async (_what, files) => {
    const bomb = writeZip([manifest, ...files()]);
    expect(bomb.length).toBeLessThan(1_000_000);
    await expect(analyzeBytes(bomb)).rejects.toEqual(refusedWith('apk_too_complex', /bomb/));
  });

  it('a file that unpacks to more than it says costs only itself', async () => {
    const liar = { name: 'assets/liar.json', data: Buffer.alloc(50 * 1024 * 1024), size: 100 };
    expect(await warningsOf([manifest, liar])).toEqual([expect.stringMatching(/liar\.json.* cannot be unpacked/)]);
  });
});

describe('is reported, not refused', () => {
  it.each<[string, () => readonly ZipFile[], RegExp]>([
    ['a name that leaves the archive', () => [manifest, { name: '../../etc/passwd', data: 'x' }], /path traversal/],
    ['an entry marked as encrypted', () => [manifest, { name: 'a', data: 'x', flags: 1 }], /encrypted/],
    ['a broken resource table', () => [manifest, { ...resources, data: Buffer.from(resources.data).subarray(0, 900) }], /resources\.arsc/],
    ['a header with another name', () => [manifest, { ...dex, localName: 'classes.dxe' }], /another name in its header/],
  ])('%s', async (_what, files, warning) => {
    expect(await warningsOf(files())).toContainEqual(expect.stringMatching(warning));
  });

  it('code that could not be held against the list of trackers', async () => {
    const readAll = async (files: readonly ZipFile[]) => {
      const { checked } = await analyzeBytes(writeZip(files));
      return checked.filter(({ source }) => source === 'tracker_list').map(({ ok }) => ok);
    };
    expect(await readAll([manifest, dex])).toEqual([true]);
    expect(await readAll([manifest, dex, { name: 'classes2.dex', data: 'not dex' }])).toEqual([false]);
    const namesOutside = Buffer.from(dex.data);
    namesOutside.writeUInt32LE(0x7fffffff, 0x44);
    expect(await readAll([manifest, { ...dex, data: namesOutside }])).toEqual([false]);
  });

  it('bytes after the end, and nothing about a comment', async () => {
    expect(await warningsOf([manifest], { trailing: Buffer.from('xyz') })).toContainEqual(expect.stringMatching(/3 bytes follow/));
    expect(await warningsOf([manifest], { comment: 'built by hand' })).toEqual([]);
  });

  it('a dex file whose checksum does not fit', async () => {
    const changed = Buffer.from(dex.data);
    changed[changed.length - 1] = (changed[changed.length - 1] ?? 0) ^ 1;
    const intact = await analyzeBytes(writeZip([manifest, dex]));
    const broken = await analyzeBytes(writeZip([manifest, { ...dex, data: changed }]));
    expect([intact.dex[0]?.checksum_ok, broken.dex[0]?.checksum_ok]).toEqual([true, false]);
  });
});
