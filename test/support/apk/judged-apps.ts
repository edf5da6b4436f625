import { FAKE_SECRETS, type ManifestOptions } from './apk-samples';

/** An app of a known kind, with what a reviewer expects of both scores. The expectations were written before the weights. */
export interface JudgedApp {
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

export const JUDGED_APPS: readonly JudgedApp[] = [...HARMLESS, ...BADLY_BUILT, ...DANGEROUS, ...POWERFUL];
