import { type Severity } from '../report';

/**
 * The forms of well-known credentials, maintained by hand: prefixes, alphabets and lengths that their issuers use. A rule is tried only
 * where its literal occurs, within a bounded window, so that no input can make it slow.
 */
export interface SecretRule {
  readonly id: string;
  /** The beginning of the secret. */
  readonly literal: string;
  /** Sticky: it matches only where the literal begins. */
  readonly pattern: RegExp;
  /** `warning`: useless alone, or meant to be in an app and restricted by its issuer. */
  readonly severity: Severity;
}

/** The day on which the rules below last changed. */
export const SECRET_RULES_AS_OF = '2026-11-22';

export const SECRET_RULES: readonly SecretRule[] = [
  { id: 'google_api_key', literal: 'AIza', pattern: /AIza[\w-]{35}(?![\w-])/y, severity: 'warning' },
  { id: 'google_oauth_token', literal: 'ya29.', pattern: /ya29\.[\w-]{20,}/y, severity: 'high' },
  { id: 'google_oauth_client_secret', literal: 'GOCSPX-', pattern: /GOCSPX-[\w-]{28}/y, severity: 'warning' },
  { id: 'firebase_server_key', literal: 'AAAA', pattern: /AAAA[\w-]{7}:[\w-]{140}/y, severity: 'high' },
  { id: 'aws_access_key_id', literal: 'AKIA', pattern: /AKIA[A-Z2-7]{16}(?![A-Z0-9])/y, severity: 'warning' },
  { id: 'aws_temporary_key_id', literal: 'ASIA', pattern: /ASIA[A-Z2-7]{16}(?![A-Z0-9])/y, severity: 'high' },
  {
    // Parsers of such files also contain the bare header. A real key also has a line of base64 after it, or after headers such as
    // `DEK-Info: …`.
    id: 'private_key',
    literal: '-----BEGIN ',
    pattern:
      /-----BEGIN (?:RSA |EC |DSA |OPENSSH |ENCRYPTED )?PRIVATE KEY-----(?:\s|\\[nr]|[A-Za-z-]{1,30}: [^\r\n\\]{1,100}(?:\r?\n|\\[nr]))*[A-Za-z0-9+/]{40,}/y,
    severity: 'high',
  },
  { id: 'stripe_live_key', literal: 'sk_live_', pattern: /sk_live_[0-9A-Za-z]{16,}/y, severity: 'high' },
  { id: 'stripe_restricted_key', literal: 'rk_live_', pattern: /rk_live_[0-9A-Za-z]{16,}/y, severity: 'high' },
  { id: 'razorpay_live_key', literal: 'rzp_live_', pattern: /rzp_live_[0-9A-Za-z]{14}/y, severity: 'high' },
  { id: 'slack_token', literal: 'xox', pattern: /xox[abprs]-[0-9A-Za-z-]{20,}/y, severity: 'high' },
  {
    id: 'slack_webhook',
    literal: 'https://hooks.slack.com/',
    pattern: /https:\/\/hooks\.slack\.com\/services\/T\w{6,}\/B\w{6,}\/\w{16,}/y,
    severity: 'high',
  },
  { id: 'github_token', literal: 'gh', pattern: /gh[oprsu]_[0-9A-Za-z]{36}/y, severity: 'high' },
  { id: 'github_fine_grained_token', literal: 'github_pat_', pattern: /github_pat_\w{70,}/y, severity: 'high' },
  { id: 'gitlab_token', literal: 'glpat-', pattern: /glpat-[\w-]{20}/y, severity: 'high' },
  { id: 'sendgrid_key', literal: 'SG.', pattern: /SG\.[\w-]{22}\.[\w-]{43}/y, severity: 'high' },
  { id: 'mailgun_key', literal: 'key-', pattern: /key-[0-9a-f]{32}(?![0-9a-f])/y, severity: 'high' },
  { id: 'square_token', literal: 'sq0', pattern: /sq0(?:atp|csp)-[\w-]{22,}/y, severity: 'high' },
  { id: 'openai_key', literal: 'sk-', pattern: /sk-(?:proj-)?[0-9A-Za-z_-]{40,}/y, severity: 'high' },
  { id: 'facebook_token', literal: 'EAACEdEose0cBA', pattern: /EAACEdEose0cBA[0-9A-Za-z]{20,}/y, severity: 'high' },
  { id: 'json_web_token', literal: 'eyJ', pattern: /eyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10,}/y, severity: 'warning' },
];

/** Keeps enough of a secret to recognise it, and too little to use it. */
export function maskSecret(secret: string): string {
  const header = /^-----[^-]+-----/.exec(secret)?.[0];
  if (header !== undefined) return `${header}********`;
  return `${secret.slice(0, 4)}********${secret.slice(-2)}`;
}

/** Masks every secret in a text. */
export function maskSecretsIn(text: string): string {
  return SECRET_RULES.reduce(
    (masked, { literal, pattern }) => (masked.includes(literal) ? masked.replace(new RegExp(pattern.source, 'g'), maskSecret) : masked),
    text,
  );
}
