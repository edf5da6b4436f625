import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, closeSync, existsSync, mkdtempSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { commandAs, type ServerAccount, serverAccount } from './embedded-postgres-account';
import { DRAFT_PREFIX, readOrCreatePassword, removeDrafts, type ServerFiles, serverFiles, serverPrograms } from './embedded-postgres-files';

/** Role and database that Tollgate uses in its own server. */
export const NAME = 'tollgate';

/** What one start found on the machine. */
export interface Run {
  readonly files: ServerFiles;
  readonly account: ServerAccount | undefined;
  readonly password: string;
  readonly logFile: string;
}

/** Finds out how the server is to be run. @throws Error with one readable sentence when the folder cannot be used */
export function prepareRun({ dataDir, logFile }: { readonly dataDir: string; readonly logFile?: string | undefined }): Run {
  try {
    const files = serverFiles(dataDir);
    const log = logFile ?? join(files.folder, 'postgres.log');
    closeSync(openSync(log, 'a', 0o600));
    const account = serverAccount(files.cluster);
    // A copy made by other programs may be open to all; PostgreSQL refuses such a folder.
    if (existsSync(files.cluster)) chmodSync(files.cluster, 0o700);
    return { files, account, password: readOrCreatePassword(files), logFile: log };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    const reason = code === 'ENOSPC' ? 'the disk is full' : code === 'EACCES' ? 'permission was denied' : message;
    throw new Error(`the embedded PostgreSQL could not use ${dataDir}: ${reason}`, { cause: error });
  }
}

/** Runs one of PostgreSQL's programs on `folder`, its messages going to the log. */
export function launch(
  { account, logFile }: Run,
  { command, folder, args }: { command: string; folder: string; args: string[] },
): ChildProcess {
  const { file, args: words, ids } = commandAs(account, command, ['-D', folder, ...args], [folder]);
  const log = openSync(logFile, 'a', 0o600);
  try {
    // A session of its own: Ctrl-C in the terminal must reach the services first, which still need the database to finish.
    return spawn(file, words, {
      ...ids,
      detached: true,
      cwd: '/',
      env: { PATH: process.env['PATH'] ?? '', LC_ALL: 'C' },
      stdio: ['ignore', log, log],
    });
  } finally {
    closeSync(log);
  }
}

/** Turns what the server wrote last into one sentence. */
export function explainFailure({ logFile }: Run, task: string): Error {
  const messages = readFileSync(logFile, 'utf8').match(/(?<=(?:FATAL|PANIC|error): ).*$/gm);
  return new Error(`the embedded PostgreSQL could not ${task}: ${messages?.at(-1)?.trim() ?? 'no reason was given'} (see ${logFile})`);
}

/** Runs initdb beside the final place and moves the result there, so that a start cut short leaves no half-made cluster. */
export async function createCluster(run: Run): Promise<void> {
  const { files, account, password } = run;
  const draft = mkdtempSync(join(files.folder, DRAFT_PREFIX));
  const pwFile = `${draft}.password`;
  writeFileSync(pwFile, password, { mode: 0o600 });
  if (account) for (const path of [draft, pwFile]) chownSync(path, account.uid, account.gid);
  const locale = ['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'];
  const args = [`--username=${NAME}`, `--pwfile=${pwFile}`, '--auth=scram-sha-256', ...locale];
  try {
    const initdb = launch(run, { command: serverPrograms().initdb, folder: draft, args });
    const [code] = (await once(initdb, 'close')) as [number | null];
    if (code !== 0) throw explainFailure(run, 'create its data folder');
    renameSync(draft, files.cluster);
  } finally {
    removeDrafts(files);
  }
}
