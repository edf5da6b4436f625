import { type ApkSpec } from './apk-builder';

const ANDROID = 'xmlns:android="http://schemas.android.com/apk/res/android"';

export interface ManifestOptions {
  readonly minSdk?: number;
  readonly targetSdk?: number;
  /** Attributes of the application element. */
  readonly application?: string;
  /** Elements inside of the application besides the launcher activity. */
  readonly components?: string;
  /** Elements beside the application. */
  readonly outside?: string;
  readonly label?: string;
  /** False for an app without a launcher activity. */
  readonly hasLauncher?: boolean;
}

const LAUNCHER = `<activity android:name=".Main" android:exported="true">
      <intent-filter>
        <action android:name="android.intent.action.MAIN" />
        <category android:name="android.intent.category.LAUNCHER" />
      </intent-filter>
    </activity>`;

/** The manifest of an app, with one launcher activity unless told otherwise. */
export function manifestOf({
  minSdk = 21,
  targetSdk = 34,
  application = '',
  components = '',
  outside = '',
  label = 'Sample',
  hasLauncher = true,
}: ManifestOptions = {}): string {
  return `<?xml version="1.0" encoding="utf-8"?>
<manifest ${ANDROID} package="com.example.sample" android:versionCode="42" android:versionName="1.2.3">
  <uses-sdk android:minSdkVersion="${minSdk}" android:targetSdkVersion="${targetSdk}" />
  ${outside}
  <application android:label="${label}" ${application}>
    ${hasLauncher ? LAUNCHER : ''}
    ${components}
  </application>
</manifest>`;
}

/** An app with nothing to complain about once it is signed. */
export const CLEAN_APP: ApkSpec = { manifest: manifestOf({ application: 'android:allowBackup="false"' }) };

/** Not credentials: made of one letter each, in the form of real ones. */
export const FAKE_SECRETS = { google: `AIza${'S'.repeat(35)}`, aws: `AKIA${'Q'.repeat(16)}` };

export function smaliClass(name: string, strings: readonly string[] = []): string {
  const body = strings.map((text) => `    const-string v0, "${text}"`).join('\n');
  return `.class public L${name};
.super Ljava/lang/Object;

.method public static run()V
    .registers 1
${body}
    return-void
.end method
`;
}

const COMPONENTS = `
<activity android:name="com.example.other.Open" android:exported="true" />
<activity android:name=".Closed" android:exported="false"><intent-filter><action android:name="a.b.C" /></intent-filter></activity>
<activity android:name="ByFilter">
  <intent-filter>
    <action android:name="android.intent.action.VIEW" />
    <category android:name="android.intent.category.BROWSABLE" />
    <data android:scheme="https" android:host="example.com" android:pathPrefix="/open" />
  </intent-filter>
</activity>
<activity-alias android:name=".Alias" android:targetActivity=".Main" android:exported="true" android:permission="com.example.sample.GUARD" />
<service android:name=".Guarded" android:exported="true" android:permission="com.example.sample.GUARD" />
<service android:name=".Quiet" />
<receiver android:name=".Boot" android:exported="@bool/open"><intent-filter><action android:name="android.intent.action.BOOT_COMPLETED" /></intent-filter></receiver>
<provider android:name=".Files" android:authorities="com.example.files" />
<provider android:name=".Shared" android:authorities="com.example.shared" android:exported="true" android:readPermission="com.example.sample.GUARD" />
<meta-data android:name="com.google.android.geo.API_KEY" android:value="${FAKE_SECRETS.google}" />`;

const OUTSIDE = `
<permission android:name="com.example.sample.GUARD" android:protectionLevel="signature" />
<uses-permission android:name="android.permission.CAMERA" />
<uses-permission android:name="android.permission.INTERNET" />
<uses-permission android:name="android.permission.POST_NOTIFICATIONS" />
<uses-permission android:name="android.permission.SYSTEM_ALERT_WINDOW" />
<uses-permission android:name="android.permission.WRITE_EXTERNAL_STORAGE" android:maxSdkVersion="28" />
<uses-permission-sdk-23 android:name="android.permission.READ_CONTACTS" />
<uses-permission android:name="com.example.sample.GUARD" />
<uses-permission android:name="org.other.UNKNOWN" />`;

const NETWORK_CONFIG = `<?xml version="1.0" encoding="utf-8"?>
<network-security-config>
  <base-config cleartextTrafficPermitted="false">
    <trust-anchors><certificates src="system" /><certificates src="user" /></trust-anchors>
  </base-config>
  <domain-config cleartextTrafficPermitted="true">
    <domain includeSubdomains="true">legacy.example.com</domain>
    <pin-set expiration="2030-01-01"><pin digest="SHA-256">AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=</pin></pin-set>
  </domain-config>
  <debug-overrides><trust-anchors><certificates src="user" /></trust-anchors></debug-overrides>
</network-security-config>`;

/** An app that has something of everything. */
export const FULL_APP: ApkSpec = {
  manifest: manifestOf({
    targetSdk: 33,
    label: '@string/app_name',
    application: 'android:networkSecurityConfig="@xml/network" android:debuggable="@bool/open"',
    components: COMPONENTS,
    outside: OUTSIDE,
  }),
  resources: {
    'values/strings.xml':
      '<resources><string name="app_name">Sample app</string><string name="api">https://api.example.com/v1</string></resources>',
    'values-hi/strings.xml': '<resources><string name="app_name">नमूना ऐप</string></resources>',
    'values-pt-rBR/strings.xml': '<resources><string name="app_name">Aplicativo</string></resources>',
    'values/bools.xml': '<resources><bool name="open">true</bool></resources>',
    'xml/network.xml': NETWORK_CONFIG,
  },
  files: {
    'assets/config.json': JSON.stringify({ key: FAKE_SECRETS.aws, url: 'http://user:pass@plain.example.com/a?key=' + FAKE_SECRETS.google }),
    'lib/arm64-v8a/libsample.so': Buffer.from('\x7fELF sample'),
    'lib/armeabi-v7a/libsample.so': Buffer.from('\x7fELF sample'),
    'lib/x86_64/libsample.so': Buffer.from('\x7fELF sample'),
  },
  smali: [
    smaliClass('com/example/sample/Main', ['https://backend.example.org/path?x=1', 'हिन्दी']),
    smaliClass('com/google/firebase/analytics/FirebaseAnalytics'),
    smaliClass('com/facebook/ads/internal/Thing'),
  ],
};

/** The same with 200 strings more, of which few are translated: what aapt2 encodes as sparse when it is asked to, from API 26 on. */
export function appOfManyStrings(minSdk: number): ApkSpec {
  const many = Array.from({ length: 200 }, (_each, index) => `<string name="text_${index}">${index}</string>`).join('');
  const strings = FULL_APP.resources?.['values/strings.xml']?.replace('</resources>', `${many}</resources>`) ?? '';
  return {
    manifest: FULL_APP.manifest.replace('minSdkVersion="21"', `minSdkVersion="${minSdk}"`),
    resources: { ...FULL_APP.resources, 'values/strings.xml': strings },
  };
}
