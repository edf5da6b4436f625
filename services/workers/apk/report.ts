/** The report as it is sent, in snake case. Its schema is in the service. Members that are optional there may be absent here. */

export type ProtectionLevel = 'normal' | 'dangerous' | 'signature' | 'special' | 'internal' | 'unknown';

/** The recognised form of an upload: an APK, an Android App Bundle, an XAPK, or another archive of APKs such as bundletool's APKS. */
export type AppForm = 'apk' | 'aab' | 'xapk' | 'apks';

/** One module of a bundle, or one file of a set of APKs. */
export interface PartFacts {
  readonly name: string;
  /** `expansion`: data in an OBB. `other`: an APK that does not belong to the base, or cannot be read. */
  readonly kind: 'base' | 'module' | 'split' | 'expansion' | 'other';
  /** Size in bytes, unpacked. */
  readonly size: number;
  /** False for a part that is only listed. */
  readonly analyzed: boolean;
}

export interface FileFacts {
  readonly name: string;
  readonly size: number;
  readonly md5: string;
  readonly sha1: string;
  readonly sha256: string;
}

export interface PackageFacts {
  readonly name: string;
  readonly label: string | null;
  /** Labels by locale, with `default` for the label without a locale. */
  readonly labels: Readonly<Record<string, string>>;
  readonly version_name: string | null;
  readonly version_code: number | null;
  readonly min_sdk: number | null;
  readonly target_sdk: number | null;
  readonly max_sdk: number | null;
  readonly main_activity: string | null;
}

export interface PermissionFacts {
  readonly name: string;
  readonly protection: ProtectionLevel;
  readonly max_sdk: number | null;
  readonly declared_by_app: boolean;
  /** False when the permission is only declared for others. */
  readonly requested: boolean;
}

export interface IntentFilterFacts {
  readonly actions: readonly string[];
  readonly categories: readonly string[];
  readonly data: readonly Readonly<Record<string, string>>[];
}

export interface ComponentFacts {
  readonly name: string;
  readonly exported: boolean;
  /** True when the manifest states it, false when it follows from Android's defaults. */
  readonly explicit: boolean;
  readonly permission: string | null;
  readonly intent_filters: readonly IntentFilterFacts[];
}

export type ComponentKind = 'activities' | 'services' | 'receivers' | 'providers';
export type ComponentsFacts = Readonly<Record<ComponentKind, readonly ComponentFacts[]>>;

export interface FlagFacts {
  readonly debuggable: boolean;
  readonly allow_backup: boolean;
  readonly uses_cleartext: boolean;
  readonly test_only: boolean;
}

export interface DomainSecurityFacts {
  readonly domains: readonly { readonly name: string; readonly include_subdomains: boolean }[];
  /** Null when inherited. */
  readonly cleartext_permitted: boolean | null;
  readonly trust_anchors: readonly string[] | null;
  readonly pins: number;
  readonly pin_expiration: string | null;
}

export interface NetworkSecurityFacts {
  readonly config_file: string | null;
  /** Applies to hosts without a rule of their own. */
  readonly cleartext_permitted: boolean;
  readonly trusts_user_certificates: boolean;
  readonly base_config: { readonly cleartext_permitted: boolean | null; readonly trust_anchors: readonly string[] | null } | null;
  readonly domains: readonly DomainSecurityFacts[];
  readonly debug_overrides: { readonly trust_anchors: readonly string[] } | null;
}

export interface SchemeVerdict {
  readonly present: boolean;
  readonly verified: boolean;
  readonly error: string | null;
}

export interface CertificateFacts {
  readonly subject: string;
  readonly issuer: string;
  /** Hexadecimal. */
  readonly serial: string;
  /** ISO 8601. */
  readonly not_before: string;
  readonly not_after: string;
  readonly sha256: string;
  /** For example `RSA 2048` or `EC prime256v1`. */
  readonly key: string;
  /** For example `SHA256withRSA`, or the object identifier of an algorithm without a common name. */
  readonly sig_alg: string;
  /** True for the certificate that Android's build tools create for debugging, and for the test keys of its source. */
  readonly debug: boolean;
}

export type SchemeName = 'v1' | 'v2' | 'v3' | 'v31';
export type SigningFacts = Readonly<Record<SchemeName, SchemeVerdict>> & { readonly certificates: readonly CertificateFacts[] };

export interface NativeLibraryFacts {
  readonly name: string;
  readonly abi: string;
  /** Size in bytes, unpacked. */
  readonly size: number;
}

export interface DexFacts {
  readonly name: string;
  readonly version: string;
  readonly classes: number;
  readonly methods: number;
  /** True when Adler-32 and SHA-1 of the file agree with its header. */
  readonly checksum_ok: boolean;
}

export interface TrackerFacts {
  readonly name: string;
  readonly category: string;
  /** The class prefix that was found. */
  readonly matched: string;
}

/** A list that the app was checked against: class names of trackers, forms of secrets, or signs in code. */
export interface CheckedFacts {
  readonly source: 'tracker_list' | 'secret_rules' | 'code_signs';
  /** Date of the list, `YYYY-MM-DD`. */
  readonly as_of: string;
  /** False when part of the app could not be checked. */
  readonly ok: boolean;
  readonly entries: number;
}

export interface SecretFacts {
  readonly rule: string;
  readonly file: string;
  readonly masked: string;
}

export type Severity = 'critical' | 'high' | 'warning';

/** `hardening`: how badly the app is protected. `capability`: what it can do to its user. */
export type ScoreName = 'hardening' | 'capability';

export interface AppFinding {
  readonly id: string;
  readonly severity: Severity;
  readonly title: string;
  /** The part of the report on which it is based. */
  readonly section: string;
  readonly counts_for: ScoreName;
  /** What the weakness or permission allows, either the app or an attacker of the app. */
  readonly allows: string;
  /** Places where it was seen, such as `service com.example.Spy`. */
  readonly seen: readonly string[];
}

/** A finding that weighs in a score. */
export interface ScoreInput {
  readonly id: string;
  /** The share of the remaining trust that it takes away. */
  readonly weight: number;
}

export interface Score {
  /** From 0 to 100; 100 is worst. */
  readonly score: number;
  readonly level: 'low' | 'medium' | 'high' | 'critical';
  /** Explains how the score follows from its inputs. */
  readonly method: string;
  readonly inputs: readonly ScoreInput[];
}

export interface Risk extends Omit<Score, 'inputs'> {
  /** The score that it is taken from. */
  readonly of: ScoreName;
  /** False when part of the app was not searched, so the scores may be too low. */
  readonly complete: boolean;
}

export interface ApkReport {
  readonly form: AppForm;
  /** Empty for an APK. */
  readonly parts: readonly PartFacts[];
  readonly file: FileFacts;
  readonly package: PackageFacts;
  readonly permissions: readonly PermissionFacts[];
  readonly components: ComponentsFacts;
  readonly flags: FlagFacts;
  readonly network_security: NetworkSecurityFacts;
  readonly signing: SigningFacts;
  readonly native_abis: readonly string[];
  readonly native_libraries: readonly NativeLibraryFacts[];
  readonly dex: readonly DexFacts[];
  readonly trackers: readonly TrackerFacts[];
  readonly checked: readonly CheckedFacts[];
  readonly secrets: readonly SecretFacts[];
  readonly urls: readonly string[];
  readonly findings: readonly AppFinding[];
  readonly hardening: Score;
  readonly capability: Score;
  readonly risk: Risk;
  readonly warnings: readonly string[];
}
