import { WINDOW_BYTES } from '../../../services/workers/apk/scan/literal-search';
import { isDebugCertificate, publicTestKey } from '../../../services/workers/apk/signing/public-keys';
import { platformProtection } from '../../../services/workers/apk/manifest/read-permissions';
import { LIMITS } from '../../../services/workers/apk/limits';
import { type ApkReport } from '../../../services/workers/apk/report';
import { ApkBuilder, type ApkSpec } from '../../support/apk/apk-builder';
import { CLEAN_APP, FAKE_SECRETS, manifestOf, type ManifestOptions } from '../../support/apk/apk-samples';
import { analyzeBytes, analyzeFile } from '../../support/apk/apk-worker';
import { writeZip } from '../../support/apk/apk-zip';
import { useOpened } from '../../support/opened';

const builder = useOpened(() => ApkBuilder.create());
let count = 0;
let cleanManifest: Buffer;
beforeAll(async () => {
  cleanManifest = await builder.extract(await builder.build('clean', CLEAN_APP), 'AndroidManifest.xml');
});

const reportOf = async (spec: ApkSpec): Promise<ApkReport> => analyzeFile(await builder.build(`app-${count++}`, spec));
/** An app that allows no backup, so that nothing is found but what the case is about. */
const appWith = (options: ManifestOptions, more: Omit<ApkSpec, 'manifest'> = {}): Promise<ApkReport> =>
  reportOf({ manifest: manifestOf({ ...options, application: `android:allowBackup="false" ${options.application ?? ''}` }), ...more });
/** A clean app with these files: no tool builds it. */
const withFiles = (files: Readonly<Record<string, string>>): Promise<ApkReport> =>
  analyzeBytes(
    writeZip([{ name: 'AndroidManifest.xml', data: cleanManifest }, ...Object.entries(files).map(([name, data]) => ({ name, data }))]),
  );
const ONLINE = '<uses-permission android:name="android.permission.INTERNET" />';
const withConfig = (inner: string, application = ''): Promise<ApkReport> => {
  const resources = { 'xml/net.xml': `<network-security-config>${inner}</network-security-config>` };
  return appWith({ outside: ONLINE, application: `${application} android:networkSecurityConfig="@xml/net"` }, { resources });
};
/** Findings besides that these apps are not signed. */
const idsOf = ({ findings }: ApkReport): string[] => findings.map((each) => each.id).filter((id) => id !== 'unsigned');
const severityOf = ({ findings }: ApkReport, id: string): string | undefined => findings.find((each) => each.id === id)?.severity;

const PROVIDER = '<provider android:name=".R" android:authorities="a" />';

describe('findings', () => {
  it.each<[string, string, string, ManifestOptions]>([
    ['cleartext_traffic', 'high', 'cleartext by default before target 28', { outside: ONLINE, targetSdk: 27 }],
    ['exported_service', 'warning', 'an open service', { components: '<service android:name=".S" android:exported="true" />' }],
    ['exported_provider', 'warning', 'a provider open by default before target 17', { minSdk: 9, targetSdk: 16, components: PROVIDER }],
  ])('%s (%s): %s', async (id, severity, _what, options) => {
    expect(severityOf(await appWith(options), id)).toBe(severity);
  });

  it('do not blame the launcher, guarded and closed components', async () => {
    const components = `
      <service android:name=".A" android:exported="true" android:permission="android.permission.BIND_JOB_SERVICE" />
      <receiver android:name=".B" android:exported="false"><intent-filter><action android:name="x.Y" /></intent-filter></receiver>
      <provider android:name=".C" android:authorities="a" android:exported="true" android:readPermission="p.R" android:writePermission="p.W" />`;
    const report = await appWith({ components });
    expect(idsOf(report)).toEqual([]);
    expect(report.components.providers[0]?.permission).toBe('p.R, p.W');
  });

  it('follow the network security configuration and not the flag beside it', async () => {
    const closed = '<base-config cleartextTrafficPermitted="false" />';
    const report = await withConfig(closed, 'android:usesCleartextTraffic="true"');
    expect(idsOf(report)).toEqual([]);
    expect([report.flags.uses_cleartext, report.network_security.cleartext_permitted]).toEqual([true, false]);
  });

  it('blame a base configuration that trusts user certificates, and only that', async () => {
    const trusting = '<trust-anchors><certificates src="user" /></trust-anchors>';
    expect(severityOf(await withConfig(`<base-config>${trusting}</base-config>`), 'user_certificates_trusted')).toBe('high');
    expect(idsOf(await withConfig(`<debug-overrides>${trusting}</debug-overrides>`))).toEqual([]);
  });
});

