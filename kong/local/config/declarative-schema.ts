import { z } from 'zod';

// The entities and fields of Kong's declarative format that the local gateway implements. The objects are strict: start-up refuses anything
// else in kong.yml, because a field that Kong obeys and this gateway ignores would be an invisible difference.

/** Kong's own defaults for a service: 60 s for each time-out, five retries. */
const DEFAULT_TIMEOUT_MS = 60_000;
const DEFAULT_RETRIES = 5;
const MAX_TIMEOUT_MS = 2 ** 31 - 2;

const name = z.string().regex(/^[\w.~-]+$/, 'may hold letters, digits and . _ ~ -');
const timeout = z.number().int().min(1).max(MAX_TIMEOUT_MS).default(DEFAULT_TIMEOUT_MS);
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'CONNECT'] as const;

const routePath = z
  .string()
  .refine((path) => path.startsWith('/') || path.startsWith('~/'), 'must start with / or, for a regular expression, ~/')
  .refine((path) => !path.startsWith('~') || isRegex(path.slice(1)), 'not a regular expression that Kong and this gateway read alike');

const pluginSchema = z.strictObject({
  name: z.string(),
  config: z.record(z.string(), z.unknown()).default({}),
  enabled: z.boolean().default(true),
});

const routeSchema = z
  .strictObject({
    name,
    paths: z.array(routePath).min(1),
    methods: z.array(z.enum(METHODS)).min(1).optional(),
    protocols: z
      .union([z.array(z.enum(['http', 'https'])), z.array(z.enum(['grpc', 'grpcs']))])
      .default(['http', 'https'])
      .refine((list) => !list.every((each) => each === 'https'), 'an https-only route needs TLS, which this gateway does not serve'),
    strip_path: z.boolean().optional(),
    preserve_host: z.boolean().default(false),
    /** Bodies are streamed in either case: a service notices only the delay of Kong's buffering. */
    request_buffering: z.boolean().default(true),
    regex_priority: z.number().int().min(0).default(0),
    plugins: z.array(pluginSchema).default([]),
  })
  .refine(
    (route) => !isGrpc(route) || (route.strip_path !== true && route.methods === undefined),
    'Kong takes neither strip_path nor methods with grpc',
  )
  .transform((route) => ({ ...route, strip_path: route.strip_path ?? true }));

const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** Authorities for checking https services: PEM, one certificate each. */
const caCertificateSchema = z.strictObject({
  id: z.string().regex(UUID, 'must be a UUID'),
  cert: z.string().includes('-----BEGIN CERTIFICATE-----', { error: 'must be a certificate in PEM' }),
});

const serviceSchema = z
  .strictObject({
    name,
    url: z.url({ protocol: /^(?:http|grpc)s?$/, error: 'must be an http://, https://, grpc:// or grpcs:// address' }).optional(),
    protocol: z.enum(['http', 'https', 'grpc', 'grpcs']).optional(),
    host: z.string().min(1).optional(),
    port: z.number().int().min(1).max(65_535).optional(),
    path: z.string().startsWith('/').optional(),
    connect_timeout: timeout,
    read_timeout: timeout,
    write_timeout: timeout,
    retries: z.number().int().min(0).max(32_767).default(DEFAULT_RETRIES),
    /** Unless this is true, Kong accepts any certificate. */
    tls_verify: z.boolean().nullish(),
    tls_verify_depth: z.number().int().min(0).max(64).nullish(),
    ca_certificates: z.array(z.string()).min(1).nullish(),
    routes: z.array(routeSchema).default([]),
    plugins: z.array(pluginSchema).default([]),
  })
  .refine((service) => (service.url === undefined) !== (service.host === undefined), 'give either url or host')
  .refine(
    (service) => service.url === undefined || (service.port ?? service.path ?? service.protocol) === undefined,
    'url already says protocol, port and path',
  )
  .refine(
    (service) => !isGrpc(service) || (service.path ?? new URL(service.url ?? 'grpc://none').pathname) === '',
    'gRPC has no path of its own: give host and port',
  )
  .refine(
    (service) => !isHttps(service) || service.routes.every((route) => !route.preserve_host),
    'the local gateway does not implement preserve_host with https',
  );

/** Whether a service is called over TLS. */
export function isHttps({ url, protocol }: { readonly url?: string | undefined; readonly protocol?: string | undefined }): boolean {
  return protocol === 'https' || url?.startsWith('https:') === true;
}

/** Whether a service or a route uses gRPC, which the local gateway reads but does not proxy. */
export function isGrpc(entity: {
  readonly url?: string | undefined;
  readonly protocol?: string | undefined;
  readonly protocols?: readonly string[];
}): boolean {
  return [entity.url, entity.protocol, ...(entity.protocols ?? [])].some((each) => each?.startsWith('grpc') === true);
}

export const declarativeSchema = z.strictObject({
  _format_version: z.literal('3.0'),
  _transform: z.boolean().optional(),
  upstreams: z.never({ error: 'only Kong chooses between several addresses; give each service one url' }).optional(),
  ca_certificates: z.array(caCertificateSchema).default([]),
  services: z.array(serviceSchema).min(1),
});

export type DeclaredService = z.infer<typeof serviceSchema>;
export type DeclaredRoute = z.infer<typeof routeSchema>;
export type DeclaredPlugin = z.infer<typeof pluginSchema>;

/** Kong uses Rust's engine, which has neither look-around nor back references. */
function isRegex(pattern: string): boolean {
  if (/\(\?(?:[=!]|<[=!])|\\[1-9]/.test(pattern)) return false;
  try {
    new RegExp(pattern);
    return true;
  } catch {
    return false;
  }
}
