import { readFile } from 'node:fs/promises';
import { DexFile } from '../../../services/workers/apk/code/dex-file';
import { platformProtection } from '../../../services/workers/apk/manifest/read-permissions';
import { type ApkReport, type ComponentFacts, type NetworkSecurityFacts, type ProtectionLevel } from '../../../services/workers/apk/report';
import { type AndroguardAnswers, type AndroguardFacts, askAndroguard } from '../../support/apk/androguard';
import { ApkBuilder } from '../../support/apk/apk-builder';
import { analyzeBytes, analyzeFile } from '../../support/apk/apk-worker';
import { buildOracleSamples } from '../../support/apk/build-oracle-samples';

/** What both say about one app. */
interface Compared {
  readonly report: ApkReport;
  readonly facts: AndroguardFacts;
}

let builder: ApkBuilder;
let paths: Readonly<Record<string, string>>;
let answers: AndroguardAnswers;
let samples: Readonly<Record<string, Compared>>;

beforeAll(async () => {
  builder = await ApkBuilder.create();
  paths = await buildOracleSamples(builder);
  answers = await askAndroguard(Object.values(paths));
  const readable = Object.entries(paths).filter(([name]) => name !== 'truncated');
  const compared = readable.map(async ([name, path]) => [name, { report: await analyzeFile(path), facts: factsOf(path) }] as const);
  samples = Object.fromEntries(await Promise.all(compared));
});

afterAll(() => builder.close());

function factsOf(path: string): AndroguardFacts {
  const answer = answers.apps[path];
  if (!answer?.facts) throw new Error(`androguard does not read ${path}: ${answer?.error ?? 'no answer'}`);
  return answer.facts;
}

/** Compares one part of what both say for every sample, so that a difference is shown with the sample's name. */
function expectAgreement(partsOf: (compared: Compared) => { ours: unknown; theirs: unknown }, without: readonly string[] = []): void {
  const kept = Object.entries(samples).filter(([name]) => !without.includes(name));
  const parts = kept.map(([name, compared]) => [name, partsOf(compared)] as const);
  expect(parts).toHaveLength(Object.keys(paths).length - 1 - without.length);
  const pick = (side: 'ours' | 'theirs') => Object.fromEntries(parts.map(([name, each]) => [name, each[side]]));
  expect(pick('ours')).toEqual(pick('theirs'));
}

const SPARSE = 'sparse, by aapt2';
const numberOf = (text: string | null): number | null => (text === null ? null : Number(text));
const byName = <T extends { readonly name: string }>(list: readonly T[]): T[] => [...list].sort((a, b) => (a.name < b.name ? -1 : 1));

