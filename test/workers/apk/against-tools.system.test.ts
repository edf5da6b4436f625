import { DexFile } from '../../../services/workers/apk/code/dex-file';
import { type ApkReport, type ComponentFacts, type NetworkSecurityFacts, type ProtectionLevel } from '../../../services/workers/apk/report';
import { type AndroguardAnswers, type AndroguardFacts, askAndroguard } from '../../support/apk/androguard';
import { ApkBuilder } from '../../support/apk/apk-builder';
import { hasSparseEntries } from '../../support/apk/apk-resource-table';
import { FAKE_SECRETS, manifestOf } from '../../support/apk/apk-samples';
import { runTool } from '../../support/apk/apk-tools';
import { analyzeFile } from '../../support/apk/apk-worker';
import { firstOf } from '../../support/scenes';
import { buildOracleSamples } from './oracle-samples';
import { useOpened } from '../../support/opened';

/** What both say about one app. */
interface Compared {
  readonly report: ApkReport;
  readonly facts: AndroguardFacts;
}

const builder = useOpened(() => ApkBuilder.create());
let paths: Readonly<Record<string, string>>;
let answers: AndroguardAnswers;
let samples: Readonly<Record<string, Compared>>;

beforeAll(async () => {
  paths = await buildOracleSamples(builder);
  answers = await askAndroguard(Object.values(paths));
  const compared = Object.entries(paths).map(
    async ([name, path]) => [name, { report: await analyzeFile(path), facts: factsOf(path) }] as const,
  );
  samples = Object.fromEntries(await Promise.all(compared));
});

function factsOf(path: string): AndroguardFacts {
  const answer = answers[path];
  if (!answer?.facts) throw new Error(`androguard does not read ${path}: ${answer?.error ?? 'no answer'}`);
  return answer.facts;
}

/** Compares one part of what both say for every sample, so that a difference is shown with the sample's name. */
function expectAgreement(partsOf: (compared: Compared) => { ours: unknown; theirs: unknown }, without: readonly string[] = []): void {
  const kept = Object.entries(samples).filter(([name]) => !without.includes(name));
  const parts = kept.map(([name, compared]) => [name, partsOf(compared)] as const);
  expect(parts).toHaveLength(Object.keys(paths).length - without.length);
  const pick = (side: 'ours' | 'theirs') => Object.fromEntries(parts.map(([name, each]) => [name, each[side]]));
  expect(pick('ours')).toEqual(pick('theirs'));
}

const SPARSE = 'sparse, by aapt2';
const numberOf = (text: string | null): number | null => (text === null ? null : Number(text));
const byName = <T extends { readonly name: string }>(list: readonly T[]): T[] => [...list].sort((a, b) => (a.name < b.name ? -1 : 1));