describe('what an app asks for', () => {
  const asking = (...names: string[]): Promise<ApkReport> =>
    appWith({ outside: names.map((name) => `<uses-permission android:name="android.permission.${name}" />`).join('') });

  it('weighs: a messenger that reads text messages and follows the location is no low risk', async () => {
    const report = await asking('READ_SMS', 'RECEIVE_SMS', 'ACCESS_BACKGROUND_LOCATION', 'CAMERA');
    const [, ...findings] = report.findings;
    expect(findings.map(({ id, severity, section, counts_for: countsFor }) => [id, severity, section, countsFor])).toEqual([
      ['permission_sms', 'high', 'permissions', 'capability'],
      ['permission_background_location', 'high', 'permissions', 'capability'],
      ['permission_camera', 'warning', 'permissions', 'capability'],
    ]);
    expect(findings[0]).toMatchObject({
      title: 'Asks to read text messages, one-time codes among them',
      allows: 'The app can read text messages, one-time codes among them, once it is granted.',
      seen: ['permission android.permission.READ_SMS', 'permission android.permission.RECEIVE_SMS'],
    });
    expect(report.capability).toMatchObject({ score: 47.13, level: 'medium' });
  });

  it('is named, each ordinary dangerous permission, and harmless ones are not', async () => {
    const dangerous = [
      'CAMERA',
      'RECORD_AUDIO',
      'READ_CONTACTS',
      'READ_CALENDAR',
      'BODY_SENSORS',
      'ACCESS_FINE_LOCATION',
      'health.READ_STEPS',
    ];
    const report = await asking(...dangerous, 'INTERNET');
    const seen = report.findings.filter(({ section }) => section === 'permissions').flatMap((finding) => finding.seen);
    expect(seen.sort()).toEqual(dangerous.map((name) => `permission android.permission.${name}`).sort());
    expect(idsOf(await asking('INTERNET', 'VIBRATE'))).toEqual([]);
  });
});

describe('keys that everybody has', () => {
  it('make debug certificates, and a certificate that only bears the same name is none', () => {
    const [subject, sha256] = ['CN=Android, O=Android', 'a40da80a59d170caa950cf15c18c454d47a39b26989d8b640ecd745ba71bf5dc'];
    expect([isDebugCertificate({ subject, sha256 }), publicTestKey(sha256)]).toEqual([true, 'testkey']);
    expect(isDebugCertificate({ subject, sha256: '0'.repeat(64) })).toBe(false);
  });
});

describe('defaults', () => {
  const filter = '<intent-filter><action android:name="x.Y" /></intent-filter>';
  it.each<[string, string, ManifestOptions, boolean]>([
    ['receivers', 'an intent filter exports', { components: `<receiver android:name=".R">${filter}</receiver>` }, true],
    [
      'providers',
      'a target from 17 on closes',
      { targetSdk: 17, components: '<provider android:name=".R" android:authorities="a" />' },
      false,
    ],
  ])('of %s: %s a component that does not say otherwise', async (kind, _what, options, exported) => {
    const { components, warnings } = await appWith({ targetSdk: 30, ...options });
    expect(components[kind as 'receivers']).toEqual([expect.objectContaining({ name: 'com.example.sample.R', exported, explicit: false })]);
    expect(warnings).toEqual([]);
  });
});

