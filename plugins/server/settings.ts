import { availableParallelism, hostname } from 'node:os';
import { z } from 'zod';
import { parseSigningKeys, type SigningKey } from '../core/context-token';
import { isTimeZone } from '../core/quota';
import { findRedisUrlProblem } from '../core/redis-address';

/** Migration 0042 keeps younger lines, whatever is asked. */
const LEAST_AUDIT_DAYS = 90;

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
  TOLLGATE_SIGNING_KEYS: z.string({ error: 'is required' }).transform((text, context) => {
    try {
      return parseSigningKeys(text);
    } catch (error) {
      context.addIssue({ code: 'custom', message: error instanceof Error ? error.message : 'cannot be read' });
      return z.NEVER;
    }
  }),
  PLUGIN_SOCKET: z.string({ error: 'is required' }).min(1, 'is required'),
  NODE_NAME: z.string().max(100, 'must have at most 100 characters').default(hostname),
  LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
  PLUGIN_SERVER_WORKERS: z
    .string()
    .regex(/^(auto|[1-9]\d?)$/, 'must be auto or a number from 1 to 99')
    .transform((text) => (text === 'auto' ? availableParallelism() : Number(text)))
    .default(1),
  AUDIT_RETENTION_DAYS: z
    .string()
    .regex(/^\d{2,5}$/, 'must be a number of days')
    .transform(Number)
    .refine((days) => days >= LEAST_AUDIT_DAYS, `must be ${LEAST_AUDIT_DAYS} or more`)
    .default(400),
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
  readonly signingKeys: readonly [SigningKey, ...SigningKey[]];
  readonly socketPath: string;
  /** Shown to customers beside the changes that this node confirmed; the host's name unless given. */
  readonly nodeName: string;
  readonly logLevel: string;
  /** Processes; 1: this one alone. */
  readonly workers: number;
  /** Lines of the audit log are deleted after so many days. */
  readonly auditRetentionDays: number;
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
  if (!parsed.success) {
    const problems = parsed.error.issues.map((issue) => `${issue.path.join('.')} ${issue.message}`);
    throw new Error(`the plugin server cannot start: ${problems.join('; ')}`);
  }
  const { data } = parsed;
  return {
    databaseUrl: data.DATABASE_URL,
    redisUrl: data.REDIS_URL,
    timeZone: data.QUOTA_TIMEZONE,
    signingKeys: data.TOLLGATE_SIGNING_KEYS,
    socketPath: data.PLUGIN_SOCKET,
    nodeName: data.NODE_NAME,
    logLevel: data.LOG_LEVEL,
    workers: data.PLUGIN_SERVER_WORKERS,
    auditRetentionDays: data.AUDIT_RETENTION_DAYS,
    metrics: data.METRICS_PORT === undefined ? undefined : { host: data.METRICS_HOST, port: data.METRICS_PORT },
  };
}
