import { readFile } from 'node:fs/promises';
import { type ApkReport, type ScoreName } from '../../../services/workers/apk/report';
import { ApkBuilder, RELEASE_KEY } from '../../support/apk/apk-builder';
import { FAKE_SECRETS, manifestOf, type ManifestOptions, smaliClass } from '../../support/apk/apk-samples';
import { analyzeBytes } from '../../support/apk/apk-worker';
import { createTestKey, signApk, type TestKey } from '../../support/apk/signing-block';
import { useOpened } from '../../support/opened';

/** An app of a known kind, with what a reviewer expects of both scores. The expectations were written before the weights. */
interface JudgedApp {
  readonly name: string;
  readonly kind: 'harmless' | 'badly built' | 'dangerous' | 'powerful and honest';
  /** 0 sound; 1 small weaknesses; 2 one serious weakness, or a debug build; 3 nobody vouches for it, or several serious ones; 4 all of that. */
  readonly weakness: number;
  /** 0 nothing; 1 one kind of personal data or sense; 2 several; 3 a power over other apps or the device; 4 more than one; 5 powers to spy or steal. */
  readonly power: number;
  /** Names of Android's permissions that it asks for. */
  readonly asks?: readonly string[];
  /** Its parts besides the launcher activity, as the manifest has them. */
  readonly parts?: string;
  readonly manifest?: Pick<ManifestOptions, 'targetSdk' | 'hasLauncher' | 'application'>;
  readonly files?: Readonly<Record<string, string>>;
  /** Who signs it: a release key unless named. `v1`: apksigner with a release key, by the JAR scheme alone. */
  readonly signed?: 'debug' | 'old debug' | 'weak' | 'v1' | 'changed' | 'no';
  readonly hasAds?: boolean;
}

/** A part that Android alone may bind or call, with the intent filter by which Android finds it. */
const bound = (tag: string, name: string, permission: string, action: string): string =>
  `<${tag} android:name=".${name}" android:exported="true" android:permission="android.permission.${permission}">
    <intent-filter><action android:name="${action}" /></intent-filter>
  </${tag}>`;

const ACCESSIBILITY = bound('service', 'Reader', 'BIND_ACCESSIBILITY_SERVICE', 'android.accessibilityservice.AccessibilityService');
const NOTIFICATIONS = bound(
  'service',
  'Listener',
  'BIND_NOTIFICATION_LISTENER_SERVICE',
  'android.service.notification.NotificationListenerService',
);
const ADMIN = bound('receiver', 'Admin', 'BIND_DEVICE_ADMIN', 'android.app.action.DEVICE_ADMIN_ENABLED');
const VPN = bound('service', 'Tunnel', 'BIND_VPN_SERVICE', 'android.net.VpnService');
const KEYBOARD = bound('service', 'Keys', 'BIND_INPUT_METHOD', 'android.view.InputMethod');
const AUTOFILL = bound('service', 'Fill', 'BIND_AUTOFILL_SERVICE', 'android.service.autofill.AutofillService');
const SMS_ROLE = bound('receiver', 'Deliver', 'BROADCAST_SMS', 'android.provider.Telephony.SMS_DELIVER');
const BOOT = `<receiver android:name=".Boot" android:exported="false">
  <intent-filter><action android:name="android.intent.action.BOOT_COMPLETED" /></intent-filter>
</receiver>`;
const HOME = `<activity android:name=".Home" android:exported="true" android:permission="com.example.sample.HOME"><intent-filter>
  <action android:name="android.intent.action.MAIN" /><category android:name="android.intent.category.HOME" />
</intent-filter></activity>`;
const OPEN_PARTS = `<service android:name=".S" android:exported="true" /><receiver android:name=".R" android:exported="true" />
  <provider android:name=".P" android:authorities="a" android:exported="true" /><activity android:name=".A" android:exported="true" />`;

const TRUSTING = 'android:usesCleartextTraffic="true"';
const DEBUG = 'android:debuggable="true" android:testOnly="true"';
const KEY = `-----BEGIN RSA PRIVATE KEY-----\n${'M'.repeat(64)}\n`;

