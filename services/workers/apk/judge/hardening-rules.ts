import { type ComponentKind, type SigningFacts } from '../report';
import { SECRET_RULES } from '../scan/secret-rules';
import { hasWeakDigest } from '../signing/certificate';
import { publicTestKey } from '../signing/public-keys';
import { type Row, type Rule, rowsOf } from './rule';
import { either, inCode, KINDS, ONLINE, openComponents, type Sight, together, when } from './sight';

/** A debug build has these together, by the defaults of Android's build tools. */
const DEVELOPMENT = 'development build';

const SCHEMES = ['v1', 'v2', 'v3', 'v31'] as const;
const isSigned = (signing: SigningFacts): boolean => SCHEMES.some((name) => signing[name].present);
const isWhollySigned = ({ v2, v3, v31 }: SigningFacts): boolean => [v2, v3, v31].some(({ present }) => present);

const SIGNING: readonly Row[] = [
  {
    id: 'unsigned',
    weight: 0.5,
    title: 'Not signed',
    allows: 'Nobody vouches for the file: anyone may have made or changed it.',
    seenIn: ({ form, signing }) =>
      isSigned(signing) ? [] : [form === 'aab' ? 'JAR signature of the bundle: none' : 'signatures v1 to v3.1: none'],
  },
  {
    id: 'signature_invalid',
    weight: 0.5,
    title: 'A signature does not verify',
    allows: 'The file may have been changed after it was signed.',
    seenIn: ({ signing }) =>
      SCHEMES.filter((name) => signing[name].present && !signing[name].verified).map((name) => `signature ${name}: ${signing[name].error}`),
  },
  {
    id: 'split_signature',
    weight: 0.5,
    title: "A split is not signed by the base's signer, or its signature does not verify",
    allows: 'A part may come from somebody else. Android refuses to install the set.',
    seenIn: when('signatures of the splits', ({ isSignedAlike }) => !isSignedAlike),
  },
  {
    id: 'v1_only',
    weight: 0.25,
    title: 'Signed with the JAR scheme (v1) only',
    allows: 'Somebody else may add to the file without breaking its signature: v1 does not protect all of it.',
    // A bundle is never installed, so it has no other scheme. The store signs the APKs.
    seenIn: when('signature v1', ({ form, signing }) => form !== 'aab' && signing.v1.present && !isWhollySigned(signing)),
  },
  {
    id: 'debug_certificate',
    weight: 0.25,
    cause: DEVELOPMENT,
    title: 'Signed with a debugging key, or with one that is public',
    allows: 'The certificate does not say who made the app. Anyone who has the key can publish an update.',
    seenIn: ({ signers }) =>
      signers
        .filter(({ facts }) => facts.debug)
        .map(({ facts }) => {
          const testKey = publicTestKey(facts.sha256);
          return testKey === undefined ? `certificate ${facts.subject}` : `certificate ${testKey} of Android's source`;
        }),
  },
  {
    id: 'weak_certificate',
    weight: 0.25,
    title: "The signer's certificate uses SHA-1 or MD5",
    allows: 'Somebody else may make a certificate that looks the same.',
    // A debug certificate does not identify its maker in any case.
    seenIn: ({ signers }) =>
      signers.filter(({ facts }) => hasWeakDigest(facts) && !facts.debug).map(({ facts }) => `certificate ${facts.subject}`),
  },
];

const FLAGS: readonly Row[] = [
  {
    id: 'debuggable',
    weight: 0.25,
    cause: DEVELOPMENT,
    title: 'Debuggable',
    allows: 'Anyone with the device in hand can read the data of the app and change what it does.',
    seenIn: when('application android:debuggable', ({ flags }) => flags.debuggable),
  },
  {
    id: 'test_only',
    weight: 0.25,
    cause: DEVELOPMENT,
    title: 'For tests only',
    allows: 'It may have functions and openings that no release has.',
    seenIn: when('application android:testOnly', ({ flags }) => flags.test_only),
  },
  {
    id: 'allow_backup',
    weight: 0.08,
    title: 'Its data may be backed up',
    allows: 'Anyone with a backup of the device can read the data of the app.',
    seenIn: when('application android:allowBackup', ({ flags }) => flags.allow_backup),
  },
];

const NETWORK: readonly Row[] = [
  {
    id: 'cleartext_traffic',
    weight: 0.25,
    title: 'Permits cleartext traffic',
    allows: 'Anyone on the same network can read and change what the app sends and receives without TLS.',
    seenIn: together(
      ({ network_security: { cleartext_permitted: isPermitted, config_file: file } }) =>
        isPermitted ? [file ?? 'application android:usesCleartextTraffic, or its default'] : [],
      ONLINE,
    ),
  },
  {
    id: 'user_certificates_trusted',
    weight: 0.25,
    title: 'Trusts certificates that the user installed',
    allows: 'Anyone who gets the user to install a certificate can read and change its TLS traffic.',
    seenIn: together(
      ({ network_security: { base_config: base, config_file: file } }) =>
        base?.trust_anchors?.includes('user') === true ? [file ?? 'network security configuration'] : [],
      ONLINE,
    ),
  },
];

const OPEN_WEIGHTS: Readonly<Record<ComponentKind, number>> = { providers: 0.12, services: 0.1, receivers: 0.06, activities: 0.04 };

