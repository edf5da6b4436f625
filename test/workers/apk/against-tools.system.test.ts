import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ApkBuilder, DEBUG_KEY, DSA_KEY, EC_KEY, type KeySpec, RELEASE_KEY, SHA1_KEY } from '../../support/apk/apk-builder';
import { hasSparseEntries } from '../../support/apk/apk-resource-table';
import { appOfManyStrings, FULL_APP, manifestOf } from '../../support/apk/apk-samples';
import { runTool } from '../../support/apk/apk-tools';
import { analyzeFile } from '../../support/apk/apk-worker';

let builder: ApkBuilder;
let unsigned: string;

beforeAll(async () => {
  builder = await ApkBuilder.create();
  unsigned = await builder.build('full', FULL_APP);
});

afterAll(() => builder.close());

/** The values of `key='value'` on the lines that begin with `line`. */
function badgingValues(badging: string, line: string, key = 'name'): string[] {
  const lines = badging.split('\n').filter((each) => each.startsWith(line));
  return lines.map((each) => new RegExp(`${key}='([^']*)'`).exec(each)?.[1] ?? '');
}

describe('the report agrees with aapt', () => {
  let badging: string;
  beforeAll(async () => (badging = await runTool('aapt', ['dump', 'badging', unsigned])));

  test('on name, versions and SDK range', async () => {
    const { package: app } = await analyzeFile(unsigned);
    expect([app.name]).toEqual(badgingValues(badging, 'package:'));
    expect([String(app.version_code)]).toEqual(badgingValues(badging, 'package:', 'versionCode'));
    expect([app.version_name]).toEqual(badgingValues(badging, 'package:', 'versionName'));
    expect(badging).toContain(`sdkVersion:'${app.min_sdk}'`);
    expect(badging).toContain(`targetSdkVersion:'${app.target_sdk}'`);
    expect([app.main_activity]).toEqual(badgingValues(badging, 'launchable-activity:'));
  });

  test('on the label in every language, Hindi among them', async () => {
    const { package: app } = await analyzeFile(unsigned);
    const labels = [...badging.matchAll(/^application-label(?:-([\w-]+))?:'(.*)'$/gm)].map((match) => [match[1] ?? 'default', match[2]]);
    expect(Object.fromEntries(labels)).toEqual(app.labels);
    expect(app.labels.hi).toBe('नमूना ऐप');
    expect(app.label).toBe('Sample app');
  });

  test('on permissions with their bounds', async () => {
    const { permissions } = await analyzeFile(unsigned);
    const lines = badging.split('\n').filter((line) => /^uses-permission(-sdk-23)?:/.test(line));
    const expected = lines.map((line) => [/name='([^']*)'/.exec(line)?.[1], Number(/maxSdkVersion='(\d+)'/.exec(line)?.[1] ?? 0)]);
    // aapt adds what the platform grants with another permission.
    const requested = expected.filter(([name]) => name !== 'android.permission.READ_EXTERNAL_STORAGE');
    expect(permissions.map((each) => [each.name, each.max_sdk ?? 0])).toEqual(requested);
  });

  test('on native code and flags', async () => {
    const report = await analyzeFile(unsigned);
    const abis = /^native-code: (.*)$/m.exec(badging)?.[1]?.match(/[^' ]+/g);
    expect(report.native_abis).toEqual(abis);
    const listing = await runTool('unzip', ['-Z', unsigned, 'lib/*']);
    const listed = [...listing.matchAll(/^\S+\s+\S+\s+\S+\s+(\d+) .* lib\/([^/]+)\/(.+\.so)$/gm)].map(([, size, abi, name]) => ({
      name,
      abi,
      size: Number(size),
    }));
    expect(listed.length).toBeGreaterThan(2);
    expect(report.native_libraries).toEqual(expect.arrayContaining(listed));
    expect(report.native_libraries).toHaveLength(listed.length);
    expect(report.flags.debuggable).toBe(badging.includes('application-debuggable'));
  });

  test('on an app whose texts stand in the manifest, in Hindi', async () => {
    const manifest = manifestOf({ label: 'मेरा ऐप', application: 'android:testOnly="true"' });
    // Without a resource table aapt prints no label at all.
    const plain = await builder.build('plain', {
      manifest,
      resources: { 'values/strings.xml': '<resources><string name="x">x</string></resources>' },
    });
    const text = await runTool('aapt', ['dump', 'badging', plain]);
    const report = await analyzeFile(plain);
    expect(text).toContain(`application-label:'${report.package.label}'`);
    expect(report.flags.test_only).toBe(text.includes('testOnly='));
    expect(report.flags.test_only).toBe(true);
  });
});

test.each<[string, number, string[], boolean]>([
  ['as usual', 21, [], false],
  ['with sparse entries', 26, ['--enable-sparse-encoding'], true],
])('the report agrees with aapt2 on an app that it built %s', async (how, minSdk, more, isSparse) => {
  const apk = await builder.buildWithAapt2(`aapt2-${how.replace(/\W/g, '-')}`, appOfManyStrings(minSdk), more);
  expect(hasSparseEntries(await builder.extract(apk, 'resources.arsc'))).toBe(isSparse);
  const badging = await runTool('aapt2', ['dump', 'badging', apk]);
  const report = await analyzeFile(apk);
  const labels = [...badging.matchAll(/^application-label(?:-([\w-]+))?:'(.*)'$/gm)].map((match) => [match[1] ?? 'default', match[2]]);
  expect(report.package.labels).toEqual(Object.fromEntries(labels));
  expect(report.package.labels.hi).toBe('नमूना ऐप');
  expect([report.package.main_activity]).toEqual(badgingValues(badging, 'launchable-activity:'));
  expect(report.flags.debuggable).toBe(badging.includes('application-debuggable'));
  expect(report.network_security.domains[0]?.domains).toEqual([{ name: 'legacy.example.com', include_subdomains: true }]);
  expect(report.components.receivers[0]?.exported).toBe(true);
});

test('the report agrees with aapt2 on characters above U+FFFF, which it writes as two surrogates of three bytes each', async () => {
  const label = 'पे 😀 𑄌𑄋𑄴 한국';
  const strings = `<resources><string name="label">${label}</string></resources>`;
  const apk = await builder.buildWithAapt2('emoji', {
    manifest: manifestOf({ label: '@string/label' }),
    resources: { 'values/strings.xml': strings },
  });
  const halves = Buffer.from([0xed, 0xa0, 0xbd, 0xed, 0xb8, 0x80]);
  expect((await builder.extract(apk, 'resources.arsc')).includes(halves)).toBe(true);
  expect(await runTool('aapt2', ['dump', 'badging', apk])).toContain(`application-label:'${label}'`);
  expect((await analyzeFile(apk)).package.label).toBe(label);
});

test('the report agrees with dexdump on version, classes and methods', async () => {
  const header = await runTool('dexdump', ['-f', unsigned]);
  const value = (name: string): number => Number(new RegExp(`^${name}\\s*: (\\d+)`, 'm').exec(header)?.[1]);
  const { dex } = await analyzeFile(unsigned);
  expect(dex).toEqual([
    {
      name: 'classes.dex',
      version: /DEX version '(\d+)'/.exec(header)?.[1],
      classes: value('class_defs_size'),
      methods: value('method_ids_size'),
      checksum_ok: true,
    },
  ]);
});

interface Verdict {
  readonly verified: Record<string, boolean>;
  readonly certificates: string[];
  readonly subjects: string[];
}

/** `--min-sdk-version` makes apksigner look at every scheme, `--max-sdk-version` hides rules of newer platforms that concern installation. */
async function apksigner(apk: string, sdk: readonly string[]): Promise<Verdict> {
  let output: string;
  try {
    output = await runTool('apksigner', ['verify', '--verbose', '--print-certs', ...sdk, apk]);
  } catch (error) {
    output = String(Reflect.get(error as object, 'stdout'));
  }
  const scheme = (name: string): boolean => new RegExp(`Verified using ${name} scheme.*: true`).test(output);
  const list = (pattern: RegExp): string[] => [...output.matchAll(pattern)].map((match) => match[1] ?? '');
  return {
    verified: { v1: scheme('v1'), v2: scheme('v2'), v3: scheme('v3') },
    certificates: list(/^Signer #\d+ certificate SHA-256 digest: (\w+)$/gm),
    subjects: list(/^Signer #\d+ certificate DN: (.*)$/gm),
  };
}

const OLD_AND_NEW = ['--min-sdk-version', '21', '--max-sdk-version', '29'];

describe('the report agrees with apksigner', () => {
  const v1 = { v1: true, v2: false, v3: false };
  const all = { v1: true, v2: true, v3: true };
  test.each<[string, KeySpec, { v1: boolean; v2: boolean; v3: boolean }, string[]]>([
    ['v1 only', RELEASE_KEY, v1, []],
    ['v2 only', RELEASE_KEY, { v1: false, v2: true, v3: false }, ['--min-sdk-version', '24']],
    ['v3 only', RELEASE_KEY, { v1: false, v2: false, v3: true }, ['--min-sdk-version', '28']],
    ['v1, v2 and v3', RELEASE_KEY, all, []],
    ['elliptic curves', EC_KEY, all, []],
    ['DSA', DSA_KEY, all, []],
    ['a debug certificate', DEBUG_KEY, all, []],
    ['a SHA-1 certificate', SHA1_KEY, all, []],
    [
      'a file system digest (verity)',
      RELEASE_KEY,
      { v1: false, v2: true, v3: true },
      ['--min-sdk-version', '24', '--verity-enabled', 'true'],
    ],
    ['RSA of 4096 bits, which takes SHA-512', { ...RELEASE_KEY, name: 'large', bits: 4096 }, all, []],
  ])('on an app signed with %s', async (what, key, schemes, more) => {
    const apk = await builder.sign(unsigned, `signed-${what.replace(/\W+/g, '-')}`, { key, ...schemes, more });
    const bounds = more.includes('--min-sdk-version') ? [more[0] ?? '', more[1] ?? '', '--max-sdk-version', '29'] : OLD_AND_NEW;
    const expected = await apksigner(apk, bounds);
    const { signing } = await analyzeFile(apk);
    const found = { v1: signing.v1.verified, v2: signing.v2.verified, v3: signing.v3.verified };
    expect(found).toEqual(expected.verified);
    expect(found).toEqual(schemes);
    expect(signing.certificates.map((each) => each.sha256)).toEqual(expected.certificates);
    expect(signing.certificates.map((each) => each.subject)).toEqual(expected.subjects);
    expect(signing.v31).toEqual({ present: false, verified: false, error: null });
  });

  test('on an app with two signers', async () => {
    const [first, second] = [await builder.keyStore(RELEASE_KEY), await builder.keyStore(EC_KEY)];
    const apk = join(builder.folder, 'two.apk');
    const signer = (store: string, alias: string) => ['--ks', store, '--ks-pass', 'pass:android', '--ks-key-alias', alias];
    const signers = [...signer(first, 'release'), '--next-signer', ...signer(second, 'ec')];
    await runTool('apksigner', [
      'sign',
      ...signers,
      '--v3-signing-enabled',
      'false',
      '--v4-signing-enabled',
      'false',
      '--out',
      apk,
      unsigned,
    ]);
    const expected = await apksigner(apk, OLD_AND_NEW);
    const { signing } = await analyzeFile(apk);
    expect(expected.certificates).toHaveLength(2);
    expect(signing.certificates.map((each) => each.sha256)).toEqual(expected.certificates);
    expect([signing.v1.verified, signing.v2.verified]).toEqual([true, true]);
  });

  test('on a copy that is not signed', async () => {
    const copy = join(builder.folder, 'copy.apk');
    await copyFile(unsigned, copy);
    const { signing, findings } = await analyzeFile(copy);
    expect(await apksigner(copy, [])).toEqual({ verified: { v1: false, v2: false, v3: false }, certificates: [], subjects: [] });
    expect([signing.v1, signing.v2, signing.v3].some((each) => each.present)).toBe(false);
    expect(findings.map((each) => each.id)).toContain('unsigned');
  });
});