const HARMLESS: readonly JudgedApp[] = [
  { name: 'notes', kind: 'harmless', weakness: 0, power: 0 },
  { name: 'shop', kind: 'harmless', weakness: 0, power: 0, asks: ['INTERNET', 'POST_NOTIFICATIONS'] },
  { name: 'torch', kind: 'harmless', weakness: 0, power: 1, asks: ['CAMERA'] },
  { name: 'weather', kind: 'harmless', weakness: 0, power: 1, asks: ['INTERNET', 'ACCESS_COARSE_LOCATION'] },
  {
    name: 'alarm clock',
    kind: 'harmless',
    weakness: 0,
    power: 1,
    asks: ['RECEIVE_BOOT_COMPLETED', 'POST_NOTIFICATIONS', 'USE_FULL_SCREEN_INTENT', 'SCHEDULE_EXACT_ALARM'],
    parts: BOOT,
  },
  { name: 'calendar', kind: 'harmless', weakness: 0, power: 1, asks: ['READ_CALENDAR', 'WRITE_CALENDAR', 'POST_NOTIFICATIONS'] },
  {
    name: 'camera',
    kind: 'harmless',
    weakness: 0,
    power: 2,
    asks: ['CAMERA', 'RECORD_AUDIO', 'ACCESS_FINE_LOCATION', 'READ_MEDIA_IMAGES', 'READ_MEDIA_VIDEO'],
  },
  {
    name: 'video calls',
    kind: 'harmless',
    weakness: 0,
    power: 2,
    asks: ['INTERNET', 'CAMERA', 'RECORD_AUDIO', 'READ_CONTACTS', 'BLUETOOTH_CONNECT', 'POST_NOTIFICATIONS', 'READ_PHONE_STATE'],
  },
];

const BADLY_BUILT: readonly JudgedApp[] = [
  {
    name: 'open parts',
    kind: 'badly built',
    weakness: 1,
    power: 0,
    parts: OPEN_PARTS,
    manifest: { application: 'android:allowBackup="true"' },
  },
  {
    name: 'debug build',
    kind: 'badly built',
    weakness: 2,
    power: 0,
    signed: 'debug',
    manifest: { application: `${DEBUG} android:allowBackup="true"` },
  },
  {
    name: 'old debug build',
    kind: 'badly built',
    weakness: 2,
    power: 0,
    signed: 'old debug',
    manifest: { targetSdk: 22, application: `${DEBUG} android:allowBackup="true"` },
  },
  { name: 'cleartext', kind: 'badly built', weakness: 2, power: 0, asks: ['INTERNET'], manifest: { application: TRUSTING } },
  { name: 'holds a private key', kind: 'badly built', weakness: 2, power: 0, files: { 'assets/key.pem': KEY } },
  { name: 'JAR scheme alone', kind: 'badly built', weakness: 2, power: 0, signed: 'v1' },
  { name: 'not signed', kind: 'badly built', weakness: 3, power: 0, signed: 'no' },
  { name: 'changed after signing', kind: 'badly built', weakness: 3, power: 1, signed: 'changed', asks: ['CAMERA'] },
  {
    name: 'everything wrong',
    kind: 'badly built',
    weakness: 4,
    power: 0,
    signed: 'weak',
    asks: ['INTERNET'],
    parts: OPEN_PARTS,
    files: { 'assets/key.pem': KEY, 'assets/config.json': FAKE_SECRETS.google },
    manifest: { targetSdk: 26, application: `${DEBUG} ${TRUSTING} android:allowBackup="true"` },
  },
];

