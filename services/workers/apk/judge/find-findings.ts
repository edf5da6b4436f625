import { startsApp } from '../manifest/read-components';
import { type Certificate, hasWeakDigest } from '../signing/certificate';
import { publicTestKey } from '../signing/public-keys';
import type {
  AppForm,
  ComponentFacts,
  ComponentKind,
  ComponentsFacts,
  AppFinding,
  FlagFacts,
  NetworkSecurityFacts,
  PermissionFacts,
  SecretFacts,
  Severity,
  SigningFacts,
} from '../report';
import { SECRET_RULES } from '../scan/secret-rules';

export interface JudgedFacts {
  readonly form: AppForm;
  /** False when a split is not signed by the base's signer. */
  readonly isSignedAlike: boolean;
  readonly flags: FlagFacts;
  readonly components: ComponentsFacts;
  readonly network: NetworkSecurityFacts;
  readonly signing: SigningFacts;
  readonly signers: readonly Pick<Certificate, 'facts'>[];
  readonly permissions: readonly PermissionFacts[];
  readonly secrets: readonly SecretFacts[];
}

const ORDER: readonly Severity[] = ['critical', 'high', 'warning'];

/** Finds what is wrong with the app, worst first. */
export function findFindings(facts: JudgedFacts): AppFinding[] {
  const findings = [
    ...signingFindings(facts),
    ...flagFindings(facts.flags),
    ...networkFindings(facts.network),
    ...permissionFindings(facts.permissions),
    ...secretFindings(facts.secrets),
    ...backupFindings(facts.flags),
    ...exportFindings(facts.components),
  ];
  return findings.sort((a, b) => ORDER.indexOf(a.severity) - ORDER.indexOf(b.severity));
}

function signingFindings({ form, signing, signers, isSignedAlike }: JudgedFacts): AppFinding[] {
  const schemes = [signing.v1, signing.v2, signing.v3, signing.v31];
  const findings: AppFinding[] = [];
  const what = form === 'aab' ? 'The bundle' : 'The app';
  const add = (id: string, severity: AppFinding['severity'], title: string): void =>
    void findings.push({ id, severity, title, section: 'signing' });
  if (!schemes.some((each) => each.present)) add('unsigned', 'critical', `${what} is not signed`);
  if (schemes.some((each) => each.present && !each.verified))
    add('signature_invalid', 'critical', `A signature of ${form === 'aab' ? 'the bundle' : 'the app'} does not verify`);
  if (!isSignedAlike)
    add(
      'split_signature',
      'critical',
      "A split is not signed by the base's signer, or its signature does not verify: Android refuses the set",
    );
  // A bundle is never installed, so it has no other scheme. The store signs the APKs.
  if (form !== 'aab' && signing.v1.present && !schemes.slice(1).some((each) => each.present)) {
    add('v1_only', 'high', 'The app is signed with the JAR scheme (v1) only, which does not protect the whole file');
  }
  const testKey = signers.map(({ facts }) => publicTestKey(facts.sha256)).find((name) => name !== undefined);
  if (testKey !== undefined)
    add('debug_certificate', 'high', `${what} is signed with a key that everybody has: ${testKey} of Android's source`);
  else if (signers.some(({ facts }) => facts.debug)) add('debug_certificate', 'high', `${what} is signed with a debug certificate`);
  if (signers.some(({ facts }) => hasWeakDigest(facts))) add('weak_certificate', 'high', "The signer's certificate uses SHA-1 or MD5");
  return findings;
}

function flagFindings(flags: FlagFacts): AppFinding[] {
  const section = 'flags';
  return [
    ...(flags.debuggable ? [{ id: 'debuggable', severity: 'high', title: 'The app is debuggable', section } as const] : []),
    ...(flags.test_only ? [{ id: 'test_only', severity: 'high', title: 'The app is meant for tests only', section } as const] : []),
  ];
}

function networkFindings(network: NetworkSecurityFacts): AppFinding[] {
  const section = 'network_security';
  const trustsUser = network.base_config?.trust_anchors?.includes('user') === true;
  return [
    ...(network.cleartext_permitted
      ? [{ id: 'cleartext_traffic', severity: 'high', title: 'The app permits cleartext traffic', section } as const]
      : []),
    ...(trustsUser
      ? [
          {
            id: 'user_certificates_trusted',
            severity: 'high',
            title: 'The app trusts certificates that the user installed',
            section,
          } as const,
        ]
      : []),
  ];
}

function backupFindings(flags: FlagFacts): AppFinding[] {
  if (!flags.allow_backup) return [];
  return [{ id: 'allow_backup', severity: 'warning', title: "The app's data may be backed up", section: 'flags' }];
}

const KINDS: Readonly<Record<ComponentKind, string>> = {
  activities: 'activity',
  services: 'service',
  receivers: 'receiver',
  providers: 'provider',
};

/** Makes one finding for each kind of component, so that an app with many deep links does not look worse than one without a signature. */
function exportFindings(components: ComponentsFacts): AppFinding[] {
  return (Object.keys(KINDS) as ComponentKind[]).flatMap((kind): AppFinding[] => {
    const open = components[kind].filter(isOpen);
    if (open.length === 0) return [];
    const names = open.slice(0, 3).map((each) => each.name);
    const more = open.length > names.length ? ` and ${open.length - names.length} more` : '';
    const title = `Exported without a permission: ${KINDS[kind]} ${names.join(', ')}${more}`;
    return [{ id: `exported_${KINDS[kind]}`, severity: 'warning', title, section: 'components' }];
  });
}

/** The launcher's entry has to be exported. */
function isOpen(component: ComponentFacts): boolean {
  return component.exported && component.permission === null && !component.intent_filters.some(startsApp);
}

/** One finding for each kind of secret, because anyone who has the app can read them all. */
function secretFindings(secrets: readonly SecretFacts[]): AppFinding[] {
  return SECRET_RULES.flatMap(({ id, severity }): AppFinding[] => {
    const found = secrets.filter(({ rule }) => rule === id);
    const [first] = found;
    if (!first) return [];
    const more = found.length > 1 ? ` and ${found.length - 1} more` : '';
    return [{ id: `secret_${id}`, severity, title: `The app holds a secret (${id}) in ${first.file}${more}`, section: 'secrets' }];
  });
}

interface SensitiveGroup {
  readonly id: string;
  readonly severity: Severity;
  readonly what: string;
  readonly names: readonly string[];
}

const PREFIX = 'android.permission.';

/**
 * Permissions that Google Play allows only after a declaration ("Permissions and APIs that Access Sensitive Information",
 * support.google.com/googleplay/android-developer/answer/9888170). Reading messages and calls and tracking somebody's location weigh as
 * high, the others as warnings.
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

/** Findings about the app's permissions. All other dangerous permissions are one finding: their number says little about their use. */
function permissionFindings(permissions: readonly PermissionFacts[]): AppFinding[] {
  const asked = permissions.filter((each) => each.requested).map(({ name }) => name);
  const found = SENSITIVE.flatMap(({ id, severity, what, names }): AppFinding[] => {
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
