import { type Finding, type PermissionFacts, type Severity } from '../report';

interface SensitiveGroup {
  readonly id: string;
  readonly severity: Severity;
  readonly what: string;
  readonly names: readonly string[];
}

const PREFIX = 'android.permission.';

/**
 * Permissions that Google Play lets an app have only after a declaration of its own ("Permissions and APIs that Access Sensitive Information",
 * support.google.com/googleplay/android-developer/answer/9888170): reading messages and calls and following somebody weigh as high, the others
 * as warnings.
 */
const SENSITIVE: readonly SensitiveGroup[] = [
  {
    id: 'permission_sms',
    severity: 'high',
    what: 'read or send text messages',
    names: ['READ_SMS', 'RECEIVE_SMS', 'SEND_SMS', 'RECEIVE_MMS', 'RECEIVE_WAP_PUSH'],
  },
  {
    id: 'permission_call_log',
    severity: 'high',
    what: 'read or change the list of calls',
    names: ['READ_CALL_LOG', 'WRITE_CALL_LOG', 'PROCESS_OUTGOING_CALLS'],
  },
  {
    id: 'permission_background_location',
    severity: 'high',
    what: 'follow the location while it is not in use',
    names: ['ACCESS_BACKGROUND_LOCATION'],
  },
  { id: 'permission_all_files', severity: 'warning', what: 'read and change all files', names: ['MANAGE_EXTERNAL_STORAGE'] },
  { id: 'permission_install_packages', severity: 'warning', what: 'ask to install other apps', names: ['REQUEST_INSTALL_PACKAGES'] },
  { id: 'permission_overlay', severity: 'warning', what: 'draw over other apps', names: ['SYSTEM_ALERT_WINDOW'] },
  { id: 'permission_all_packages', severity: 'warning', what: 'list all installed apps', names: ['QUERY_ALL_PACKAGES'] },
];

const GROUPED = new Set(SENSITIVE.flatMap(({ names }) => names.map((name) => PREFIX + name)));

/** What an app asks for. All other dangerous permissions are one finding: how many there are says little about what is done with them. */
export function permissionFindings(permissions: readonly PermissionFacts[]): Finding[] {
  const asked = permissions.filter((each) => each.requested).map(({ name }) => name);
  const found = SENSITIVE.flatMap(({ id, severity, what, names }): Finding[] => {
    const held = names.filter((name) => asked.includes(PREFIX + name));
    return held.length === 0 ? [] : [{ id, severity, title: `The app may ${what}: ${held.join(', ')}`, section: 'permissions' }];
  });
  const others = permissions.filter((each) => each.requested && each.protection === 'dangerous' && !GROUPED.has(each.name));
  if (others.length === 0) return found;
  const shown = others.slice(0, 5).map(({ name }) => name.replace(PREFIX, ''));
  const more = others.length > shown.length ? ` and ${others.length - shown.length} more` : '';
  const title = `The app asks for dangerous permissions: ${shown.join(', ')}${more}`;
  return [...found, { id: 'permissions_dangerous', severity: 'warning', title, section: 'permissions' }];
}
