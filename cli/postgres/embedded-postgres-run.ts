import { type ChildProcess, spawn } from 'node:child_process';
import { chownSync, closeSync, existsSync, mkdtempSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { commandAs, type ServerAccount } from './embedded-postgres-account';
import { removeDrafts, type ServerFiles, serverPrograms } from './embedded-postgres-files';

/** Role and database that Tollgate uses in its own server. */
export const NAME = 'tollgate';
export interface EmbeddedPostgresOptions {
  /** Folder for data, password and port; created when missing. */
  readonly dataDir: string;
  /** Default: the one used last time, else any free one. */
  readonly port?: number;
  /** Where the server's own messages go. Default: `postgres.log` in `dataDir`. */
  readonly logFile?: string;
  /** Further server settings, for example `{ fsync: 'off' }` for throw-away test data. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** One start, from its options to what was found on the machine. */
export interface Run {
  readonly options: EmbeddedPostgresOptions;
  readonly files: ServerFiles;
  readonly account: ServerAccount | undefined;
  readonly password: string;
  readonly logFile: string;
}

/** Starts one of PostgreSQL's programs, its messages going to the log. */
export function launch(run: Run, program: { command: string; args: readonly string[]; paths: readonly string[] }): ChildProcess {
  const { file, args, ids } = commandAs(run.account, program.command, program.args, program.paths);
  const log = openSync(run.logFile, 'a', 0o600);
  try {
    // Its own session: Ctrl-C in the terminal must reach the services first, which still need the database to finish.
    return spawn(file, args, {
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
export function explainFailure(run: Run, task: string): string {
  const recent = readFileSync(run.logFile, 'utf8').slice(-4_000);
  const prefix = `the embedded PostgreSQL could not ${task}`;
  if (/No space left on device/i.test(recent)) return `${prefix}: the disk is full`;
  if (/Address already in use|could not bind/i.test(recent)) return `${prefix}: its port is in use by another program`;
  if (/Permission denied|has invalid permissions|wrong ownership/i.test(recent))
    return `${prefix}: its user may not use ${run.files.folder}`;
  const last = recent.match(/^.*(?:FATAL|PANIC|error):.*$/gm)?.at(-1);
  return `${prefix}: ${last?.replace(/^.*?(?:FATAL|PANIC|error):\s*/, '') ?? 'no reason was given'} (see ${run.logFile})`;
}

/** Runs initdb beside the final place and moves the result there, so that a start cut short leaves no half-made cluster. */
export async function createCluster(run: Run): Promise<void> {
  const { files, account } = run;
  removeDrafts(files);
  const draft = mkdtempSync(join(files.folder, `cluster.${process.pid}.`));
  const pwFile = `${draft}.password`;
  writeFileSync(pwFile, run.password, { mode: 0o600 });
  if (account) for (const path of [draft, pwFile]) chownSync(path, account.uid, account.gid);
  const args = ['-D', draft, `--username=${NAME}`, `--pwfile=${pwFile}`, '--auth=scram-sha-256', '--encoding=UTF8'];
  const locale = ['--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'];
  try {
    const child = launch(run, { command: serverPrograms().initdb, args: [...args, ...locale], paths: [draft] });
    const code = await new Promise<number | null>((done, fail) => child.once('error', fail).once('close', done));
    if (code !== 0) throw new Error(explainFailure(run, 'create its data folder'));
    if (!existsSync(files.cluster)) renameSync(draft, files.cluster);
  } catch (error) {
    // Another starter may have moved its own cluster there between the question and the move.
    if (!existsSync(files.cluster)) throw error;
  } finally {
    rmSync(pwFile, { force: true });
    rmSync(draft, { recursive: true, force: true });
  }
}
