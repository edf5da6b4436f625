import { type Row, type Rule, rowsOf } from './rule';
import {
  asksFor,
  asksForDangerous,
  boundBy,
  either,
  filtersFor,
  fullPermissionName,
  inCode,
  ONLINE,
  together,
  unless,
  when,
  type Sight,
} from './sight';

const POWERFUL_CODE: readonly Row[] = [
  {
    id: 'code_packed',
    weight: 0.15,
    title: 'Its code is packed',
    allows: 'The real code appears only when the app runs, so it was not analysed.',
    seenIn: inCode('packed'),
  },
  {
    id: 'code_loads_code',
    weight: 0.06,
    title: 'Loads more code while it runs',
    allows: 'The app can do things that are not in the file.',
    seenIn: inCode('loads_code'),
  },
  {
    id: 'code_runs_commands',
    weight: 0.03,
    title: 'Runs commands of the system',
    allows: 'The app can start other programs, and use root if the device allows it.',
    seenIn: inCode('runs_commands'),
  },
  {
    // The weight is low because most apps in stores are obfuscated.
    id: 'code_obfuscated',
    weight: 0.02,
    title: 'The names in its code are meaningless',
    allows: 'It is harder to see what the code does, also for this analysis.',
    seenIn: inCode('obfuscated'),
  },
];

/** Permissions that count by themselves: id, weight, what the app may do with them, names. */
type PermissionRow = readonly [id: string, weight: number, what: string, names: readonly string[]];

const MESSAGES = ['READ_SMS', 'RECEIVE_SMS', 'RECEIVE_MMS', 'RECEIVE_WAP_PUSH'];
const CALL_LOG = ['READ_CALL_LOG', 'WRITE_CALL_LOG', 'PROCESS_OUTGOING_CALLS'];
const LOCATION = ['ACCESS_FINE_LOCATION', 'ACCESS_COARSE_LOCATION'];
const CONTACTS = ['READ_CONTACTS', 'WRITE_CONTACTS', 'GET_ACCOUNTS'];
const INSTALL = ['REQUEST_INSTALL_PACKAGES', 'INSTALL_PACKAGES'];
const STORAGE = ['READ_EXTERNAL_STORAGE', 'WRITE_EXTERNAL_STORAGE'];
const MEDIA = ['READ_MEDIA_AUDIO', 'READ_MEDIA_IMAGES', 'READ_MEDIA_VIDEO', 'READ_MEDIA_VISUAL_USER_SELECTED', 'ACCESS_MEDIA_LOCATION'];
const NEARBY = ['BLUETOOTH_ADVERTISE', 'BLUETOOTH_CONNECT', 'BLUETOOTH_SCAN', 'NEARBY_WIFI_DEVICES', 'RANGING', 'UWB_RANGING'];
const GAZE = ['EYE_TRACKING_COARSE', 'EYE_TRACKING_FINE', 'FACE_TRACKING', 'HAND_TRACKING', 'HEAD_TRACKING'];

/**
 * Permissions that Google Play allows only after a declaration ("Permissions and APIs that Access Sensitive Information",
 * support.google.com/googleplay/android-developer/answer/9888170) weigh most. An ordinary app has a few of the others.
 */
