import { availableParallelism, hostname } from 'node:os';
import { z } from 'zod';
import { isTimeZone } from '../core/quota';
import { findRedisUrlProblem } from '../core/redis-address';
import { signingSettings, type ContextSigning } from './signing-settings';

const ENVIRONMENT = z.object({
  DATABASE_URL: z.string({ error: 'is required' }).regex(/^postgres(ql)?:\/\//, 'must be a postgres:// URL'),
  REDIS_URL: z
    .string()
    .superRefine((text, context) => {
      const problem = findRedisUrlProblem(text);
      if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
    })
    .optional(),
  QUOTA_TIMEZONE: z.string().refine(isTimeZone, 'must be an IANA time zone such as Asia/Kolkata').default('Asia/Kolkata'),
  PLUGIN_SOCKET: z.string({ error: 'is required' }).min(1, 'is required'),
  NODE_NAME: z.string().max(100, 'must have at most 100 characters').default(hostname),
  LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
  PLUGIN_SERVER_WORKERS: z
    .string()
    .regex(/^(auto|[1-9]\d?)$/, 'must be auto or a number from 1 to 99')
    .transform((text) => (text === 'auto' ? availableParallelism() : Number(text)))
    .default(1),
  METRICS_HOST: z.string().default('127.0.0.1'),
  METRICS_PORT: z
    .string()
    .regex(/^\d{1,5}$/, 'must be a port number')
    .transform(Number)
    .refine((port) => port <= 65_535, 'must be a port number')
    .optional(),
});

export interface PluginServerSettings {
  readonly databaseUrl: string;
  readonly redisUrl: string | undefined;
  readonly timeZone: string;
  readonly signing: ContextSigning;
  readonly socketPath: string;
  /** Shown to customers beside the changes that this node confirmed; the host's name unless given. */
  readonly nodeName: string;
  readonly logLevel: string;
  /** Processes; 1: this one alone. */
  readonly workers: number;
  /** Undefined: no metrics. */
  readonly metrics: { readonly host: string; readonly port: number } | undefined;
}

/**
 * Reads the environment; an empty variable counts as absent.
 * @throws Error with one line that names every problem and no value
 */
export function readSettings(environment: NodeJS.ProcessEnv): PluginServerSettings {
  const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''));
  const parsed = ENVIRONMENT.safeParse(given);
  const signing = signingSettings.safeParse(given);
  if (!parsed.success || !signing.success) {
    const issues = [...(parsed.error?.issues ?? []), ...(signing.error?.issues ?? [])];
    const problems = issues.map((issue) => `${issue.path.join('.')} ${issue.message}`);
    throw new Error(`the plugin server cannot start: ${problems.join('; ')}`);
  }
  const { data } = parsed;
  return {
    databaseUrl: data.DATABASE_URL,
    redisUrl: data.REDIS_URL,
    timeZone: data.QUOTA_TIMEZONE,
    signing: signing.data,
    socketPath: data.PLUGIN_SOCKET,
    nodeName: data.NODE_NAME,
    logLevel: data.LOG_LEVEL,
    workers: data.PLUGIN_SERVER_WORKERS,
    metrics: data.METRICS_PORT === undefined ? undefined : { host: data.METRICS_HOST, port: data.METRICS_PORT },
  };
}
