import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SECRET_NAMES } from './secret-names';

type Environment = Readonly<Record<string, string | undefined>>;

const TLS_PREFIX = 'WORKER_TLS_';

function readSecretFile(name: string, path: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch (cause) {
    const code = (cause as { code?: unknown } | null)?.code;
    throw new Error(`${name} names a file that cannot be read (${typeof code === 'string' ? code : 'unknown reason'})`, { cause });
  }
}

/** Puts the password into the database's URL. A URL with its own password keeps it. */
export function withPassword(url: string, password: string | undefined): string {
  const problem = new Error('DATABASE_URL must be a postgres:// URL');
  if (!URL.canParse(url)) throw problem;
  const parsed = new URL(url);
  if (!/^postgres(ql)?:$/.test(parsed.protocol)) throw problem;
  if (parsed.password === '' && password) parsed.password = encodeURIComponent(password);
  return parsed.href;
}

/**
 * Reads what write-credentials.ts created for this container, unless the platform engineer set something else; certificates are read all or
 * none. A plugin server with a key from the platform engineer continues to sign with that key alone, because services elsewhere may know no
 * other.
 */
function readCredentials(folder: string, said: Environment): Record<string, string> {
  const hasOwnTls = Object.keys(said).some((name) => name.startsWith(TLS_PREFIX) && said[name]);
  const hasOwnKey = Boolean(said['TOLLGATE_CONTEXT_PRIVATE_KEY'] || said['TOLLGATE_SIGNING_KEYS']);
  const wanted = (name: string): boolean =>
    !said[name] && !(hasOwnTls && name.startsWith(TLS_PREFIX)) && !(hasOwnKey && name === 'TOLLGATE_CONTEXT_SECRETS');
  return Object.fromEntries(
    readdirSync(folder)
      .filter(wanted)
      .map((name) => [name, readSecretFile('CREDENTIALS_DIR', join(folder, name))]),
  );
}

/**
 * Turns files that orchestrators mount into variables that the programs read. If `NAME_FILE` names a file and NAME may hold a secret, the
 * text of that file becomes `NAME`. Other variables that end in `_FILE`, such as `SSL_CERT_FILE`, belong to other programs. An empty file
 * counts as absent, so that a compose file may name `/dev/null` for an unused value. `DATABASE_PASSWORD` is put into `DATABASE_URL`, so
 * that the URL itself need not be a secret. `CREDENTIALS_DIR` names a folder of files that have the names of variables.
 * @returns the variables to add
 * @throws Error that names the variable, never a value
 */
export function readSecrets(env: Environment): Record<string, string> {
  const found: Record<string, string> = {};
  for (const target of SECRET_NAMES) {
    const name = `${target}_FILE`;
    const path = env[name];
    if (!path) continue;
    const secret = readSecretFile(name, path);
    if (secret === '') continue;
    if (env[target]) throw new Error(`${target} and ${name} are both set; remove one`);
    found[target] = secret;
  }
  const url = found['DATABASE_URL'] ?? env['DATABASE_URL'];
  const password = found['DATABASE_PASSWORD'] ?? env['DATABASE_PASSWORD'];
  if (url && password) found['DATABASE_URL'] = withPassword(url, password);
  const folder = env['CREDENTIALS_DIR'];
  return folder ? { ...readCredentials(folder, { ...env, ...found }), ...found } : found;
}
