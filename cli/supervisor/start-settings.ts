import { parseSharedKeys } from '../../plugins/core/proof/context-keys';
import { isTimeZone } from '../../plugins/core/access/quota';
import { findRedisUrlProblem } from '../../plugins/core/redis-address';
import { readPrivateKey } from '../../plugins/server/signing-settings';
import { readKeySet } from '../../services/kit/service/proof-settings';

/** Database URLs for each kind of process, with its own role; all the same when the platform engineer sets a single URL. */
export interface DatabaseUrls {
  /** URL of the schema's owner, for migrations and the command line. */
  readonly owner: string;
  readonly plugin: string;
  readonly dashboard: string;
  readonly service: string;
}

/** Settings that `npm start` itself reads. Everything else in the environment is passed on unread; the processes check it. */
export interface StartSettings {
  /** Undefined: run the embedded server. */
  readonly databaseUrls: DatabaseUrls | undefined;
  /** Undefined: count quotas in PostgreSQL. */
  readonly redisUrl: string | undefined;
  readonly proof: ProofSettings;
  /** IANA name. */
  readonly quotaTimeZone: string;
}

/** The platform engineer's settings for the keys of proofs. `keepProofKeys` supplies the rest. */
interface ProofSettings {
  readonly secrets: string | undefined;
  readonly privateKey: string | undefined;
  readonly keySet: string | undefined;
  readonly sharedKeys: string | undefined;
}

/** The time zone of the customer's business day. */
export const DEFAULT_QUOTA_TIMEZONE = 'Asia/Kolkata';

type Check = (text: string) => string | undefined;

function urlOf(schemes: readonly string[]): Check {
  return (text) => {
    const ok = URL.canParse(text) && schemes.includes(new URL(text).protocol);
    return ok ? undefined : `must be a URL that starts with ${schemes.map((scheme) => `${scheme}//`).join(' or ')}`;
  };
}

/** The parser's own message about the mistake. */
function parses(parse: (text: string) => unknown): Check {
  return (text) => {
    try {
      parse(text);
      return undefined;
    } catch (error) {
      return error instanceof Error ? error.message : 'cannot be read';
    }
  };
}

const postgresUrl = urlOf(['postgres:', 'postgresql:']);

const CHECKS: Readonly<Record<string, Check>> = {
  DATABASE_URL: postgresUrl,
  PLUGIN_DATABASE_URL: postgresUrl,
  DASHBOARD_DATABASE_URL: postgresUrl,
  SERVICE_DATABASE_URL: postgresUrl,
  REDIS_URL: findRedisUrlProblem,
  QUOTA_TIMEZONE: (text) => (isTimeZone(text) ? undefined : 'must be an IANA time zone such as Asia/Kolkata'),
  TOLLGATE_CONTEXT_SECRETS: parses(parseSharedKeys),
  TOLLGATE_CONTEXT_PRIVATE_KEY: parses(readPrivateKey),
  TOLLGATE_CONTEXT_JWKS: parses((text) => readKeySet(text)),
  TOLLGATE_SIGNING_KEYS: parses(parseSharedKeys),
};

/** Mistakes in the common settings, one text for each setting, never its value. Empty counts as absent. */
export function findSettingProblems(env: NodeJS.ProcessEnv): string[] {
  return Object.entries(CHECKS).flatMap(([name, check]) => {
    const value = env[name];
    const problem = value ? check(value) : undefined;
    return problem === undefined ? [] : [`${name} ${problem}`];
  });
}

function databaseUrlsOf(owner: string, env: NodeJS.ProcessEnv): DatabaseUrls {
  return {
    owner,
    plugin: env['PLUGIN_DATABASE_URL'] || owner,
    dashboard: env['DASHBOARD_DATABASE_URL'] || owner,
    service: env['SERVICE_DATABASE_URL'] || owner,
  };
}

/** @throws Error that lists every problem in one line */
export function readStartSettings(env: NodeJS.ProcessEnv): StartSettings {
  const problems = findSettingProblems(env);
  if (problems.length > 0) throw new Error(`the environment cannot be used: ${problems.join('; ')}`);
  const { DATABASE_URL, REDIS_URL, QUOTA_TIMEZONE } = env;
  return {
    databaseUrls: DATABASE_URL ? databaseUrlsOf(DATABASE_URL, env) : undefined,
    redisUrl: REDIS_URL || undefined,
    proof: {
      secrets: env['TOLLGATE_CONTEXT_SECRETS'] || undefined,
      privateKey: env['TOLLGATE_CONTEXT_PRIVATE_KEY'] || undefined,
      keySet: env['TOLLGATE_CONTEXT_JWKS'] || undefined,
      sharedKeys: env['TOLLGATE_SIGNING_KEYS'] || undefined,
    },
    quotaTimeZone: QUOTA_TIMEZONE || DEFAULT_QUOTA_TIMEZONE,
  };
}