const PERMISSIONS: readonly PermissionRow[] = [
  ['permission_sms', 0.25, 'read text messages, one-time codes among them', MESSAGES],
  ['permission_send_sms', 0.2, 'send text messages, which may cost money', ['SEND_SMS']],
  ['permission_call_log', 0.25, 'read or change the list of calls', CALL_LOG],
  ['permission_background_location', 0.25, 'follow the location while it is not in use', ['ACCESS_BACKGROUND_LOCATION']],
  ['permission_install_packages', 0.15, 'install other apps, or ask the user to', INSTALL],
  ['permission_overlay', 0.12, 'draw over other apps, and so imitate or cover them', ['SYSTEM_ALERT_WINDOW']],
  ['permission_all_files', 0.1, 'read and change all files of the user', ['MANAGE_EXTERNAL_STORAGE']],
  ['permission_secure_settings', 0.1, 'change protected settings of the device', ['WRITE_SECURE_SETTINGS']],
  ['permission_usage', 0.08, 'see which apps are used, and when', ['PACKAGE_USAGE_STATS']],
  [
    'permission_calls',
    0.08,
    'make, answer and hand over calls, which may cost money',
    ['CALL_PHONE', 'ANSWER_PHONE_CALLS', 'ACCEPT_HANDOVER', 'USE_SIP', 'com.android.voicemail.permission.ADD_VOICEMAIL'],
  ],
  ['permission_microphone', 0.07, 'record sound', ['RECORD_AUDIO']],
  ['permission_all_packages', 0.06, 'list all installed apps', ['QUERY_ALL_PACKAGES']],
  ['permission_camera', 0.06, 'take pictures and videos', ['CAMERA']],
  ['permission_location', 0.06, 'know the location while it is in use', LOCATION],
  ['permission_contacts', 0.06, 'read or change the contacts and accounts', CONTACTS],
  ['permission_battery', 0.05, 'ask to keep running while the device saves power', ['REQUEST_IGNORE_BATTERY_OPTIMIZATIONS']],
  ['permission_delete_packages', 0.05, 'ask to remove other apps', ['REQUEST_DELETE_PACKAGES', 'DELETE_PACKAGES']],
  ['permission_settings', 0.05, 'change settings of the device', ['WRITE_SETTINGS']],
  [
    'permission_body',
    0.05,
    'measure the body, its movements and its gaze',
    ['BODY_SENSORS', 'BODY_SENSORS_BACKGROUND', 'ACTIVITY_RECOGNITION', ...GAZE],
  ],
  ['permission_storage', 0.04, 'read or change shared files, pictures and sound', [...STORAGE, ...MEDIA]],
  ['permission_calendar', 0.04, 'read or change the calendar', ['READ_CALENDAR', 'WRITE_CALENDAR']],
  ['permission_full_screen', 0.04, 'fill the screen while another app is in use', ['USE_FULL_SCREEN_INTENT']],
  [
    'permission_phone',
    0.03,
    'read the telephone number, the network and whether there is a call',
    ['READ_PHONE_STATE', 'READ_PHONE_NUMBERS', 'READ_CELL_BROADCASTS'],
  ],
  ['permission_nearby', 0.02, 'find and connect to devices nearby', NEARBY],
  ['permission_surroundings', 0.02, 'map the room', ['SCENE_UNDERSTANDING_COARSE', 'SCENE_UNDERSTANDING_FINE']],
  ['permission_notifications', 0.01, 'show notifications', ['POST_NOTIFICATIONS']],
];

const NAMED = new Set(PERMISSIONS.flatMap(([, , , names]) => names.map(fullPermissionName)));

const PERMISSION_ROWS: readonly Row[] = [
  ...PERMISSIONS.map(([id, weight, what, names]) => ({
    id,
    weight,
    title: `Asks to ${what}`,
    allows: `The app can ${what}, once it is granted.`,
    seenIn: asksFor(...names),
  })),
  {
    id: 'permissions_dangerous',
    weight: 0.05,
    title: 'Asks for other dangerous permissions',
    allows: 'The app can use what these protect, once they are granted.',
    seenIn: asksForDangerous((name) => !NAMED.has(name)),
  },
];