/** They share one cause, so that an app with deep links does not score worse than an unsigned app. A provider exposes data directly. */
const EXPORTED: readonly Row[] = (Object.keys(KINDS) as ComponentKind[]).map((kind) => ({
  id: `exported_${KINDS[kind]}`,
  weight: OPEN_WEIGHTS[kind],
  cause: 'open parts',
  title: `Exported without a permission: ${kind}`,
  allows: 'Every other app on the device can use these parts.',
  seenIn: openComponents(kind),
}));

/** One rule for each kind of secret, because anyone who has the app can read them all. */
const SECRETS: readonly Row[] = SECRET_RULES.map(({ id, severity }) => ({
  id: `secret_${id}`,
  weight: severity === 'warning' ? 0.08 : 0.25,
  title: `Holds a secret (${id})`,
  allows: 'Anyone who has the app can read it and use it.',
  seenIn: ({ secrets }) => [...new Set(secrets.filter(({ rule }) => rule === id).map(({ file }) => file))],
}));

/**
 * Android 7 closes the data folder of an app that targets it and refuses these modes ("Permission changes", Android 7.0 behavior changes).
 */
const CLOSED_SINCE = 24;
const whereFilesCanBeShared =
  (sight: Sight): Sight =>
  (facts) => {
    const { min_sdk: oldest, target_sdk: target } = facts.package;
    return Math.min(oldest ?? 1, target ?? oldest ?? 1) < CLOSED_SINCE ? sight(facts) : [];
  };

const WEAK_CODE: readonly Row[] = [
  {
    id: 'code_trusts_everything',
    weight: 0.25,
    title: 'Accepts every certificate or host name',
    allows: 'Anyone on the same network can read and change its TLS traffic where this code is in use.',
    seenIn: inCode('trusts_everything'),
  },
  {
    id: 'code_tls_errors_ignored',
    weight: 0.25,
    title: 'May show a web page in spite of a wrong certificate',
    allows: 'Anyone on the same network can read and change pages that the app shows.',
    seenIn: inCode('tls_errors_ignored'),
  },
  {
    id: 'code_ecb',
    weight: 0.1,
    title: 'Encrypts in ECB mode',
    allows: 'Equal parts of a text stay equal when encrypted, so that patterns can be read.',
    seenIn: either(inCode('ecb'), inCode('ecb_by_default')),
  },
  {
    // The weight is that of ECB, because equal data stay visible. In GCM and CTR, two texts under one key and IV can be read outright.
    id: 'code_constant_iv',
    weight: 0.1,
    title: 'Encrypts with a constant initialisation vector',
    allows: 'Equal beginnings of texts stay equal when encrypted; in GCM and CTR, two encrypted texts reveal each other.',
    seenIn: inCode('constant_iv'),
  },
  {
    // The weight is that of an open provider, because the data are exposed directly.
    id: 'code_shared_files',
    weight: 0.12,
    title: 'Makes files that every app may read or change',
    allows: 'Every other app on a device with Android 6 or older, or on any device if the app targets that, can read or change them.',
    seenIn: whereFilesCanBeShared(inCode('shared_files')),
  },
  {
    id: 'code_javascript_interface',
    weight: 0.08,
    title: 'Gives web pages an interface to the app',
    allows: 'A page that the app shows can call its functions.',
    seenIn: inCode('javascript_interface'),
  },
  {
    // The weight is low because only names of secrets are recognised, and since Android 4.1 other apps cannot read the log.
    id: 'code_secrets_logged',
    weight: 0.03,
    title: 'May write secrets to the log',
    allows: 'Anyone with a cable and the unlocked device, or with a bug report of it, can read them if they are what their names say.',
    seenIn: inCode('secrets_logged'),
  },
];

/** They share one cause, because they are settings of one build. Each of them only makes a mistake in native code easier to exploit. */
const NATIVE = 'native build';

const NATIVE_CODE: readonly Row[] = [
  {
    id: 'native_executable_stack',
    weight: 0.1,
    cause: NATIVE,
    title: 'Native code with an executable stack',
    allows: 'Anyone who finds a mistake in it can make the app run code that was sent to it.',
    seenIn: inCode('executable_stack'),
  },
  {
    id: 'native_fixed_address',
    weight: 0.1,
    cause: NATIVE,
    title: 'Native code at a fixed address',
    allows: 'Anyone who finds a mistake in it knows the address of each function.',
    seenIn: inCode('fixed_address'),
  },
  {
    id: 'native_no_relro',
    weight: 0.05,
    cause: NATIVE,
    title: 'Native code whose table of functions stays writable (no RELRO)',
    allows: 'Anyone who finds a mistake in it can replace a function that it calls.',
    seenIn: inCode('no_relro'),
  },
  {
    id: 'native_no_canary',
    weight: 0.03,
    cause: NATIVE,
    title: 'Native code without stack canaries',
    allows: 'A text that is too long for its buffer can change what the code does next. Code without texts on the stack needs no canaries.',
    seenIn: inCode('no_canary'),
  },
];

/** Rules about the signatures: how well the file's origin is vouched for. */
export const SIGNING_RULES: readonly Rule[] = rowsOf('hardening', 'signing', SIGNING);

/** Rules about how securely the app is built. */
export const BUILD_RULES: readonly Rule[] = [
  ...rowsOf('hardening', 'dex', WEAK_CODE),
  ...rowsOf('hardening', 'native_libraries', NATIVE_CODE),
  ...rowsOf('hardening', 'flags', FLAGS),
  ...rowsOf('hardening', 'network_security', NETWORK),
  ...rowsOf('hardening', 'secrets', SECRETS),
  ...rowsOf('hardening', 'components', EXPORTED),
];
