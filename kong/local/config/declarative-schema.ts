import { z } from 'zod';
import { upstreamSchema } from './upstream-schema';

// The entities and fields of Kong's declarative format that the local gateway implements. The objects are strict: anything else in
// kong.yml is refused at start: a field that Kong obeys and this gateway ignores would be an invisible difference.

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

const routeSchema = z.strictObject({
  name,
  paths: z.array(routePath).min(1),
  methods: z.array(z.enum(METHODS)).min(1).optional(),
  protocols: z
    .array(z.enum(['http', 'https']))
    .default(['http', 'https'])
    .refine((list) => list.includes('http'), 'an https-only route needs TLS, which this gateway does not serve'),
  strip_path: z.boolean().default(true),
  preserve_host: z.boolean().default(false),
  /** Bodies go on as they come either way: what a service sees of Kong's buffering is time. */
  request_buffering: z.boolean().default(true),
  regex_priority: z.number().int().min(0).default(0),
  plugins: z.array(pluginSchema).default([]),
});

const serviceSchema = z
  .strictObject({
    name,
    url: z.url({ protocol: /^http$/, error: 'must be an http:// address (TLS to a service is not implemented)' }).optional(),
    protocol: z.literal('http').optional(),
    host: z.string().min(1).optional(),
    port: z.number().int().min(1).max(65_535).optional(),
    path: z.string().startsWith('/').optional(),
    connect_timeout: timeout,
    read_timeout: timeout,
    write_timeout: timeout,
    retries: z.number().int().min(0).max(32_767).default(DEFAULT_RETRIES),
    routes: z.array(routeSchema).default([]),
    plugins: z.array(pluginSchema).default([]),
  })
  .refine((service) => (service.url === undefined) !== (service.host === undefined), 'give either url or host')
  .refine(
    (service) => service.url === undefined || (service.port ?? service.path ?? service.protocol) === undefined,
    'url already says protocol, port and path',
  );

export const declarativeSchema = z.strictObject({
  _format_version: z.literal('3.0'),
  _transform: z.boolean().optional(),
  upstreams: z.array(upstreamSchema).default([]),
  services: z.array(serviceSchema).min(1),
});

export type DeclaredService = z.infer<typeof serviceSchema>;
export type DeclaredRoute = z.infer<typeof routeSchema>;
export type DeclaredPlugin = z.infer<typeof pluginSchema>;

/** Kong matches with Rust's engine, which has neither look-around nor back references. */
function isRegex(pattern: string): boolean {
  if (/\(\?(?:[=!]|<[=!])|\\[1-9]/.test(pattern)) return false;
  try {
    new RegExp(pattern);
    return true;
  } catch {
    return false;
  }
}