const ACCESSIBILITY = boundBy('services', 'BIND_ACCESSIBILITY_SERVICE');
const NOTIFICATIONS = boundBy('services', 'BIND_NOTIFICATION_LISTENER_SERVICE');
const DEVICE_ADMIN = boundBy('receivers', 'BIND_DEVICE_ADMIN');
const INPUT_METHOD = boundBy('services', 'BIND_INPUT_METHOD');
const HOME = filtersFor('activities', 'android.intent.category.HOME');
const SMS_ROLE = filtersFor('receivers', 'android.provider.Telephony.SMS_DELIVER', 'android.provider.Telephony.WAP_PUSH_DELIVER');
const BOOT = either(
  asksFor('RECEIVE_BOOT_COMPLETED'),
  filtersFor('receivers', 'android.intent.action.BOOT_COMPLETED', 'android.intent.action.LOCKED_BOOT_COMPLETED'),
);
/** An app without components, for example with resources alone, has nothing to launch. */
const NO_LAUNCHER = when(
  'no enabled activity with the action MAIN and the category LAUNCHER',
  ({ package: app, components }) => app.main_activity === null && Object.values(components).some((list) => list.length > 0),
);

const PARTS: readonly Row[] = [
  {
    id: 'accessibility_service',
    weight: 0.3,
    title: 'Has an accessibility service',
    allows: 'Once the user enables it, the app can read the screen of every app, and type and tap in their place.',
    seenIn: ACCESSIBILITY,
  },
  {
    id: 'notification_listener',
    weight: 0.3,
    title: 'Has a notification listener',
    allows: 'Once the user enables it, the app can read and dismiss every notification, one-time codes and messages among them.',
    seenIn: NOTIFICATIONS,
  },
  {
    id: 'vpn_service',
    weight: 0.3,
    title: 'Has a VPN service',
    allows: 'Once the user agrees, all network traffic of the device passes through the app.',
    seenIn: boundBy('services', 'BIND_VPN_SERVICE'),
  },
  {
    id: 'input_method',
    weight: 0.3,
    title: 'Has a keyboard',
    allows: 'Once the user chooses it, the app can read everything that is typed, passwords too.',
    seenIn: INPUT_METHOD,
  },
  {
    id: 'device_admin',
    weight: 0.25,
    title: 'Has a device administrator',
    allows: 'Once the user enables it, the app can lock or erase the device, and cannot be uninstalled before it is disabled.',
    seenIn: DEVICE_ADMIN,
  },
  {
    id: 'autofill_service',
    weight: 0.2,
    title: 'Has an autofill service',
    allows: 'Once the user chooses it, the app can see the forms of other apps and the passwords in them.',
    seenIn: boundBy('services', 'BIND_AUTOFILL_SERVICE'),
  },
  {
    id: 'call_service',
    weight: 0.2,
    title: 'Has a service for calls',
    allows: 'Once the user chooses it, the app can see, block or redirect calls.',
    seenIn: boundBy('services', 'BIND_CALL_REDIRECTION_SERVICE', 'BIND_SCREENING_SERVICE', 'BIND_INCALL_SERVICE'),
  },
  {
    id: 'role_sms',
    weight: 0.15,
    title: 'Can become the app for text messages',
    allows: 'Once the user chooses it, the app receives every text message first, and can read, send and hide them.',
    seenIn: SMS_ROLE,
  },
  {
    id: 'role_calls',
    weight: 0.1,
    title: 'Can become the app for calls',
    allows: 'Once the user chooses it, the app makes the calls and keeps their list.',
    seenIn: together(filtersFor('activities', 'android.intent.action.DIAL'), boundBy('services', 'BIND_INCALL_SERVICE')),
  },
  {
    id: 'role_home',
    weight: 0.1,
    title: 'Can become the home screen',
    allows: 'Once the user chooses it, the app is shown instead of the home screen, and can keep the user from other apps.',
    seenIn: HOME,
  },
  {
    id: 'no_launcher',
    weight: 0.15,
    title: 'Has no icon in the launcher',
    allows: 'The user has no icon that shows the app or opens it.',
    seenIn: NO_LAUNCHER,
  },
  {
    id: 'starts_at_boot',
    weight: 0.03,
    title: 'Starts with the device',
    allows: 'The app runs without being opened.',
    seenIn: BOOT,
  },
];

