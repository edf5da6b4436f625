import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { SERVICES } from '../../services/products/registry';
import { loginUrl } from '../database-roles/create-logins';
import { DATABASE_ROLES, type DatabaseRole } from '../database-roles/privileges';
import { Memory, type Variables, writeVariables } from './credential-files';
import { createAuthority, type IssuedCertificate, issueCertificate } from './issue-certificates';
import { NO_SERVICE, proofVariables } from './proof-credentials';
import { withPassword } from './read-secrets';
import { REDIS_USERS, type RedisUser, writeAclFile } from './redis-users';

type Environment = Readonly<Record<string, string | undefined>>;

/** Kinds of containers. `own` is this program itself. */
const KINDS = ['own', 'plugin', 'dashboard', 'service', 'worker', 'migrate', 'cli', 'redis'] as const;
type Kind = (typeof KINDS)[number];

/**
 * Holders with a folder of their own: a volume that only their containers mount. Each service has one, because it holds the keys of its own
 * products.
 */
export const HOLDERS: readonly string[] = KINDS.flatMap((kind) =>
  kind === 'service' ? [...Object.keys(SERVICES), NO_SERVICE].map((name) => `service-${name}`) : [kind],
);

export interface CredentialsOptions {
  /** The folder that contains a folder for each of {@link HOLDERS}. */
  readonly folder: string;
  /**
   * DATABASE_URL and REDIS_URL if they run elsewhere; PLUGIN_, DASHBOARD_ and SERVICE_DATABASE_URL if roles have logins there;
   * DATABASE_PASSWORD of the superuser of the server in compose; TOLLGATE_CONTEXT_SECRETS if plugin servers run elsewhere too.
   */
  readonly env: Environment;
  /** Host names of the workers, for which their certificate is valid. */
  readonly workers: readonly string[];
}

const BESIDE = { database: 'postgres://tollgate@postgres:5432/tollgate', redis: 'redis://redis:6379' } as const;

/**
 * Each holder's database login. On the server in compose each process has its own role. Elsewhere the platform engineer's URLs are used:
 * DATABASE_URL for all unless roles have logins there.
 */
function databaseVariables(memory: Memory, env: Environment): Partial<Record<Kind, Variables>> {
  const { DATABASE_URL: elsewhere, DATABASE_PASSWORD: password } = env;
  if (elsewhere) {
    const owner = withPassword(elsewhere, password);
    const urlFor = (name: string): Variables => ({ DATABASE_URL: env[name] || owner });
    return {
      plugin: urlFor('PLUGIN_DATABASE_URL'),
      dashboard: urlFor('DASHBOARD_DATABASE_URL'),
      service: urlFor('SERVICE_DATABASE_URL'),
      migrate: { DATABASE_URL: owner },
      cli: { DATABASE_URL: owner },
    };
  }
  const entries = DATABASE_ROLES.map((role): [DatabaseRole, string] => [role, memory.password(`database-${role}`)]);
  const passwords = Object.fromEntries(entries) as Record<DatabaseRole, string>;
  const urlOf = (role: DatabaseRole): Variables => ({ DATABASE_URL: loginUrl(BESIDE.database, role, passwords[role]) });
  return {
    plugin: urlOf('tollgate_plugin'),
    dashboard: urlOf('tollgate_dashboard'),
    service: urlOf('tollgate_service'),
    migrate: {
      ...urlOf('tollgate_migrate'),
      DATABASE_ADMIN_URL: withPassword(BESIDE.database, password),
      DATABASE_LOGINS: JSON.stringify(passwords),
    },
    cli: urlOf('tollgate_migrate'),
  };
}

function redisVariables(memory: Memory, env: Environment): Partial<Record<Kind, Variables>> {
  const entries = REDIS_USERS.map((user): [RedisUser, string] => [user, memory.password(`redis-${user}`)]);
  const passwords = Object.fromEntries(entries) as Record<RedisUser, string>;
  const urlOf = (user: RedisUser): Variables => {
    const url = new URL(BESIDE.redis);
    url.username = user;
    url.password = passwords[user];
    return { REDIS_URL: env['REDIS_URL'] || url.href };
  };
  return {
    plugin: urlOf('tollgate_plugin'),
    service: urlOf('tollgate_service'),
    worker: urlOf('tollgate_worker'),
    cli: urlOf('tollgate_service'),
    redis: { 'users.acl': writeAclFile(passwords), 'operator-password': passwords.tollgate_operator },
  };
}

function tlsVariables(memory: Memory, workers: readonly string[]): Partial<Record<Kind, Variables>> {
  const authority = memory.certificate('authority', () => createAuthority('Tollgate services and workers'));
  const service = memory.certificate('service', () => issueCertificate(authority, 'service'));
  const worker = memory.certificate(`worker ${workers.join(' ')}`, () => issueCertificate(authority, 'worker', workers));
  const variables = ({ certificate, key }: IssuedCertificate): Variables => ({
    WORKER_TLS_CA: authority.certificate,
    WORKER_TLS_CERT: certificate,
    WORKER_TLS_KEY: key,
  });
  return { service: variables(service), worker: variables(worker) };
}

/**
 * Creates the credentials of one machine's containers: a database login and a Redis user for each kind of process, certificates between
 * services and workers, and the keys of proofs. Each holder finds its own credentials in its own folder, and no others. It may run again at
 * every start: existing credentials stay.
 * @throws Error, readable, when TOLLGATE_CONTEXT_SECRETS cannot be read
 */
export function writeCredentials({ folder, env, workers }: CredentialsOptions): void {
  const memory = new Memory(join(folder, 'own'));
  const proofs = proofVariables(memory, env);
  const parts = [databaseVariables(memory, env), redisVariables(memory, env), tlsVariables(memory, workers)];
  for (const holder of HOLDERS.filter((each) => each !== 'own')) {
    const kind = KINDS.find((each) => holder === each || holder.startsWith(`${each}-`)) ?? 'own';
    const variables = parts.reduce<Variables>((all, part) => ({ ...all, ...part[kind] }), { ...proofs[holder] });
    writeVariables(folder, holder, variables);
    // Removes files of a database that was in compose and is now elsewhere.
    for (const name of readdirSync(join(folder, holder))) if (!(name in variables)) rmSync(join(folder, holder, name));
  }
}