describe('the report agrees with androguard', () => {
  test('on name, versions, SDK range and launcher', () => {
    expectAgreement(({ report: { package: app }, facts }) => ({
      ours: [app.name, app.version_code, app.version_name, app.min_sdk, app.target_sdk, app.main_activity],
      theirs: [
        facts.package,
        // Android reads it unsigned, androguard signed.
        (numberOf(facts.version_code) ?? 0) >>> 0,
        facts.version_name,
        numberOf(facts.min_sdk),
        numberOf(facts.target_sdk),
        facts.main_activity,
      ],
    }));
  });

  test('on the label in every language, Hindi among them', () => {
    // Folder names say pt-rBR where a language tag says pt-BR.
    const tagged = (labels: Readonly<Record<string, string>>) =>
      Object.fromEntries(Object.entries(labels).map(([locale, text]) => [locale.replace('-r', '-'), text]));
    expectAgreement(
      ({ report: { package: app }, facts }) => ({ ours: [app.label, app.labels], theirs: [facts.label, tagged(facts.labels)] }),
      [SPARSE],
    );
    // androguard 3.4 does not know the sparse flag and misses what is kept so: here the translations. aapt2 sees them as we do.
    expect(samples[SPARSE]?.facts.labels).toEqual({ default: 'Sample app' });
    expect(samples.unsigned?.facts.labels.hi).toBe('नमूना ऐप');
    expect(samples.open?.facts.label).toBe('मेरा ऐप');
  });

  test('on requested permissions with their bounds and declared ones with their level', () => {
    const LEVELS: Readonly<Record<string, ProtectionLevel>> = { 0: 'normal', 1: 'dangerous', 2: 'signature' };
    /** Flags such as privileged stand above the base. */
    const BASE = 0x0f;
    expectAgreement(({ report: { permissions }, facts: { permissions: theirs } }) => ({
      ours: {
        // Those that the app declares and does not request are listed last.
        requested: byName(permissions)
          .filter((each) => theirs.requested.some(([name]) => name === each.name))
          .map((each) => [each.name, each.max_sdk]),
        names: permissions.map((each) => each.name).sort(),
        declared: Object.fromEntries(permissions.filter((each) => each.declared_by_app).map((each) => [each.name, each.protection])),
      },
      theirs: {
        requested: theirs.requested.toSorted(([a], [b]) => (a < b ? -1 : 1)),
        names: [...new Set([...theirs.requested.map(([name]) => name), ...Object.keys(theirs.declared)])].sort(),
        // `None` where the manifest gives no level, which makes it normal.
        declared: Object.fromEntries(
          Object.entries(theirs.declared).map(([name, level]) => [name, level === 'None' ? 'normal' : LEVELS[Number(level) & BASE]]),
        ),
      },
    }));
  });

  test('on the protection level of every permission of the platform of API 28', () => {
    // Our table starts from API 29, which dropped these three; all three could only be granted to the system.
    const DROPPED = [
      'android.permission.MANAGE_BLUETOOTH_WHEN_PERMISSION_REVIEW_REQUIRED',
      'android.permission.MANAGE_WIFI_WHEN_PERMISSION_REVIEW_REQUIRED',
      'android.permission.OPEN_APPLICATION_DETAILS_OPEN_BY_DEFAULT_PAGE',
    ];
    const known = Object.entries(answers.platform).filter(([name]) => !DROPPED.includes(name));
    expect(known.length).toBeGreaterThan(450);
    // A signature permission with the appop flag is one that the user grants on a settings page.
    const levelOf = (level: string) => (/^signature\b.*\bappop\b/.test(level) ? 'special' : level.split('|')[0]);
    expect(Object.fromEntries(known.map(([name]) => [name, platformProtection(name)]))).toEqual(
      Object.fromEntries(known.map(([name, level]) => [name, levelOf(level)])),
    );
    expect(DROPPED.map(platformProtection)).toEqual(['unknown', 'unknown', 'unknown']);
  });

  test('on components, with what the manifest says of export, permission and intent filters', () => {
    const KINDS = ['activities', 'services', 'receivers', 'providers'] as const;
    expectAgreement(({ report, facts }) => ({
      ours: KINDS.map((kind) => byName(report.components[kind]).map((each) => comparable(each, kind))),
      theirs: KINDS.map((kind) =>
        byName(facts.components[kind]).map(({ name, exported, permission, filters }) => ({
          name,
          exported,
          permission: kind === 'providers' ? undefined : permission,
          filters,
        })),
      ),
    }));
    expect(samples.open?.facts.components.services[0]?.filters.action).toEqual(['a.ONE', 'a.TWO']);
  });

  test('on the flags that the manifest sets', () => {
    // Defaults for what it leaves out are Android's rules; androguard does not apply them.
    const stated = (value: boolean, attribute: string | null) => (attribute === null ? null : String(value));
    expectAgreement(({ report: { flags }, facts: { flags: theirs } }) => ({
      ours: [
        stated(flags.debuggable, theirs.debuggable),
        stated(flags.allow_backup, theirs.allowBackup),
        stated(flags.uses_cleartext, theirs.usesCleartextTraffic),
        stated(flags.test_only, theirs.testOnly),
      ],
      theirs: [theirs.debuggable, theirs.allowBackup, theirs.usesCleartextTraffic, theirs.testOnly],
    }));
    const statedBy = (name: string) => Object.values(samples[name]?.facts.flags ?? {});
    expect(statedBy('open')).toEqual(['false', 'true', 'true', 'true', null]);
    expect(statedBy('closed')).toEqual(['true', 'false', 'false', null, null]);
  });

  test('on what the network security configuration says', () => {
    // androguard has no reading of it: its XML reader shows the file, whose attributes are all text.
    expectAgreement(({ report: { network_security: ours }, facts: { network } }) => ({ ours: configuration(ours), theirs: network }));
    expect(samples.unsigned?.facts.network?.domains[0]?.names).toEqual([['legacy.example.com', 'true']]);
  });

  test('on which signatures are there and whose', () => {
    expectAgreement(({ report: { signing }, facts: { signing: theirs } }) => ({
      ours: [signing.v1.present, signing.v2.present, signing.v3.present],
      theirs: [theirs.present.v1, theirs.present.v2, theirs.present.v3],
    }));
    // androguard verifies nothing: whether a signature holds is compared with apksigner, not here.
    expectAgreement(({ report: { signing }, facts: { signing: theirs } }) => ({
      ours: signing.certificates.map(({ sha256, serial, not_before, not_after }) => ({
        sha256,
        serial: BigInt(`0x${serial}`),
        not_before: Date.parse(not_before) / 1_000,
        not_after: Date.parse(not_after) / 1_000,
      })),
      // Newest scheme first; the same certificate in an older one is no other.
      theirs: unique([...theirs.v3, ...theirs.v2, ...theirs.v1]).map((each) => ({ ...each, serial: BigInt(`0x${each.serial}`) })),
    }));
    expect(samples['signed by two']?.facts.signing.v2).toHaveLength(2);
  });

  test('on native code and on dex files with their version, classes and methods', () => {
    expectAgreement(({ report, facts }) => ({
      ours: [report.native_abis, report.dex.map(({ checksum_ok: _ours, ...each }) => ({ ...each, version: Number(each.version) }))],
      // Ours are in the order in which Android loads them, theirs in that of the archive.
      theirs: [facts.abis, byName(facts.dex).map(({ descriptors: _compared, ...each }) => each)],
    }));
    expect(samples['two dex files']?.report.dex.map((each) => each.name)).toEqual(['classes.dex', 'classes2.dex']);
    expect(samples.unsigned?.facts.abis).toEqual(['arm64-v8a', 'armeabi-v7a', 'x86_64']);
  });

  test('on the names of the classes, by which trackers are found', async () => {
    const dex = await builder.extract(paths.unsigned ?? '', 'classes.dex');
    const theirs = samples.unsigned?.facts.dex[0]?.descriptors;
    expect([...new DexFile('classes.dex', dex).classDescriptors()]).toEqual(theirs);
    expect(theirs).toContain('Lcom/google/firebase/analytics/FirebaseAnalytics;');
  });
});

