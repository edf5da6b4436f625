import { readdir, readlink, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type ApkReport } from '../../../services/workers/apk/report';
import { ApkBuilder, RELEASE_KEY } from '../../support/apk/apk-builder';
import { CLEAN_APP, FULL_APP, manifestOf } from '../../support/apk/apk-samples';
import { analyzeBytes, analyzeFile } from '../../support/apk/apk-worker';
import { writeZip, type ZipFile } from '../../support/apk/apk-zip';
import { createTestKey, signApk, type TestKey } from '../../support/apk/signing-block';
import { type ProtoField, writeProto } from '../../support/apk/proto-message';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { runTool } from '../../support/apk/apk-tools';
import { runsEveryScene } from '../../support/scenes';
import { useOpened } from '../../support/opened';

describe('bundles and sets', () => {
  /** The files of an APK, by name. */
  async function filesOfApk(builder: ApkBuilder, apk: string): Promise<ZipFile[]> {
    const { stdout } = await promisify(execFile)('unzip', ['-Z1', apk]);
    const names = stdout.split('\n').filter((name) => name !== '');
    return Promise.all(names.map(async (name) => ({ name, data: await builder.extract(apk, name) })));
  }

  /** The same app as a module of a bundle: what aapt2 makes of its XML and resources, at the places that bundles have. */
  async function moduleOfApk(builder: ApkBuilder, apk: string, module: string): Promise<ZipFile[]> {
    const converted = join(builder.folder, `${module}-as-proto.apk`);
    await runTool('aapt2', ['convert', '--output-format', 'proto', '-o', converted, apk]);
    const files = await filesOfApk(builder, converted);
    return files.map(({ name, data }) => ({ name: `${module}/${placeInModule(name)}`, data }));
  }

  function placeInModule(name: string): string {
    if (name === 'AndroidManifest.xml') return `manifest/${name}`;
    if (name.endsWith('.dex')) return `dex/${name}`;
    return /^(res|lib|assets)\/|^resources\.pb$/.test(name) ? name : `root/${name}`;
  }

  /** An APK as a file of an archive: stored as shops do it, unless a method is given. */
  async function innerApk(name: string, path: string, method = 0): Promise<ZipFile> {
    return { name, data: await readFile(path), method };
  }

  const builder = useOpened(() => ApkBuilder.create());
  let apk: string;
  let signed: string;
  let bundle: ZipFile[];
  let split: string;
  /** The split, signed by the signer of the base. */
  let signedSplit: string;

  beforeAll(async () => {
    apk = await builder.build('full', FULL_APP);
    const key = await createTestKey(builder.folder, 'release');
    signed = await signWith(key, apk, 'base.apk');
    bundle = [{ name: 'BundleConfig.pb', data: writeProto([[1, [[2, '1.15.6']]]]) }, ...(await moduleOfApk(builder, apk, 'base'))];
    const splitManifest = manifestOf().replace('<manifest ', '<manifest split="config.arm64_v8a" ').replace('".Main"', '".FromSplit"');
    const library = {
      'lib/arm64-v8a/libonly.so': Buffer.from('\x7fELF split'),
      'assets/split.json': '{"url":"https://split.example.com/a"}',
    };
    split = await builder.build('split', { manifest: splitManifest, files: library });
    signedSplit = await signWith(key, split, 'split-signed.apk');
  });

  async function signWith(key: TestKey, path: string, name: string): Promise<string> {
    await builder.write(name, signApk(await readFile(path), key));
    return join(builder.folder, name);
  }

  const idsOf = (report: ApkReport): string[] => report.findings.map(({ id }) => id);
  const refusedWith = (code: string, message: RegExp) =>
    expect.objectContaining({ name: 'ApkRefused', code, message: expect.stringMatching(message) });

  describe('a bundle', () => {
    it('says the same as the APK that it was made of', async () => {
      const [ofApk, ofBundle] = [await analyzeFile(apk), await analyzeBytes(writeZip(bundle))];
      expect([ofApk.form, ofBundle.form]).toEqual(['apk', 'aab']);
      expect([ofApk.parts, ofBundle.parts]).toEqual([[], [{ name: 'base', kind: 'base', size: expect.any(Number), analyzed: true }]]);
      const told = ({ package: app, permissions, components, flags, network_security, native_libraries, trackers, urls }: ApkReport) =>
        JSON.parse(JSON.stringify({ app, permissions, components, flags, network_security, native_libraries, trackers, urls })) as unknown;
      expect(told(ofBundle)).toEqual(told(ofApk));
      expect(ofBundle.dex).toEqual(ofApk.dex.map((each) => ({ ...each, name: `base/dex/${each.name}` })));
      expect(ofBundle.secrets.map(({ rule }) => rule).sort()).toEqual(ofApk.secrets.map(({ rule }) => rule).sort());
      expect(ofBundle.secrets.map(({ file }) => file)).toContain('base/assets/config.json');
      expect(ofBundle.warnings).toEqual(ofApk.warnings);
    });

    it('without a signature, and with the one of its upload, is told as a bundle and not as an app of the oldest scheme', async () => {
      const unsigned = await analyzeBytes(writeZip(bundle));
      expect(unsigned.findings).toContainEqual(expect.objectContaining({ id: 'unsigned', seen: ['JAR signature of the bundle: none'] }));
      await builder.write('bundle.aab', writeZip(bundle));
      const options = { key: RELEASE_KEY, v1: true, v2: false, v3: false, more: ['--min-sdk-version', '21'] };
      const path = await builder.sign(join(builder.folder, 'bundle.aab'), 'signed-bundle', options);
      const report = await analyzeFile(path);
      expect(report.signing.v1).toEqual({ present: true, verified: true, error: null });
      expect(idsOf(report)).not.toContain('v1_only');
      expect(report.signing.certificates[0]?.subject).toContain('Release');
    });

    it('tells of the code and the components of every module', async () => {
      const manifest = manifestOf({ components: '<service android:name=".OnDemand" android:exported="true" />' });
      const feature = await builder.build('feature', { manifest, files: { 'classes.dex': await builder.extract(apk, 'classes.dex') } });
      const report = await analyzeBytes(writeZip([...bundle, ...(await moduleOfApk(builder, feature, 'chat'))]));
      expect(report.parts).toMatchObject([
        { name: 'base', kind: 'base' },
        { name: 'chat', kind: 'module' },
      ]);
      expect(report.dex.map(({ name }) => name)).toEqual(['base/dex/classes.dex', 'chat/dex/classes.dex']);
      expect(report.components.services.map(({ name }) => name)).toContain('com.example.sample.OnDemand');
      expect(report.package.name).toBe('com.example.sample');
    });

    it('whose resources are damaged costs a warning, whose manifest is damaged the report', async () => {
      const damage = (name: string) => bundle.map((file) => (file.name === name ? { ...file, data: Buffer.alloc(64, 0xff) } : file));
      const report = await analyzeBytes(writeZip(damage('base/resources.pb')));
      expect(report.warnings).toContainEqual(expect.stringMatching(/^resources\.pb: /));
      await expect(analyzeBytes(writeZip(damage('base/manifest/AndroidManifest.xml')))).rejects.toEqual(
        refusedWith('apk_malformed', /AndroidManifest\.xml/),
      );
    });

    it('whose manifest nests without end is refused at the same depth as binary XML', async () => {
      const nest = (depth: number): ProtoField[] => [[1, [[3, 'manifest'], ...(depth > 0 ? ([[5, nest(depth - 1)]] as const) : [])]]];
      const file = { name: 'base/manifest/AndroidManifest.xml', data: writeProto(nest(500)) };
      await expect(analyzeBytes(writeZip([file]))).rejects.toEqual(refusedWith('apk_malformed', /too deep/));
    });
  });

  describe('a set of APKs', () => {
    const description = { name: 'manifest.json', data: JSON.stringify({ xapk_version: 2, package_name: 'com.example.sample' }) };

    it('that is an XAPK says what its base says, with the libraries and texts of its splits', async () => {
      const obb = { name: 'Android/obb/com.example.sample/main.1.com.example.sample.obb', data: 'data' };
      const files = [description, await innerApk('com.example.sample.apk', signed), await innerApk('config.apk', signedSplit), obb];
      const report = await analyzeBytes(writeZip(files));
      expect([report.form, report.package]).toEqual(['xapk', (await analyzeFile(signed)).package]);
      expect(report.parts.map(({ name, kind, analyzed }) => [name, kind, analyzed])).toEqual([
        ['com.example.sample.apk', 'base', true],
        ['config.apk', 'split', true],
        [obb.name, 'expansion', false],
      ]);
      expect(report.native_libraries.map(({ name }) => name)).toContain('libonly.so');
      expect(report.urls).toContain('https://split.example.com/a');
      expect(report.components.activities.map(({ name }) => name)).toContain('com.example.sample.FromSplit');
      expect(report.signing.v3.verified).toBe(true);
      expect(idsOf(report)).not.toContain('split_signature');
      expect(report.warnings).toContain('listed in parts, but not analysed: 1');
    });

    it('is read alike when its APKs are compressed, and leaves nothing on disk or open', async () => {
      const files = async (method: number) => [
        await innerApk('splits/base-master.apk', signed, method),
        await innerApk('splits/base-arm64_v8a.apk', signedSplit, method),
      ];
      const stored = await analyzeBytes(writeZip(await files(0)));
      const packed = await analyzeBytes(writeZip(await files(8)), { folder: builder.folder });
      expect(packed).toEqual({ ...stored, file: packed.file });
      expect(packed.form).toBe('apks');
      const descriptors = await readdir('/proc/self/fd');
      const open = await Promise.all(descriptors.map((each) => readlink(`/proc/self/fd/${each}`).catch(() => '')));
      expect(open.filter((path) => path.startsWith(builder.folder))).toEqual([]);
      expect((await readdir(builder.folder)).filter((name) => name.endsWith('.part'))).toEqual([]);
    });

    it('tells when a split is signed by somebody else, or not at all', async () => {
      const withSplit = async (path: string) =>
        idsOf(await analyzeBytes(writeZip([await innerApk('base.apk', signed), await innerApk('split.apk', path)])));
      expect(await withSplit(signedSplit)).not.toContain('split_signature');
      expect(await withSplit(await signWith(await createTestKey(builder.folder, 'new'), split, 'other.apk'))).toContain('split_signature');
      expect(await withSplit(split)).toContain('split_signature');
    });

    it('for several devices takes the base that its splits belong to; the others are listed', async () => {
      const names = ['standalones/standalone-x86.apk', 'splits/base-master.apk', 'other.apk'];
      const report = await analyzeBytes(writeZip(await Promise.all(names.map((name) => innerApk(name, signed)))));
      expect(report.parts.map(({ kind }) => kind)).toEqual(['other', 'base', 'other']);
    });

    it('costs a warning for an APK that cannot be read, and is refused without any', async () => {
      const broken = { name: 'broken.apk', data: 'no archive' };
      const report = await analyzeBytes(writeZip([broken, await innerApk('base.apk', signed)]));
      expect(report.warnings).toContainEqual(expect.stringMatching(/^broken\.apk cannot be read: /));
      await expect(analyzeBytes(writeZip([broken]))).rejects.toEqual(refusedWith('apk_malformed', /none of the APKs/));
      await expect(analyzeBytes(writeZip([await innerApk('split.apk', split)]))).rejects.toEqual(refusedWith('apk_malformed', /none of/));
      // A set is not opened further than its APKs.
      const nested = { name: 'nested.apk', data: writeZip([await innerApk('base.apk', signed)]), method: 0 };
      await expect(analyzeBytes(writeZip([nested]))).rejects.toEqual(refusedWith('apk_malformed', /none of the APKs/));
    });

    it('whose APKs are bombs together is refused, though each is small enough', async () => {
      const files = Array.from({ length: 7_000 }, (_each, index) => ({ name: `assets/${index}`, data: '', method: 0 }));
      const manifest = await builder.extract(await builder.build('clean', CLEAN_APP), 'AndroidManifest.xml');
      const heavy = writeZip([{ name: 'AndroidManifest.xml', data: manifest }, ...files]);
      const set = Array.from({ length: 10 }, (_each, index) => ({ name: `${index}.apk`, data: heavy, method: 0 }));
      await expect(analyzeBytes(writeZip(set))).rejects.toEqual(refusedWith('apk_too_complex', /more than one app may/));
    });

    it('with a manifest in front is the APK that Android would install', async () => {
      const manifest = { name: 'AndroidManifest.xml', data: await builder.extract(apk, 'AndroidManifest.xml') };
      const report = await analyzeBytes(writeZip([manifest, description, await innerApk('base.apk', signed)]));
      expect([report.form, report.parts]).toEqual(['apk', []]);
    });
  });

  it('an archive of something else says what it lacks', async () => {
    await expect(analyzeBytes(writeZip([{ name: 'notes.txt', data: 'x' }]))).rejects.toEqual(
      refusedWith('apk_malformed', /no AndroidManifest\.xml, no module of an app bundle .* and no APK/),
    );
  });
});

describe('a malformed archive', () => {
  const builder = useOpened(() => ApkBuilder.create());
  let clean: string;
  let manifest: ZipFile;
  let resources: ZipFile;
  let dex: ZipFile;

  beforeAll(async () => {
    const apk = await builder.build('full', FULL_APP);
    clean = await builder.build('clean', CLEAN_APP);
    manifest = { name: 'AndroidManifest.xml', data: await builder.extract(clean, 'AndroidManifest.xml') };
    resources = { name: 'resources.arsc', data: await builder.extract(apk, 'resources.arsc') };
    dex = { name: 'classes.dex', data: await builder.extract(apk, 'classes.dex') };
  });

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
      [
        'a broken resource table',
        () => [manifest, { ...resources, data: Buffer.from(resources.data).subarray(0, 900) }],
        /resources\.arsc/,
      ],
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
});
