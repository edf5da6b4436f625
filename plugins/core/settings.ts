import { z } from 'zod';
import { isTimeZone } from './access/quota';
import { findRedisUrlProblem } from './redis-address';

/** All problems of the environment in one text: a line for each problem, never with a value. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';

  constructor(readonly problems: readonly string[]) {
    super(
      `The settings have ${problems.length === 1 ? 'a problem' : `${problems.length} problems`}:\n${problems.map((each) => `  ${each}`).join('\n')}`,
    );
  }
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** An empty variable counts as absent, because compose files and shells cannot unset one. */
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

/** An IANA time zone; Asia/Kolkata unless given. */
export function timeZoneSetting(): z.ZodType<string> {
  return z.string().refine(isTimeZone, 'must be an IANA time zone such as Asia/Kolkata').default('Asia/Kolkata');
}

/** LOG_LEVEL; info unless given. */
export function logLevelSetting() {
  return z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info');
}
