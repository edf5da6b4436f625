import { isAbsolute } from 'node:path';
import { z } from 'zod';
import { type ListenPlace } from '../access-layer/gateway-question';

/** The length of a key of HMAC-SHA256, so that the secret cannot be guessed. */
const MIN_SECRET = 32;

function parsePlace(text: string): ListenPlace | undefined {
  if (isAbsolute(text)) return { path: text };
  const [, host = '', port = ''] = /^\[?([\w.:-]+?)\]?:(\d{1,5})$/.exec(text) ?? [];
  return host !== '' && Number(port) <= 65_535 ? { host, port: Number(port) } : undefined;
}

const place = z.string().transform((text, context): ListenPlace => {
  const parsed = parsePlace(text);
  if (parsed) return parsed;
  context.addIssue({ code: 'custom', message: 'must be the absolute path of a socket, or host:port' });
  return z.NEVER;
});

const ENVIRONMENT = z
  .object({
    FORWARD_AUTH_LISTEN: place.optional(),
    EXT_AUTHZ_LISTEN: place.optional(),
    LANE_LISTEN: z
      .string()
      .refine(isAbsolute, 'must be the absolute path of a socket')
      .transform((path) => ({ path }))
      .optional(),
    GATEWAY_SECRET: z.string().min(MIN_SECRET, `must have at least ${MIN_SECRET} characters`).optional(),
  })
  .superRefine(({ FORWARD_AUTH_LISTEN, EXT_AUTHZ_LISTEN, GATEWAY_SECRET }, context) => {
    const isOnTcp = [FORWARD_AUTH_LISTEN, EXT_AUTHZ_LISTEN].some((each) => each && 'host' in each);
    if (isOnTcp && GATEWAY_SECRET === undefined) {
      context.addIssue({ code: 'custom', path: ['GATEWAY_SECRET'], message: 'is required where an entrance listens on a network' });
    }
  });

export interface EntranceSettings {
  /** For nginx, Caddy and HAProxy. */
  readonly forwardAuth: ListenPlace | undefined;
  /** For Envoy. */
  readonly extAuthz: ListenPlace | undefined;
  /** For the Lua of kong/lane, in Kong or nginx. */
  readonly lane: { readonly path: string } | undefined;
  readonly secret: string | undefined;
}

/**
 * Reads which gateways besides Kong are served; an empty variable counts as absent.
 * @throws Error with one line that names every problem and no value
 */
export function readEntranceSettings(environment: NodeJS.ProcessEnv): EntranceSettings {
  const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''));
  const parsed = ENVIRONMENT.safeParse(given);
  if (!parsed.success) {
    const problems = parsed.error.issues.map((issue) => `${issue.path.join('.')} ${issue.message}`);
    throw new Error(`the plugin server cannot start: ${problems.join('; ')}`);
  }
  const { FORWARD_AUTH_LISTEN, EXT_AUTHZ_LISTEN, LANE_LISTEN, GATEWAY_SECRET } = parsed.data;
  return { forwardAuth: FORWARD_AUTH_LISTEN, extAuthz: EXT_AUTHZ_LISTEN, lane: LANE_LISTEN, secret: GATEWAY_SECRET };
}