describe('the report agrees with androguard', () => {
  it('on name, versions, SDK range and launcher', () => {
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

  it('on the label in every language, Hindi among them', () => {
    // Folder names say pt-rBR where a language tag says pt-BR.
    const tagged = (labels: Readonly<Record<string, string>>) =>
      Object.fromEntries(Object.entries(labels).map(([locale, text]) => [locale.replace('-r', '-'), text]));
    expectAgreement(
      ({ report: { package: app }, facts }) => ({ ours: [app.label, app.labels], theirs: [facts.label, tagged(facts.labels)] }),
      [SPARSE],
    );
    // androguard 3.4 does not know the sparse flag and misses what is kept so: here the translations.
    expect(samples[SPARSE]?.facts.labels).toEqual({ default: 'Sample app' });
    expect(samples.unsigned?.facts.labels.hi).toBe('नमूना ऐप');
    expect(samples.open?.facts.label).toBe('मेरा ऐप');
  });

  it('on requested permissions with their bounds and declared ones with their level', () => {
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

  it('on components, with what the manifest says of export, permission and intent filters', () => {
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

  it('on the flags that the manifest sets', () => {
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

  it('on what the network security configuration says', () => {
    // androguard has no reading of it: its XML reader shows the file, whose attributes are all text.
    expectAgreement(({ report: { network_security: ours }, facts: { network } }) => ({ ours: configuration(ours), theirs: network }));
    expect(samples.unsigned?.facts.network?.domains[0]?.names).toEqual([['legacy.example.com', 'true']]);
  });

  it('on which signatures are there and whose', () => {
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

  it('on native code and on dex files with their version, classes and methods', () => {
    expectAgreement(({ report, facts }) => ({
      ours: [report.native_abis, report.dex.map(({ checksum_ok: _ours, ...each }) => ({ ...each, version: Number(each.version) }))],
      // Ours are in the order in which Android loads them, theirs in that of the archive.
      theirs: [facts.abis, byName(facts.dex).map(({ descriptors: _compared, ...each }) => each)],
    }));
    expect(samples['two dex files']?.report.dex.map((each) => each.name)).toEqual(['classes.dex', 'classes2.dex']);
    expect(samples.unsigned?.facts.abis).toEqual(['arm64-v8a', 'armeabi-v7a', 'x86_64']);
  });

  it('on the names of the classes, by which trackers are found', async () => {
    const dex = await builder.extract(paths.unsigned ?? '', 'classes.dex');
    const theirs = samples.unsigned?.facts.dex[0]?.descriptors;
    expect([...new DexFile('classes.dex', dex).classDescriptors()]).toEqual(theirs);
    expect(theirs).toContain('Lcom/google/firebase/analytics/FirebaseAnalytics;');
  });
});

describe('the report agrees with aapt2', () => {
  it('on labels that are kept as sparse entries', async () => {
    const path = paths[SPARSE] ?? '';
    expect(hasSparseEntries(await builder.extract(path, 'resources.arsc'))).toBe(true);
    const badging = await runTool('aapt2', ['dump', 'badging', path]);
    const labels = [...badging.matchAll(/^application-label(?:-([\w-]+))?:'(.*)'$/gm)].map((match) => [match[1] ?? 'default', match[2]]);
    expect(samples[SPARSE]?.report.package.labels).toEqual(Object.fromEntries(labels));
    expect(labels).toContainEqual(['hi', 'नमूना ऐप']);
  });

  it('on characters above U+FFFF, which it writes as two surrogates of three bytes each', async () => {
    const label = 'पे 😀 𑄌𑄋𑄴 한국';
    const strings = `<resources><string name="label">${label}</string></resources>`;
    const app = { manifest: manifestOf({ label: '@string/label' }), resources: { 'values/strings.xml': strings } };
    const apk = await builder.buildWithAapt2('emoji', app);
    const halves = Buffer.from([0xed, 0xa0, 0xbd, 0xed, 0xb8, 0x80]);
    expect((await builder.extract(apk, 'resources.arsc')).includes(halves)).toBe(true);
    expect(await runTool('aapt2', ['dump', 'badging', apk])).toContain(`application-label:'${label}'`);
    expect((await analyzeFile(apk)).package.label).toBe(label);
  });
});

it('the report agrees with unzip on the native libraries and their sizes', async () => {
  const listing = await runTool('unzip', ['-Z', paths.unsigned ?? '', 'lib/*']);
  const listed = [...listing.matchAll(/^\S+\s+\S+\s+\S+\s+(\d+) .* lib\/([^/]+)\/(.+\.so)$/gm)].map(([, size, abi, name]) => ({
    name,
    abi,
    size: Number(size),
  }));
  expect(listed.length).toBeGreaterThan(2);
  const found = samples.unsigned?.report.native_libraries;
  expect(found).toEqual(expect.arrayContaining(listed));
  expect(found).toHaveLength(listed.length);
});

describe('the report agrees with apksigner on the app', () => {
  /** `--min-sdk-version` makes apksigner look at every scheme, `--max-sdk-version` hides rules of newer platforms that concern installation. */
  async function verdictOf(apk: string, minSdk: number) {
    const sdk = ['--min-sdk-version', String(minSdk), '--max-sdk-version', '29'];
    const output = await runTool('apksigner', ['verify', '--verbose', '--print-certs', ...sdk, apk]).catch((error: unknown) =>
      String(Reflect.get(error as object, 'stdout')),
    );
    const list = (pattern: RegExp): (string | undefined)[] => [...output.matchAll(pattern)].map((match) => match[1]);
    return {
      schemes: ['v1', 'v2', 'v3'].filter((name) => new RegExp(`Verified using ${name} scheme.*: true`).test(output)),
      certificates: list(/^Signer #\d+ certificate SHA-256 digest: (\w+)$/gm),
      subjects: list(/^Signer #\d+ certificate DN: (.*)$/gm),
    };
  }

  const APPS: readonly [string, string[], number, number][] = [
    ['tampered', [], 21, 0],
    ['signed by two', ['v1', 'v2'], 21, 2],
    ['signed with v1 to v3', ['v1', 'v2', 'v3'], 21, 1],
    ['signed with v1 to v3, DSA', ['v1', 'v2', 'v3'], 21, 1],
    ['signed with v2 and v3 and a file system digest (verity)', ['v2', 'v3'], 24, 1],
    ['unsigned', [], 21, 0],
    ['signed with v1', ['v1'], 21, 1],
    ['signed with v2', ['v2'], 24, 1],
    ['signed with v3', ['v3'], 28, 1],
    ['signed with v1 to v3 and RSA of 4096 bits, which takes SHA-512', ['v1', 'v2', 'v3'], 21, 1],
  ];

  it.each(firstOf(APPS, 3))('%s', async (name, schemes, minSdk, signers) => {
    const verdict = await verdictOf(paths[name] ?? '', minSdk);
    const { v1, v2, v3, v31, certificates } = samples[name]?.report.signing ?? {};
    expect(verdict.schemes).toEqual(schemes);
    expect([v1, v2, v3].map((each) => each?.verified)).toEqual(['v1', 'v2', 'v3'].map((each) => schemes.includes(each)));
    expect(v31).toEqual({ present: false, verified: false, error: null });
    expect(verdict.certificates).toHaveLength(signers);
    if (name === 'tampered') return;
    expect(certificates?.map((each) => each.sha256)).toEqual(verdict.certificates);
    expect(certificates?.map((each) => each.subject)).toEqual(verdict.subjects);
  });
});

describe('secrets, addresses and trackers', () => {
  it('no secret of the app stands anywhere in its report', () => {
    const text = JSON.stringify(samples.unsigned?.report);
    for (const secret of [...Object.values(FAKE_SECRETS), 'user:pass']) expect(text).not.toContain(secret);
    expect(text).toContain('AIza********SS');
  });

  it('are found in code, resources, the manifest and text files', () => {
    const { secrets = [], urls, trackers = [] } = samples.unsigned?.report ?? {};
    expect(secrets.map((each) => [each.rule, each.file])).toEqual([
      ['google_api_key', 'AndroidManifest.xml'],
      ['google_api_key', 'assets/config.json'],
      ['aws_access_key_id', 'assets/config.json'],
    ]);
    expect(urls).toEqual([
      'http://********@plain.example.com/a?key=AIza********SS',
      'https://api.example.com/v1',
      'https://backend.example.org/path?x=1',
    ]);
    expect(trackers.map((each) => [each.name, each.matched])).toEqual([
      ['Facebook Ads', 'com.facebook.ads'],
      ['Google Firebase Analytics', 'com.google.firebase.analytics'],
    ]);
  });
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