const DANGEROUS: readonly JudgedApp[] = [
  {
    name: 'stalkerware',
    kind: 'dangerous',
    weakness: 0,
    power: 5,
    asks: ['INTERNET', 'RECEIVE_BOOT_COMPLETED', 'RECORD_AUDIO', 'CAMERA', 'READ_CONTACTS', 'ACCESS_FINE_LOCATION'],
    parts: ACCESSIBILITY + NOTIFICATIONS + ADMIN + BOOT,
    manifest: { hasLauncher: false },
  },
  {
    name: 'banking overlay',
    kind: 'dangerous',
    weakness: 0,
    power: 5,
    asks: [
      'INTERNET',
      'SYSTEM_ALERT_WINDOW',
      'RECEIVE_SMS',
      'READ_SMS',
      'REQUEST_INSTALL_PACKAGES',
      'REQUEST_IGNORE_BATTERY_OPTIMIZATIONS',
    ],
    parts: ACCESSIBILITY + BOOT,
  },
  {
    name: 'SMS fraud',
    kind: 'dangerous',
    weakness: 0,
    power: 5,
    asks: ['INTERNET', 'SEND_SMS', 'RECEIVE_SMS', 'READ_PHONE_STATE'],
    parts: BOOT,
    manifest: { hasLauncher: false },
  },
  {
    name: 'dropper',
    kind: 'dangerous',
    weakness: 0,
    power: 4,
    asks: ['INTERNET', 'REQUEST_INSTALL_PACKAGES', 'QUERY_ALL_PACKAGES', 'SYSTEM_ALERT_WINDOW', 'REQUEST_IGNORE_BATTERY_OPTIMIZATIONS'],
    parts: BOOT,
  },
  { name: 'VPN', kind: 'dangerous', weakness: 0, power: 3, asks: ['INTERNET', 'FOREGROUND_SERVICE'], parts: VPN },
  { name: 'keyboard', kind: 'dangerous', weakness: 0, power: 3, asks: ['INTERNET', 'READ_CONTACTS', 'RECORD_AUDIO'], parts: KEYBOARD },
  {
    name: 'device admin that locks the screen',
    kind: 'dangerous',
    weakness: 0,
    power: 4,
    asks: ['INTERNET', 'SYSTEM_ALERT_WINDOW', 'RECEIVE_BOOT_COMPLETED'],
    parts: ADMIN + HOME + BOOT,
  },
  {
    name: 'adware',
    kind: 'dangerous',
    weakness: 0,
    power: 3,
    asks: ['INTERNET', 'SYSTEM_ALERT_WINDOW', 'USE_FULL_SCREEN_INTENT', 'PACKAGE_USAGE_STATS', 'QUERY_ALL_PACKAGES'],
    parts: BOOT,
    hasAds: true,
  },
];

/** What the capability score cannot know: these use their powers for what the user wants. */
const POWERFUL: readonly JudgedApp[] = [
  { name: 'screen reader', kind: 'powerful and honest', weakness: 0, power: 3, asks: ['VIBRATE'], parts: ACCESSIBILITY },
  {
    name: 'password manager',
    kind: 'powerful and honest',
    weakness: 0,
    power: 4,
    asks: ['INTERNET', 'CAMERA', 'SYSTEM_ALERT_WINDOW', 'POST_NOTIFICATIONS'],
    parts: ACCESSIBILITY + AUTOFILL,
  },
  {
    name: 'text messages',
    kind: 'powerful and honest',
    weakness: 0,
    power: 4,
    asks: ['READ_SMS', 'RECEIVE_SMS', 'SEND_SMS', 'READ_CONTACTS', 'POST_NOTIFICATIONS'],
    parts: SMS_ROLE,
  },
  {
    name: 'home screen',
    kind: 'powerful and honest',
    weakness: 0,
    power: 2,
    asks: ['QUERY_ALL_PACKAGES', 'REQUEST_DELETE_PACKAGES'],
    parts: HOME,
  },
];

const JUDGED_APPS: readonly JudgedApp[] = [...HARMLESS, ...BADLY_BUILT, ...DANGEROUS, ...POWERFUL];

/** Apps built at a time. */
const AT_ONCE = 4;

type Keys = Readonly<Record<'release' | 'debug' | 'old debug' | 'weak', TestKey>>;

const builder = useOpened(() => ApkBuilder.create());
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
  reports = await buildAll();
}, 120_000);

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
