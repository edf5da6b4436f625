import { readFile } from 'node:fs/promises';
import fc from 'fast-check';
import { rateRisk } from '../../../services/workers/apk/judge/rate-risk';
import { platformProtection } from '../../../services/workers/apk/manifest/platform-permissions';
import { type ApkReport, type Finding } from '../../../services/workers/apk/report';
import { ApkBuilder, type ApkSpec, DEBUG_KEY, RELEASE_KEY, SHA1_KEY } from '../../support/apk/apk-builder';
import { CLEAN_APP, FAKE_SECRETS, FULL_APP, manifestOf, type ManifestOptions } from '../../support/apk/apk-samples';
import { analyzeBytes, analyzeFile } from '../../support/apk/apk-worker';

let builder: ApkBuilder;
let count = 0;
beforeAll(async () => (builder = await ApkBuilder.create()));
afterAll(() => builder.close());

const reportOf = async (spec: ApkSpec): Promise<ApkReport> => analyzeFile(await builder.build(`app-${count++}`, spec));
const SAFE = 'android:allowBackup="false"';
const appWith = (options: ManifestOptions): Promise<ApkReport> =>
  reportOf({ manifest: manifestOf({ ...options, application: `${SAFE} ${options.application ?? ''}` }) });
/** Findings besides that these apps are not signed. */
const idsOf = ({ findings }: ApkReport): string[] => findings.map((each) => each.id).filter((id) => id !== 'unsigned');
const severityOf = ({ findings }: ApkReport, id: string): string | undefined => findings.find((each) => each.id === id)?.severity;

describe('findings', () => {
  test.each<[string, string, string, ManifestOptions]>([
    ['debuggable', 'high', 'a debuggable app', { application: 'android:debuggable="true"' }],
    ['test_only', 'high', 'an app for tests', { application: 'android:testOnly="true"' }],
    ['cleartext_traffic', 'high', 'permitted cleartext', { application: 'android:usesCleartextTraffic="true"' }],
    ['cleartext_traffic', 'high', 'cleartext by default before target 28', { targetSdk: 27 }],
    ['exported_service', 'warning', 'an open service', { components: '<service android:name=".S" android:exported="true" />' }],
    [
      'exported_provider',
      'warning',
      'a provider open by default before target 17',
      { minSdk: 9, targetSdk: 16, components: '<provider android:name=".P" android:authorities="a" />' },
    ],
  ])('%s (%s): %s', async (id, severity, _what, options) => {
    const report = await appWith(options);
    expect(severityOf(report, id)).toBe(severity);
  });

  test('are none for a signed app that does nothing wrong', async () => {
    const unsigned = await builder.build('quiet', CLEAN_APP);
    const report = await analyzeFile(await builder.sign(unsigned, 'quiet-signed', { key: RELEASE_KEY, v1: true, v2: true, v3: true }));
    expect(report.findings).toEqual([]);
    expect(report.risk).toEqual({ score: 0, level: 'low' });
  });

  test('tell that backup is allowed by default', async () => {
    expect(idsOf(await reportOf({ manifest: manifestOf() }))).toEqual(['allow_backup']);
    expect(idsOf(await appWith({}))).toEqual([]);
  });

  test('do not blame the launcher, guarded and closed components', async () => {
    const components = `
      <service android:name=".A" android:exported="true" android:permission="android.permission.BIND_JOB_SERVICE" />
      <receiver android:name=".B" android:exported="false"><intent-filter><action android:name="x.Y" /></intent-filter></receiver>
      <provider android:name=".C" android:authorities="a" android:exported="true" android:readPermission="p.R" android:writePermission="p.W" />`;
    const report = await appWith({ components });
    expect(idsOf(report)).toEqual([]);
    expect(report.components.providers[0]?.permission).toBe('p.R, p.W');
  });

  test('follow the network security configuration and not the flag beside it', async () => {
    const report = await reportOf({
      manifest: manifestOf({ application: `${SAFE} android:usesCleartextTraffic="true" android:networkSecurityConfig="@xml/net"` }),
      resources: { 'xml/net.xml': '<network-security-config><base-config cleartextTrafficPermitted="false" /></network-security-config>' },
    });
    expect(idsOf(report)).toEqual([]);
    expect(report.flags.uses_cleartext).toBe(true);
    expect(report.network_security.cleartext_permitted).toBe(false);
  });

  test('blame a base configuration that trusts user certificates, and only that', async () => {
    const trusting = '<trust-anchors><certificates src="user" /></trust-anchors>';
    const withConfig = (inner: string): Promise<ApkReport> =>
      reportOf({
        manifest: manifestOf({ application: `${SAFE} android:networkSecurityConfig="@xml/net"` }),
        resources: { 'xml/net.xml': `<network-security-config>${inner}</network-security-config>` },
      });
    expect(severityOf(await withConfig(`<base-config>${trusting}</base-config>`), 'user_certificates_trusted')).toBe('high');
    expect(idsOf(await withConfig(`<debug-overrides>${trusting}</debug-overrides>`))).toEqual([]);
  });

  test('judge the certificate and the schemes', async () => {
    const unsigned = await builder.build('judged', CLEAN_APP);
    const all = { v1: true, v2: true, v3: true };
    const debug = await analyzeFile(await builder.sign(unsigned, 'debug', { key: DEBUG_KEY, ...all }));
    expect(severityOf(debug, 'debug_certificate')).toBe('high');
    expect(debug.signing.certificates[0]?.debug).toBe(true);
    const weak = await analyzeFile(await builder.sign(unsigned, 'weak', { key: SHA1_KEY, ...all }));
    expect(severityOf(weak, 'weak_certificate')).toBe('high');
    const old = await analyzeFile(await builder.sign(unsigned, 'old', { key: RELEASE_KEY, v1: true, v2: false, v3: false }));
    expect(old.findings.map((each) => [each.id, each.severity])).toEqual([['v1_only', 'high']]);
    expect(old.risk).toEqual({ score: 25, level: 'medium' });
  });
});