const OVERLAY = asksFor('SYSTEM_ALERT_WINDOW');
const INTERCEPTING = asksFor('READ_SMS', 'RECEIVE_SMS');
const SENDING = asksFor('SEND_SMS');
const POWER = either(ACCESSIBILITY, NOTIFICATIONS, DEVICE_ADMIN);
const OBSERVING = asksFor('RECORD_AUDIO', 'CAMERA', ...LOCATION, ...CONTACTS, ...MESSAGES, ...CALL_LOG);
const ADVERTISING: Sight = ({ trackers }) =>
  trackers.filter(({ category }) => category === 'advertisement').map(({ name, matched }) => `code ${matched} (${name})`);

const COMBINATIONS: readonly Row[] = [
  {
    id: 'combination_surveillance',
    weight: 0.5,
    title: 'Powers over other apps, access to senses or personal data, and a start with the device',
    allows: 'The app can watch the user all the time. Stalkerware has these together.',
    seenIn: together(POWER, OBSERVING, BOOT),
  },
  {
    id: 'combination_hidden_sms',
    weight: 0.5,
    title: 'Text messages, and no icon in the launcher',
    allows: 'The app can read or send text messages without being noticed. Fraud with premium numbers and with one-time codes needs that.',
    seenIn: together(either(INTERCEPTING, SENDING), NO_LAUNCHER),
  },
  {
    id: 'combination_hidden_power',
    weight: 0.35,
    title: 'Powers over other apps or the device, and no icon in the launcher',
    allows: 'The app can use these powers without being noticed.',
    seenIn: together(POWER, NO_LAUNCHER),
  },
  {
    id: 'combination_overlay_accessibility',
    weight: 0.35,
    title: 'Draws over other apps, and has an accessibility service',
    allows: 'The app can show a false page over another app, and act in it. Banking trojans do so; some password managers need both too.',
    seenIn: together(OVERLAY, ACCESSIBILITY),
  },
  {
    id: 'combination_sms_fraud',
    weight: 0.35,
    title: 'Receives and sends text messages, and cannot be the app for text messages',
    allows: 'The app can subscribe to paid services, and confirm this by itself.',
    seenIn: unless(together(INTERCEPTING, SENDING), SMS_ROLE),
  },
  {
    id: 'combination_dropper',
    weight: 0.35,
    title: 'Installs apps, with help of an accessibility service, an overlay or a missing icon',
    allows: 'The app can install others without the user seeing or understanding the question.',
    seenIn: together(asksFor(...INSTALL), either(ACCESSIBILITY, OVERLAY, NO_LAUNCHER)),
  },
  {
    id: 'combination_lock',
    weight: 0.35,
    title: 'Administers the device, and can cover the screen',
    allows: 'The app can lock the user out. Extortion needs that.',
    seenIn: together(DEVICE_ADMIN, either(OVERLAY, HOME)),
  },
  {
    id: 'combination_ads_outside',
    weight: 0.25,
    title: 'Advertisements, and ways to show them outside of the app',
    allows: 'The app can show advertisements over other apps.',
    seenIn: together(ADVERTISING, either(OVERLAY, asksFor('USE_FULL_SCREEN_INTENT'))),
  },
  {
    id: 'combination_typing_sent',
    weight: 0.2,
    title: 'A keyboard with access to the internet',
    allows: 'The app can send away what is typed.',
    seenIn: together(INPUT_METHOD, ONLINE),
  },
];

/** What the app can do to its user. */
export const CAPABILITY_RULES: readonly Rule[] = [
  ...rowsOf('capability', 'components', COMBINATIONS),
  ...rowsOf('capability', 'components', PARTS),
  ...rowsOf('capability', 'permissions', PERMISSION_ROWS),
  ...rowsOf('capability', 'dex', POWERFUL_CODE),
];
