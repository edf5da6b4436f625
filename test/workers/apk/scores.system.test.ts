import { readFile } from 'node:fs/promises';
import { type ApkReport, type ScoreName } from '../../../services/workers/apk/report';
import { ApkBuilder, RELEASE_KEY } from '../../support/apk/apk-builder';
import { manifestOf, smaliClass } from '../../support/apk/apk-samples';
import { analyzeBytes } from '../../support/apk/apk-worker';
import { JUDGED_APPS, type JudgedApp } from '../../support/apk/judged-apps';
import { createTestKey, signApk, type TestKey } from '../../support/apk/signing-block';

/** Apps built at a time. */
const AT_ONCE = 4;

type Keys = Readonly<Record<'release' | 'debug' | 'old debug' | 'weak', TestKey>>;

let builder: ApkBuilder;
let reports: ReadonlyMap<string, ApkReport>;

const manifestFor = ({ asks = [], parts = '', manifest = {} }: JudgedApp): string =>
  manifestOf({
    ...manifest,
    application: manifest.application?.includes('allowBackup')
      ? manifest.application
      : `android:allowBackup="false" ${manifest.application ?? ''}`,
    components: parts,
    outside: asks.map((name) => `<uses-permission android:name="android.permission.${name}" />`).join(''),
  });

async function signed(path: string, { name, signed: how }: JudgedApp, keys: Keys): Promise<Buffer> {
  if (how === 'v1') return readFile(await builder.sign(path, `${name}-v1`, { key: RELEASE_KEY, v1: true, v2: false, v3: false }));
  const apk = await readFile(path);
  if (how === 'no') return apk;
  const bytes = signApk(apk, keys[how === undefined || how === 'changed' ? 'release' : how]);
  // A byte of the first file's local header, which the signature covers.
  if (how === 'changed') bytes.writeUInt8(bytes.readUInt8(10) ^ 1, 10);
  return bytes;
}

