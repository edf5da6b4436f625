import { availableParallelism, hostname } from 'node:os';
import { z } from 'zod';
import { type Environment, logLevelSetting, portSetting, readSettings, redisSetting, timeZoneSetting } from '../core/settings';
import { linkSettings } from '../core/proof/link-settings';
import { type LinkKeys } from '../core/proof/access-link';
import { type ReadOn } from '../core/problems';
import { readOnSettings } from '../core/read-on';
import { signingSettings, type ContextSigning } from './signing-settings';

/** The database keeps lines for at least this many days, whatever the setting. */
const MIN_AUDIT_DAYS = 90;

const ENVIRONMENT = z.object({
  DATABASE_URL: z.string().regex(/^postgres(ql)?:\/\//, 'must be a postgres:// URL'),
  REDIS_URL: redisSetting().optional(),
  QUOTA_TIMEZONE: timeZoneSetting(),
  PLUGIN_SOCKET: z.string(),
  REALM: z
    .string()
    .regex(/^[ !#-[\]-~]{1,100}$/, 'must be at most 100 characters of ASCII, without quotes and backslashes')
    .optional(),
  NODE_NAME: z.string().max(100, 'must have at most 100 characters').default(hostname),
  LOG_LEVEL: logLevelSetting(),
  PLUGIN_SERVER_WORKERS: z
    .string()
    .regex(/^(auto|[1-9]\d?)$/, 'must be auto or a number from 1 to 99')
    .transform((text) => (text === 'auto' ? availableParallelism() : Number(text)))
    .default(1),
  AUDIT_RETENTION_DAYS: z
    .string()
    .regex(/^\d{2,5}$/, 'must be a number of days')
    .transform(Number)
    .refine((days) => days >= MIN_AUDIT_DAYS, `must be ${MIN_AUDIT_DAYS} or more`)
    .default(400),
  ANSWERS_LISTEN: z
    .string()
    .regex(/^(\[[\da-f:]+\]|[\w.-]+):\d{1,5}$/i, 'must be host:port')
    .transform((text) => ({ host: text.replace(/^\[|\]?:\d+$/g, ''), port: Number(/\d+$/.exec(text)) }))
    .refine(({ port }) => port <= 65_535, 'must be host:port')
    .optional(),
  ANSWERS_WAIT_MS: z
    .string()
    .regex(/^\d{1,6}$/, 'must be a number of milliseconds')
    .transform(Number)
    .default(3_000),
  METRICS_HOST: z.string().default('127.0.0.1'),
  METRICS_PORT: portSetting().optional(),
});

export interface PluginServerSettings {
  readonly databaseUrl: string;
  readonly redisUrl: string | undefined;
  readonly timeZone: string;
  readonly signing: ContextSigning;
  /** Undefined when links are not set up. */
  readonly linkKeys: LinkKeys | undefined;
  readonly readOn: ReadOn;
  /** The realm in a 401; `tollgate` unless given. */
  readonly realm: string | undefined;
  readonly socketPath: string;
  /** Shown to customers beside the changes that this node confirmed. Default: the host's name. */
  readonly nodeName: string;
  readonly logLevel: string;
  /** The number of processes; 1 means no workers. */
  readonly workers: number;
  /** Lines of the audit log are deleted after this many days. */
  readonly auditRetentionDays: number;
  /** UDP address to which gateways send their access log. Undefined: responses stay unknown. */
  readonly answersListen: { readonly host: string; readonly port: number } | undefined;
  /** Milliseconds for which a stopping server waits for the responses to running requests. */
  readonly answersWaitMs: number;
  /** Undefined for no metrics. */
  readonly metrics: { readonly host: string; readonly port: number } | undefined;
}

/** @throws SettingsError */
export function readPluginServerSettings(environment: Environment): PluginServerSettings {
  const {
    server: data,
    signing,
    links,
    readOn,
  } = readSettings({ server: ENVIRONMENT, signing: signingSettings, links: linkSettings, readOn: readOnSettings }, environment);
  return {
    databaseUrl: data.DATABASE_URL,
    redisUrl: data.REDIS_URL,
    timeZone: data.QUOTA_TIMEZONE,
    signing,
    linkKeys: links.GDPLAY_LINK_KEYS,
    readOn,
    realm: data.REALM,
    socketPath: data.PLUGIN_SOCKET,
    nodeName: data.NODE_NAME,
    logLevel: data.LOG_LEVEL,
    workers: data.PLUGIN_SERVER_WORKERS,
    auditRetentionDays: data.AUDIT_RETENTION_DAYS,
    answersListen: data.ANSWERS_LISTEN,
    answersWaitMs: data.ANSWERS_WAIT_MS,
    metrics: data.METRICS_PORT === undefined ? undefined : { host: data.METRICS_HOST, port: data.METRICS_PORT },
  };
}