describe('defaults', () => {
  test('an intent filter exports a component that does not say otherwise', async () => {
    const filter = '<intent-filter><action android:name="x.Y" /></intent-filter>';
    const { components, warnings } = await appWith({
      targetSdk: 30,
      components: `<receiver android:name=".R">${filter}</receiver><receiver android:name=".Q" />`,
    });
    expect(components.receivers.map((each) => [each.exported, each.explicit])).toEqual([
      [true, false],
      [false, false],
    ]);
    expect(warnings).toEqual([]);
  });

  test('a provider is closed by default from target 17 on', async () => {
    const { components } = await appWith({ targetSdk: 17, components: '<provider android:name=".P" android:authorities="a" />' });
    expect(components.providers[0]?.exported).toBe(false);
  });

  test('names are completed with the package', async () => {
    const { components } = await appWith({ components: '<service android:name="Plain" /><service android:name="a.b.Full" />' });
    expect(components.services.map((each) => each.name)).toEqual(['com.example.sample.Plain', 'a.b.Full']);
  });
});

describe('secrets and addresses', () => {
  test('no secret of the app stands anywhere in its report', async () => {
    const text = JSON.stringify(await reportOf(FULL_APP));
    for (const secret of Object.values(FAKE_SECRETS)) expect(text).not.toContain(secret);
    expect(text).not.toContain('user:pass');
    expect(text).toContain('AIza********SS');
  });

  test('are found in code, resources, the manifest and text files', async () => {
    const { secrets, urls } = await reportOf(FULL_APP);
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
  });
});

test('trackers are recognised by their classes', async () => {
  const { trackers } = await reportOf(FULL_APP);
  expect(trackers.map((each) => [each.name, each.matched])).toEqual([
    ['Facebook Ads', 'com.facebook.ads'],
    ['Google Firebase Analytics', 'com.google.firebase.analytics'],
  ]);
});

describe('protection levels', () => {
  test.each([
    ['android.permission.CAMERA', 'dangerous'],
    ['android.permission.POST_NOTIFICATIONS', 'dangerous'],
    ['android.permission.RANGING', 'dangerous'],
    ['android.permission.HAND_TRACKING', 'dangerous'],
    ['android.permission.health.READ_STEPS', 'dangerous'],
    ['android.permission.INTERNET', 'normal'],
    ['android.permission.SYSTEM_ALERT_WINDOW', 'special'],
    ['android.permission.MANAGE_EXTERNAL_STORAGE', 'special'],
    ['android.permission.INSTALL_PACKAGES', 'signature'],
    ['com.unheard.of', 'unknown'],
  ])('%s is %s', (name, level) => expect(platformProtection(name)).toBe(level));

  test('agree with the platform that the tools bring along', async () => {
    const framework = await analyzeBytes(await readFile(builder.framework));
    const declared = framework.permissions.filter((each) => each.declared_by_app);
    expect(declared.length).toBeGreaterThan(500);
    const newer = new Set(['android.permission.INTERACT_ACROSS_PROFILES', 'android.permission.LOADER_USAGE_STATS']);
    const differing = declared.filter((each) => !newer.has(each.name) && platformProtection(each.name) !== each.protection);
    expect(differing).toEqual([]);
  });
});

describe('the risk', () => {
  const finding = (severity: Finding['severity']): Finding => ({ id: 'x', severity, title: 'x', section: 'x' });
  test.each<[Finding['severity'][], number, string]>([
    [[], 0, 'low'],
    [['warning', 'warning'], 15.36, 'low'],
    [['high'], 25, 'medium'],
    [['critical'], 50, 'high'],
    [['critical', 'high', 'high', 'warning'], 74.13, 'high'],
    [['critical', 'critical', 'high'], 81.25, 'critical'],
  ])('of %j is %d, %s', (severities, score, level) => expect(rateRisk(severities.map(finding))).toEqual({ score, level }));

  test('grows with every finding and stays from 0 to 100', () => {
    const severities = fc.array(fc.constantFrom<Finding['severity']>('critical', 'high', 'warning'), { maxLength: 40 });
    fc.assert(
      fc.property(severities, (given) => {
        const scores = given.map((_each, index) => rateRisk(given.slice(0, index + 1).map(finding)).score);
        expect(scores).toEqual([...scores].sort((a, b) => a - b));
        expect(scores.every((score) => score > 0 && score <= 100)).toBe(true);
      }),
    );
  });
});
