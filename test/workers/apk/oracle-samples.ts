import { type ApkBuilder, RELEASE_KEY, DSA_KEY, EC_KEY, type KeySpec, SHA1_KEY, STORE_PASSWORD } from '../../support/apk/apk-builder';
import { manifestOf, appOfManyStrings, FULL_APP } from '../../support/apk/apk-samples';
import { runTool } from '../../support/apk/apk-tools';
import { runsEveryScene } from '../../support/scenes';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const OPEN_APP = manifestOf({
  minSdk: 16,
  targetSdk: 27,
  label: 'मेरा ऐप',
  application: 'android:debuggable="false" android:allowBackup="true" android:usesCleartextTraffic="true" android:testOnly="true"',
  components: `
    <service android:name=".Sync" android:exported="true">
      <intent-filter><action android:name="a.ONE" /><category android:name="c.ONE" /></intent-filter>
      <intent-filter>
        <action android:name="a.TWO" />
        <data android:scheme="content" android:mimeType="text/plain" />
        <data android:scheme="https" android:host="example.in" android:port="8443" android:pathPattern="/a.*" />
      </intent-filter>
    </service>`,
  outside: `
    <permission android:name="p.NORMAL" android:protectionLevel="normal" />
    <permission android:name="p.DANGEROUS" android:protectionLevel="dangerous" />
    <permission android:name="p.SILENT" />`,
});
const CLOSED_APP = manifestOf({
  application: 'android:debuggable="true" android:allowBackup="false" android:usesCleartextTraffic="false"',
});

/** What is seldom written and allowed: references, names without dots, a version above 2^31, no target, languages with three letters. */
const ODD_MANIFEST = `<?xml version="1.0" encoding="utf-8"?>
<manifest xmlns:android="http://schemas.android.com/apk/res/android" package="com.example.odd"
    android:versionCode="-2147483646" android:versionName="@string/version">
  <uses-sdk android:minSdkVersion="24" android:maxSdkVersion="35" />
  <permission android:name="com.example.odd.SYSTEM" android:protectionLevel="signature|privileged" />
  <permission android:name="com.example.odd.USER" android:protectionLevel="dangerous|instant" />
  <uses-permission android:name="PLAIN" />
  <application android:label="@string/outer" android:allowBackup="@bool/no">
    <activity android:name="Disabled" android:enabled="false">
      <intent-filter>
        <action android:name="android.intent.action.MAIN" /><category android:name="android.intent.category.LAUNCHER" />
      </intent-filter>
    </activity>
    <activity-alias android:name="Start" android:targetActivity="Disabled" android:exported="@bool/yes">
      <intent-filter>
        <action android:name="android.intent.action.MAIN" /><category android:name="android.intent.category.LAUNCHER" />
        <data android:scheme="@string/scheme" android:host="@string/host" />
      </intent-filter>
    </activity-alias>
    <provider android:name="Data" android:authorities="a;b" android:exported="@bool/no">
      <intent-filter><action android:name="a.DATA" /></intent-filter>
    </provider>
    <receiver android:name="org.other.Outer$Inner" android:exported="false" />
  </application>
</manifest>`;
const ODD_STRINGS = {
  version: '9.8 – β',
  outer: '@string/inner',
  inner: 'Odd &amp; even',
  scheme: 'upi',
  host: 'pay',
};
const stringsOf = (strings: Readonly<Record<string, string>>): string =>
  `<resources>${Object.entries(strings)
    .map(([name, text]) => `<string name="${name}">${text}</string>`)
    .join('')}</resources>`;
const ODD_RESOURCES = {
  'values/strings.xml': stringsOf(ODD_STRINGS),
  'values/bools.xml': '<resources><bool name="yes">true</bool><bool name="no">false</bool></resources>',
  'values-hi-rIN/strings.xml': stringsOf({ outer: 'अजीब ऐप' }),
  'values-kok/strings.xml': stringsOf({ outer: 'विचित्र' }),
  'values-b+es+419/strings.xml': stringsOf({ outer: 'Rara' }),
};

