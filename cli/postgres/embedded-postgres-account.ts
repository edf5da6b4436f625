import { execFileSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/** The system account that PostgreSQL runs as; it refuses to run as root. */
export interface ServerAccount {
  readonly uid: number;
  readonly gid: number;
}

const ACCOUNT = 'postgres';

function idOf(option: '-u' | '-g'): number | undefined {
  try {
    return Number(execFileSync('id', [option, ACCOUNT], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }));
  } catch {
    return undefined;
  }
}

function findAccount(): ServerAccount | undefined {
  const uid = idOf('-u');
  const gid = idOf('-g');
  return uid === undefined || gid === undefined ? undefined : { uid, gid };
}

/**
 * The account to run the server as, or undefined when the caller's own will do. As root it is the owner of the data that exist, else
 * the system user `postgres`, which is created when the machine has none.
 * @throws Error with one readable sentence when it can be neither found nor created
 */
export function serverAccount(cluster: string): ServerAccount | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const owner = existsSync(cluster) ? statSync(cluster) : undefined;
  if (owner && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid };
  const account = findOrCreateAccount();
  // Root copied the data here; PostgreSQL must own them.
  if (owner) execFileSync('chown', ['-R', `${account.uid}:${account.gid}`, cluster]);
  return account;
}

function findOrCreateAccount(): ServerAccount {
  const found = findAccount();
  if (found) return found;
  try {
    execFileSync('useradd', ['--system', '--user-group', '--no-create-home', ACCOUNT], { stdio: 'ignore' });
  } catch (cause) {
    throw new Error(`PostgreSQL cannot run as root, and the system user "${ACCOUNT}" could not be created`, { cause });
  }
  const created = findAccount();
  if (!created) throw new Error(`PostgreSQL cannot run as root, and the system user "${ACCOUNT}" was not found after it was created`);
  return created;
}

/** True when the account may pass through every folder above the path. */
function canReach(account: ServerAccount, path: string): boolean {
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    const { mode, uid, gid } = statSync(folder);
    const bit = uid === account.uid ? 0o100 : gid === account.gid ? 0o010 : 0o001;
    if ((mode & bit) === 0) return false;
    if (folder === dirname(folder)) return true;
  }
}

export interface ServerCommand {
  readonly file: string;
  readonly args: readonly string[];
  readonly ids: { uid?: number; gid?: number };
}

/**
 * A command line that runs a program as the account. Where a folder above one of `paths` is closed to it (a clone below /root, or in
 * a folder made by mktemp), root lends it the one capability that opens folders.
 * @throws Error with one readable sentence when the account cannot get there
 */
export function commandAs(
  account: ServerAccount | undefined,
  command: string,
  args: readonly string[],
  paths: readonly string[],
): ServerCommand {
  if (!account) return { file: command, args, ids: {} };
  const closed = [command, ...paths].find((path) => !canReach(account, path));
  if (closed === undefined) return { file: command, args, ids: { uid: account.uid, gid: account.gid } };
  const setpriv = ['/usr/bin/setpriv', '/bin/setpriv'].find((path) => existsSync(path));
  if (setpriv === undefined) {
    throw new Error(
      `PostgreSQL runs as the user "${ACCOUNT}", which may not enter the folders above ${closed}; open them or move the project`,
    );
  }
  const who = [`--reuid=${account.uid}`, `--regid=${account.gid}`, '--clear-groups'];
  return {
    file: setpriv,
    args: [...who, '--inh-caps=+dac_override', '--ambient-caps=+dac_override', '--securebits=+no_setuid_fixup', command, ...args],
    ids: {},
  };
}
