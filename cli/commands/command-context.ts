import { dirname } from 'node:path';
import { type Command, Option } from 'commander';
import { createPool } from '../../plugins/stores/postgres/pool';
import { type Pool } from 'pg';
import { addressOf, describeConnectionError, isConnectionError } from '../database-problem';
import { dataFolder } from '../supervisor/data-folder';
import { type ProcessIdentity, readState } from '../supervisor/instance-state';
import { isMissingTable } from '../postgres/migrations';
import { CommandError } from '../command-error';
import { type Output } from './output';

/** The context that every command gets. */
export interface CommandContext {
  /** The program's folder. */
  readonly root: string;
  readonly env: NodeJS.ProcessEnv;
  readonly isSameProcess: (identity: ProcessIdentity) => boolean;
  readonly output: Output;
  /** Ends a successful command with an exit code other than 0. */
  readonly exitWith: (code: number) => void;
}

/** The actor in the audit log. */
export const ACTOR = 'cli';

/** A database, and the setting that named it. */
interface NamedDatabase {
  readonly url: string;
  readonly from: string;
}

function findDatabase({ root, env, isSameProcess }: CommandContext): NamedDatabase | undefined {
  const given = env['DATABASE_URL'];
  if (given) return { url: given, from: 'as DATABASE_URL says' };
  const folder = dataFolder(root, env);
  const state = readState(folder);
  if (!state || state.databaseUrl === '' || !isSameProcess(state.supervisor)) return undefined;
  return { url: state.databaseUrl, from: `of the instance with the data folder ${folder}` };
}

/** The database that commands work on and the reason, for people. Never shows user and password. */
export function describeDatabase(context: CommandContext): string {
  const found = findDatabase(context);
  if (!found) return `none: DATABASE_URL is not set, and no instance runs with the data folder ${dataFolder(context.root, context.env)}`;
  const name = URL.canParse(found.url) ? new URL(found.url).pathname.slice(1) : '';
  return `${addressOf(found.url)}${name === '' ? '' : `, database ${name}`}, ${found.from}`;
}

/**
 * The database that commands work on: DATABASE_URL, otherwise that of the instance that runs from this folder.
 * @throws CommandError `not_running`
 */
export function findDatabaseUrl(context: CommandContext): string {
  const found = findDatabase(context);
  if (found) return found.url;
  const folder = dirname(dataFolder(context.root, context.env));
  throw new CommandError(
    'not_running',
    `Tollgate does not run from ${folder}: start it there with npx tollgate start (in a clone npm start), or set DATABASE_URL`,
  );
}

/** A command's query that takes longer waits for a lock or a dead server. */
const STATEMENT_TIMEOUT_MS = 10_000;

/** Runs `work` with a connection and closes it. @throws CommandError when there is no database to work with */
export async function withDatabase<T>(context: CommandContext, work: (db: Pool) => Promise<T>, connections = 1): Promise<T> {
  const url = findDatabaseUrl(context);
  const db = createPool(url, { max: connections, statementTimeoutMs: STATEMENT_TIMEOUT_MS, applicationName: 'tollgate cli' });
  try {
    return await work(db);
  } catch (error) {
    if (isConnectionError(error)) throw new CommandError('database_unavailable', describeConnectionError(error, url), { cause: error });
    if (!isMissingTable(error)) throw error;
    throw new CommandError('database_unprepared', 'the database lacks tables of this version; npx tollgate doctor says which migrations', {
      cause: error,
    });
  } finally {
    await db.end();
  }
}

/**
 * Adds what all commands share: `--json` (which may stand anywhere, so the program itself reads it), and the rule that excess arguments are
 * a mistake.
 */
export function finishCommand(command: Command): Command {
  return command.addOption(new Option('--json', 'print one JSON text instead')).allowExcessArguments(false);
}