describe('large text files', () => {
  const secret = FAKE_SECRETS.google;
  const at = (bytes: number): Promise<ApkReport> =>
    withFiles({ 'assets/index.android.bundle': `${'x'.repeat(bytes)} '${secret}' https://far.example.com/a ` });
  const searched = ({ checked }: ApkReport): boolean | undefined => checked.find(({ source }) => source === 'secret_rules')?.ok;

  it('are searched to their end, with 9 MiB before a secret', async () => {
    const report = await at(9 * 1024 * 1024);
    expect(report.secrets).toEqual([expect.objectContaining({ rule: 'google_api_key', file: 'assets/index.android.bundle' })]);
    expect(report.urls).toEqual(['https://far.example.com/a']);
    expect(searched(report)).toBe(true);
    expect(report.risk.complete).toBe(true);
  });

  it('may have a secret across two pieces', async () => {
    const around = 1024 * 1024 - WINDOW_BYTES;
    for (const bytes of [around - 20, around + WINDOW_BYTES - 20]) expect((await at(bytes)).secrets).toHaveLength(1);
  });

  it('with too many places of one literal make the report and its risk say what was not searched', async () => {
    const text = `${'AIza '.repeat(LIMITS.scannedPlaces)} '${secret}' sk_live_${'0'.repeat(24)}`;
    const report = await withFiles({ 'assets/app.js': text });
    expect(report.secrets.map(({ rule }) => rule)).toEqual(['stripe_live_key']);
    expect(searched(report)).toBe(false);
    expect(report.risk.complete).toBe(false);
    expect(report.warnings).toContainEqual(expect.stringContaining('"AIza"'));
  });
});

describe('a private key', () => {
  const header = '-----BEGIN RSA PRIVATE KEY-----';
  /** In the form of a key, of one letter. */
  const material = 'M'.repeat(64);
  const secretsIn = (text: string): Promise<ApkReport> => withFiles({ 'assets/key.txt': text });

  it.each([
    ['in lines', `${header}\n${material}\n`],
    ['in a JSON string', JSON.stringify({ key: `${header}\n${material}\n` })],
  ])('%s is found, masked, and a finding', async (_what, text) => {
    const report = await secretsIn(text);
    expect(report.secrets).toEqual([{ rule: 'private_key', file: 'assets/key.txt', masked: `${header}********` }]);
    expect(severityOf(report, 'secret_private_key')).toBe('high');
    expect(JSON.stringify(report)).not.toContain(material);
  });

  it.each([
    ['a bare header', header],
    ['a header in a sentence', `Begin the file with ${header} and end it.`],
    ['what looks like endless headers', `${header}${'a: '.repeat(700)}`],
  ])('is not %s', async (_what, text) => {
    expect((await secretsIn(text)).secrets).toEqual([]);
  });
});

describe('protection levels', () => {
  it.each([
    ['android.permission.CAMERA', 'dangerous'],
    ['android.permission.health.READ_STEPS', 'dangerous'],
    ['android.permission.INTERNET', 'normal'],
    ['android.permission.SYSTEM_ALERT_WINDOW', 'special'],
    ['android.permission.INSTALL_PACKAGES', 'signature'],
    ['com.unheard.of', 'unknown'],
  ])('%s is %s', (name, level) => expect(platformProtection(name)).toBe(level));

  it('agree with the platform that the tools bring along', async () => {
    const name = 'AndroidManifest.xml';
    const framework = await analyzeBytes(writeZip([{ name, data: await builder.extract(builder.framework, name) }]));
    const declared = framework.permissions.filter((each) => each.declared_by_app);
    expect(declared.length).toBeGreaterThan(500);
    const newer = new Set(['android.permission.INTERACT_ACROSS_PROFILES', 'android.permission.LOADER_USAGE_STATS']);
    const differing = declared.filter((each) => !newer.has(each.name) && platformProtection(each.name) !== each.protection);
    expect(differing).toEqual([]);
  });
});