test('a tampered app, which androguard shows as signed, is not verified', () => {
  const signing = samples.tampered?.report.signing;
  expect(samples.tampered?.facts.signing.present).toEqual({ v1: true, v2: true, v3: true });
  expect([signing?.v1.verified, signing?.v2.verified, signing?.v3.verified]).toEqual([false, false, false]);
});

test('a truncated app is refused by both', async () => {
  const path = paths.truncated ?? '';
  expect(answers.apps[path]?.error).toMatch(/^BadZipFile/);
  await expect(analyzeBytes(await readFile(path))).rejects.toMatchObject({ name: 'ApkRefused' });
});

function configuration(ours: NetworkSecurityFacts): AndroguardFacts['network'] {
  const text = (value: boolean | null | undefined) => (value === null || value === undefined ? null : String(value));
  if (ours.config_file === null) return null;
  return {
    file: ours.config_file,
    base_cleartext: text(ours.base_config?.cleartext_permitted),
    base_anchors: ours.base_config?.trust_anchors?.slice() ?? null,
    domains: ours.domains.map((rule) => ({
      cleartext: text(rule.cleartext_permitted),
      names: rule.domains.map((each) => [each.name, text(each.include_subdomains)]),
      pins: rule.pins,
    })),
  };
}

function unique<T extends { readonly sha256: string }>(certificates: readonly T[]): T[] {
  return [...new Map(certificates.map((each) => [each.sha256, each])).values()];
}

/** Reduced to what androguard tells: it merges the filters of a component, names each action and category once, and knows no defaults. */
function comparable({ name, exported, explicit, permission, intent_filters: filters }: ComponentFacts, kind: string) {
  const NAMES: Readonly<Record<string, string>> = { path_prefix: 'pathPrefix', path_pattern: 'pathPattern', mime_type: 'mimeType' };
  const data = filters.flatMap((filter) => filter.data);
  return {
    name,
    exported: explicit ? String(exported) : null,
    // A provider's is made of three attributes in our report; the one that androguard shows does not tell whether it is guarded.
    permission: kind === 'providers' ? undefined : permission,
    filters: {
      action: [...new Set(filters.flatMap((filter) => filter.actions))],
      category: [...new Set(filters.flatMap((filter) => filter.categories))],
      data: data.map((each) => Object.fromEntries(Object.entries(each).map(([member, value]) => [NAMES[member] ?? member, value]))),
    },
  };
}
