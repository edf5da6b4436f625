import { z } from 'zod';
import { parseSigningKeys } from '../../plugins/core/context-token';
import { isTimeZone } from '../../plugins/core/quota';
import { findRedisUrlProblem } from '../../plugins/core/redis-address';
import { CATALOGUE_FILE } from './read-catalogue';

/** Everything that is wrong with the environment, in one text: one line a problem, never a value. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';

  constructor(readonly problems: readonly string[]) {
    super(
      `The settings have ${problems.length === 1 ? 'a problem' : `${problems.length} problems`}:\n${problems.map((each) => `  ${each}`).join('\n')}`,
    );
  }
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** An empty variable counts as absent: compose files and shells cannot unset one. */
function withoutEmpty(env: Environment): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined && entry[1] !== ''));
}

function problemsOf(error: z.ZodError, env: Environment): string[] {
  return error.issues.map((issue) => {
    const name = issue.path.map(String).join('.');
    return `${name}: ${env[name] === undefined && issue.code !== 'custom' ? 'is required and not set' : issue.message}`;
  });
}

/**
 * Reads several groups of settings from one environment.
 * @throws SettingsError listing every problem of every group
 */
export function readSettings<Groups extends Record<string, z.ZodType>>(
  groups: Groups,
  env: Environment,
): { [Name in keyof Groups]: z.output<Groups[Name]> } {
  const given = withoutEmpty(env);
  const problems = new Set<string>();
  const entries = Object.entries(groups).map(([name, schema]) => {
    const parsed = schema.safeParse(given);
    if (!parsed.success) for (const problem of problemsOf(parsed.error, given)) problems.add(problem);
    return [name, parsed.data] as const;
  });
  if (problems.size > 0) throw new SettingsError([...problems]);
  return Object.fromEntries(entries) as { [Name in keyof Groups]: z.output<Groups[Name]> };
}

/** A whole number from text, within bounds. */
export function numberSetting(bounds: { min: number; max: number }): z.ZodType<number> {
  const message = `must be a whole number from ${bounds.min} to ${bounds.max}`;
  return z
    .string()
    .regex(/^\d{1,15}$/, message)
    .transform(Number)
    .refine((value) => value >= bounds.min && value <= bounds.max, message);
}

/** A TCP port; 0 lets the system choose. */
export function portSetting(): z.ZodType<number> {
  return numberSetting({ min: 0, max: 65_535 });
}

/** `true`, `1`, `yes`, `on` and their opposites. */
export function booleanSetting(): z.ZodType<boolean> {
  return z
    .string()
    .regex(/^(true|false|1|0|yes|no|on|off)$/i, 'must be true or false')
    .transform((text) => /^(true|1|yes|on)$/i.test(text));
}

/** A base URL of one of these schemes, without user information, query or fragment; a trailing slash is dropped. */
export function urlSetting(schemes: readonly string[] = ['http', 'https']): z.ZodType<string> {
  return z
    .string()
    .refine(
      (text) => isBaseUrl(text, schemes),
      `must be a URL that starts with ${schemes.map((each) => `${each}://`).join(' or ')} and has no user, query or fragment`,
    )
    .transform((text) => text.replace(/\/+$/, ''));
}

function isBaseUrl(text: string, schemes: readonly string[]): boolean {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  return schemes.includes(url.protocol.slice(0, -1)) && url.username === '' && url.password === '' && url.search === '' && url.hash === '';
}

/** Texts separated by commas; empty ones are dropped. */
export function listSetting(): z.ZodType<string[]> {
  return z.string().transform((text) =>
    text
      .split(',')
      .map((part) => part.trim())
      .filter((part) => part !== ''),
  );
}

/** A Redis server, or nodes of a Redis Cluster separated by commas. */
export function redisSetting(): z.ZodType<string> {
  return z.string().superRefine((text, context) => {
    const problem = findRedisUrlProblem(text);
    if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
  });
}

function signingKeysSetting(): z.ZodType<ReturnType<typeof parseSigningKeys>> {
  return z.string().transform((text, context) => {
    try {
      return parseSigningKeys(text);
    } catch (error) {
      context.addIssue({ code: 'custom', message: error instanceof Error ? error.message : 'cannot be read' });
      return z.NEVER;
    }
  });
}

const logLevel = z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info');

/** What every worker process reads, to be spread into its own settings. */
export const workerProcessFields = {
  WORKER_HOST: z.string().default('127.0.0.1'),
  /** 0 takes a free port; the ready line names it. */
  WORKER_PORT: portSetting().default(0),
  /** `/metrics` and `/health`; nothing listens without a port. */
  PRIVATE_HOST: z.string().default('127.0.0.1'),
  PRIVATE_PORT: portSetting().optional(),
  LOG_LEVEL: logLevel,
};

export type WorkerProcessSettings = z.output<z.ZodObject<typeof workerProcessFields>>;

/** What every service process reads. */
export const processSettings = z.object({
  TOLLGATE_SIGNING_KEYS: signingKeysSetting(),
  /** Address to listen on. */
  SERVICE_HOST: z.string().default('127.0.0.1'),
  /** With `--all` the first of consecutive ports, one a service; 0 takes free ports. */
  SERVICE_PORT: portSetting().default(8080),
  /** Milliseconds after SIGTERM for which requests are still taken, so that gateways notice before they are refused. */
  SERVICE_LEAVE_MS: numberSetting({ min: 0, max: 60_000 }).default(3_000),
  /** Requests of one subscription at a time, for every heavy product, in this process; the catalogue's numbers unless set. */
  SERVICE_SLOTS: numberSetting({ min: 1, max: 10_000 }).optional(),
  /** `/metrics`, `/health` and `/ready`. */
  PRIVATE_HOST: z.string().default('127.0.0.1'),
  PRIVATE_PORT: portSetting().default(9090),
  /** The products; the same file for every process. */
  CATALOGUE_FILE: z.string().default(CATALOGUE_FILE),
  SANDBOX_URL: urlSetting().optional(),
  DATABASE_URL: z.string().optional(),
  REDIS_URL: redisSetting().optional(),
  QUOTA_TIMEZONE: z.string().refine(isTimeZone, 'must be an IANA time zone such as Asia/Kolkata').default('Asia/Kolkata'),
  LOG_LEVEL: logLevel,
});

export type ProcessSettings = z.output<typeof processSettings>;