/**
 * Builds apps that other readers of APKs are asked about; returns their paths by what they are. `npm test` has one of each kind,
 * `test:all` also further keys, schemes and encodings.
 */
export async function buildOracleSamples(builder: ApkBuilder): Promise<Record<string, string>> {
  const unsigned = await builder.build('full', FULL_APP);
  const { smali: _assembled, files, ...app } = FULL_APP;
  const dex = await builder.extract(unsigned, 'classes.dex');
  const several = { ...app, files: { ...files, 'classes.dex': dex, 'classes2.dex': dex } };
  const strings = { 'values/strings.xml': '<resources><string name="x">x</string></resources>' };
  const odd = { manifest: ODD_MANIFEST, resources: ODD_RESOURCES };
  const sign = (name: string, key: KeySpec, [v1, v2, v3]: [boolean, boolean, boolean], more: string[] = []) =>
    builder.sign(unsigned, name, { key, v1, v2, v3, more });
  const all = await sign('all', RELEASE_KEY, [true, true, true]);
  const one = {
    unsigned,
    open: await builder.build('open', { manifest: OPEN_APP, resources: strings }),
    odd: await builder.build('odd', odd),
    closed: await builder.build('closed', { manifest: CLOSED_APP }),
    'two dex files': await builder.build('two-dex', several),
    'sparse, by aapt2': await builder.buildWithAapt2('sparse', appOfManyStrings(26), ['--enable-sparse-encoding']),
    'signed with v1 to v3': all,
    'signed by two': await signByTwo(builder, unsigned),
    tampered: await tamper(all, join(builder.folder, 'tampered.apk')),
  };
  if (!runsEveryScene) return one;
  return {
    ...one,
    'odd, by aapt2': await builder.buildWithAapt2('odd-by-aapt2', odd),
    'by aapt2': await builder.buildWithAapt2('by-aapt2', appOfManyStrings(21)),
    'signed with v1': await sign('v1', RELEASE_KEY, [true, false, false]),
    'signed with v2': await sign('v2', SHA1_KEY, [false, true, false], ['--min-sdk-version', '24']),
    'signed with v3': await sign('v3', EC_KEY, [false, false, true], ['--min-sdk-version', '28']),
    'signed with v1 to v3, DSA': await sign('dsa', DSA_KEY, [true, true, true]),
    'signed with v2 and v3 and a file system digest (verity)': await sign(
      'verity',
      RELEASE_KEY,
      [false, true, true],
      ['--min-sdk-version', '24', '--verity-enabled', 'true'],
    ),
    'signed with v1 to v3 and RSA of 4096 bits, which takes SHA-512': await sign(
      'large',
      { ...RELEASE_KEY, name: 'rsa-4096', bits: 4096 },
      [true, true, true],
    ),
  };
}

async function signByTwo(builder: ApkBuilder, unsigned: string): Promise<string> {
  const [first, second] = [await builder.keyStore(RELEASE_KEY), await builder.keyStore(EC_KEY)];
  const apk = join(builder.folder, 'two.apk');
  const signer = (store: string, alias: string) => ['--ks', store, '--ks-pass', `pass:${STORE_PASSWORD}`, '--ks-key-alias', alias];
  const signers = [...signer(first, 'release'), '--next-signer', ...signer(second, 'ec')];
  const schemes = ['--v3-signing-enabled', 'false', '--v4-signing-enabled', 'false'];
  await runTool('apksigner', ['sign', ...signers, ...schemes, '--out', apk, unsigned]);
  return apk;
}

/** A copy of which one byte of a signed file is another. */
async function tamper(apk: string, path: string): Promise<string> {
  const bytes = await readFile(apk);
  const at = bytes.indexOf('assets/config.json') + 'assets/config.json'.length + 8;
  bytes.writeUInt8(bytes.readUInt8(at) ^ 0xff, at);
  await writeFile(path, bytes);
  return path;
}