/** All dex files are one of two: with or without an advertiser's class. */
async function buildAll(): Promise<Map<string, ApkReport>> {
  const [plain, ads] = await Promise.all(
    [[smaliClass('com/example/sample/Main')], [smaliClass('com/example/sample/Main'), smaliClass('com/facebook/ads/internal/Thing')]].map(
      async (smali, index) => builder.extract(await builder.build(`dex-${index}`, { manifest: manifestOf(), smali }), 'classes.dex'),
    ),
  );
  const debugSubject = { subject: '/C=US/O=Android/CN=Android Debug' };
  const keys = {
    release: await createTestKey(builder.folder, 'release'),
    debug: await createTestKey(builder.folder, 'debug', debugSubject),
    'old debug': await createTestKey(builder.folder, 'old-debug', { ...debugSubject, digest: 'sha1' }),
    weak: await createTestKey(builder.folder, 'weak', { digest: 'sha1' }),
  };
  const built = new Map<string, ApkReport>();
  const waiting = [...JUDGED_APPS];
  const work = async (): Promise<void> => {
    for (let app = waiting.shift(); app; app = waiting.shift()) {
      const files = { ...app.files, 'classes.dex': (app.hasAds === true ? ads : plain) ?? '' };
      const path = await builder.build(app.name.replaceAll(' ', '-'), { manifest: manifestFor(app), files });
      built.set(app.name, await analyzeBytes(await signed(path, app, keys)));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return built;
}

beforeAll(async () => {
  builder = await ApkBuilder.create();
  reports = await buildAll();
}, 120_000);
afterAll(() => builder?.close());

function reportOf(name: string): ApkReport {
  const report = reports.get(name);
  if (!report) throw new Error(`no app is called ${name}`);
  return report;
}

const scoreOf = (app: JudgedApp, score: ScoreName): number => reportOf(app.name)[score].score;

/** Ranks from 1; equal values share the mean of theirs. */
function ranksOf(values: readonly number[]): number[] {
  return values.map((value) => {
    const below = values.filter((each) => each < value).length;
    const equal = values.filter((each) => each === value).length;
    return below + (equal + 1) / 2;
  });
}

/** Spearman's rank correlation: Pearson's of the ranks. */
function rankCorrelation(one: readonly number[], other: readonly number[]): number {
  const centred = (values: readonly number[]): number[] => {
    const ranks = ranksOf(values);
    return ranks.map((rank) => rank - (ranks.length + 1) / 2);
  };
  const product = (a: readonly number[], b: readonly number[]): number => a.reduce((sum, each, index) => sum + each * (b[index] ?? 0), 0);
  const [a, b] = [centred(one), centred(other)];
  return product(a, b) / Math.sqrt(product(a, a) * product(b, b));
}

const SCORES: readonly [ScoreName, (app: JudgedApp) => number][] = [
  ['hardening', ({ weakness }) => weakness],
  ['capability', ({ power }) => power],
];

it('knows apps of each kind', () => {
  const countOf = (kind: JudgedApp['kind']): number => JUDGED_APPS.filter((app) => app.kind === kind).length;
  expect([countOf('harmless'), countOf('badly built'), countOf('dangerous'), countOf('powerful and honest')]).toEqual([8, 9, 8, 4]);
  expect([...reports.values()].flatMap(({ warnings }) => warnings)).toEqual([]);
});

describe.each(SCORES)('%s', (score, expected) => {
  it('is higher for every app of which a reviewer expects more', () => {
    const wrong = JUDGED_APPS.flatMap((one) =>
      JUDGED_APPS.filter((other) => expected(one) < expected(other) && scoreOf(one, score) >= scoreOf(other, score)).map(
        (other) => `${one.name} (${scoreOf(one, score)}) is not below ${other.name} (${scoreOf(other, score)})`,
      ),
    );
    expect(wrong).toEqual([]);
  });

  // The figures are in docs/decisions/0190-two-scores-of-an-app.md. Equal ranks keep a perfect order below 1.
  it('ranks the apps as a reviewer does: Spearman 0.98 or more', () => {
    const correlation = rankCorrelation(
      JUDGED_APPS.map(expected),
      JUDGED_APPS.map((app) => scoreOf(app, score)),
    );
    if (process.env['SCORES'] !== undefined) console.log(score, correlation.toFixed(3));
    expect(correlation).toBeGreaterThanOrEqual(0.98);
  });

  it('is made of its own findings alone, and of one for each cause', () => {
    for (const { findings, [score]: rated } of reports.values()) {
      const own = findings.filter(({ counts_for: countsFor }) => countsFor === score).map(({ id }) => id);
      expect(own).toEqual(expect.arrayContaining(rated.inputs.map(({ id }) => id)));
      expect(rated.inputs.length > 0).toBe(own.length > 0);
      const trust = rated.inputs.reduce((left, { weight }) => left * (1 - weight), 1);
      expect(rated.score).toBeCloseTo(100 * (1 - trust), 1);
    }
  });
});

it.each<[string, string[]]>([
  ['not signed', ['unsigned critical']],
  ['changed after signing', ['signature_invalid critical']],
  ['JAR scheme alone', ['v1_only high']],
  ['debug build', ['debug_certificate high']],
  ['everything wrong', ['weak_certificate high']],
  ['stalkerware', []],
])('of its signature, the app called %s has the findings %j', (name, findings) => {
  const told = reportOf(name).findings.filter(({ section }) => section === 'signing');
  expect(told.map(({ id, severity }) => `${id} ${severity}`)).toEqual(findings);
});

describe('the risk', () => {
  const levelsOf = (kind: JudgedApp['kind']) => JUDGED_APPS.filter((app) => app.kind === kind).map(({ name }) => reportOf(name).risk);

  it('of a stalkerware-like app is critical, because of what it can do', () => {
    const { risk, hardening, findings } = reportOf('stalkerware');
    expect(risk).toMatchObject({ level: 'critical', of: 'capability' });
    expect(hardening.score).toBe(0);
    expect(findings.map(({ id }) => id)).toEqual(
      expect.arrayContaining(['combination_surveillance', 'accessibility_service', 'notification_listener', 'device_admin', 'no_launcher']),
    );
    expect(findings.find(({ id }) => id === 'combination_surveillance')?.seen).toEqual(
      expect.arrayContaining([
        'service com.example.sample.Reader',
        'permission android.permission.RECORD_AUDIO',
        'receiver com.example.sample.Boot',
      ]),
    );
  });

  it.each(['debug build', 'old debug build'])('of a harmless %s is medium, because of how it is built, and it can do nothing', (name) => {
    const { risk, capability, hardening } = reportOf(name);
    expect(risk).toMatchObject({ level: 'medium', of: 'hardening', score: hardening.score });
    expect(capability).toMatchObject({ score: 0, level: 'low', inputs: [] });
  });

  it('of every dangerous app is about its user, and of every badly built one about its build', () => {
    expect(new Set(levelsOf('dangerous').map(({ of }) => of))).toEqual(new Set(['capability']));
    expect(new Set(levelsOf('badly built').map(({ of }) => of))).toEqual(new Set(['hardening']));
    expect(levelsOf('dangerous').filter(({ level }) => level === 'low')).toEqual([]);
  });
});
