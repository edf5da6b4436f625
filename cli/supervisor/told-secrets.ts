import { SECRET_NAMES } from '../container/secret-names';

/** Beginnings of the names of the secrets that an operator may set and a process reads. Its database and its keys of proofs come besides. */
const READS: Readonly<Record<string, readonly string[]>> = {
  'plugin-server': ['GATEWAY_SECRET'],
  dashboard: ['DASHBOARD_SIGN_IN_SECRETS', 'SMTP_URL', 'STRIPE_', 'RAZORPAY_'],
  services: ['APP_', 'GDPLAY_API_KEY', 'IP_', 'PINCODE_', 'WORKER_TLS_'],
  'worker-identity': ['AADHAAR_', 'GST_', 'IDENTITY_', 'WORKER_TLS_'],
  'worker-image': ['IMAGE_', 'WORKER_TLS_'],
  'worker-ranking': ['RANKING_', 'WORKER_TLS_'],
  'worker-seo': ['SEO_', 'WORKER_TLS_'],
  'worker-apk': ['WORKER_TLS_'],
};
/** Of the collector of traces, to which each process sends its own. */
const FOR_ALL = 'OTEL_EXPORTER_OTLP_HEADERS';

/** An environment without the secrets that a process has no use for. A process without an entry above is told none. */
export function withoutOthersSecrets(env: NodeJS.ProcessEnv, child: string): NodeJS.ProcessEnv {
  const reads = [FOR_ALL, ...(READS[child] ?? [])];
  const isKept = (name: string): boolean => !SECRET_NAMES.includes(name) || reads.some((beginning) => name.startsWith(beginning));
  return Object.fromEntries(Object.entries(env).filter(([name]) => isKept(name)));
}
