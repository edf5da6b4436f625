import { type Command } from 'commander';
import { createPool } from '../../plugins/stores/postgres/pool';
import { describeConnectionError, isConnectionError } from '../database-problem';
import { type CommandContext, findDatabaseUrl, finishCommand, withDatabase } from './command-context';
import { CommandError } from '../command-error';
import { type Database } from '../../plugins/stores/postgres/database';
import { table } from './output';

const HELP = `
Compares every table of the database (DATABASE_URL, or the instance that runs from this folder) with a restored copy on the same server:
the number of rows and a digest of their contents. Exit code 1 when a table differs or is missing.

Example:
  npx tollgate restore-check restored`;

/** A digest of one table. */
interface TableFingerprint {
  readonly table: string;
  readonly rows: number;
  /** Sum of a hash of each row; null for an empty table. It detects accidents, but proves nothing against an attacker. */
  readonly digest: string | null;
}

const TABLES = `
SELECT quote_ident(tablename) AS name FROM pg_tables WHERE schemaname = current_schema() ORDER BY tablename`;

/**
 * PostgreSQL quotes the table's name, which comes from its own list; no text of a caller gets here. A sum needs neither memory for a
 * million rows nor their order. A bigint holds 15 hexadecimal digits.
 */
const fingerprintOf = (name: string): string => `
SELECT count(*)::float8 AS rows, sum(('x' || left(md5(t::text), 15))::bit(60)::bigint)::text AS digest FROM ${name} t`;

/** Fingerprints every table of the schema, by name. Nothing should write meanwhile: tables are read one after the other. */
async function fingerprintDatabase(db: Database): Promise<TableFingerprint[]> {
  const { rows: tables } = await db.query<{ name: string }>(TABLES);
  const found: TableFingerprint[] = [];
  for (const { name } of tables) {
    const { rows } = await db.query<{ rows: number; digest: string | null }>(fingerprintOf(name));
    found.push({ table: name, rows: rows[0]?.rows ?? 0, digest: rows[0]?.digest ?? null });
  }
  return found;
}

/** A table in both databases; undefined where it does not exist. */
interface Compared {
  readonly table: string;
  readonly original: TableFingerprint | undefined;
  readonly restored: TableFingerprint | undefined;
  readonly same: boolean;
}

/** The tables of both databases by name, and whether their contents are equal. */
function compareFingerprints(original: readonly TableFingerprint[], restored: readonly TableFingerprint[]): Compared[] {
  const names = [...new Set([...original, ...restored].map((each) => each.table))].sort();
  return names.map((name) => {
    const [before, after] = [original, restored].map((list) => list.find((each) => each.table === name));
    const same = before !== undefined && after !== undefined && before.rows === after.rows && before.digest === after.digest;
    return { table: name, original: before, restored: after, same };
  });
}

async function readRestored(databaseUrl: string, name: string): Promise<TableFingerprint[]> {
  const url = new URL(databaseUrl);
  url.pathname = `/${encodeURIComponent(name)}`;
  const db = createPool(url.href, { max: 1, applicationName: 'tollgate restore check' });
  try {
    return await fingerprintDatabase(db);
  } catch (cause) {
    const reason = isConnectionError(cause) ? `: ${describeConnectionError(cause, url.href)}` : '';
    throw new CommandError('database_unavailable', `the database "${name}" cannot be read${reason}`, { cause });
  } finally {
    await db.end();
  }
}

/** `tollgate restore-check` */
export function addRestoreCheckCommand(program: Command, context: CommandContext): void {
  finishCommand(program.command('restore-check').description('compare a restored copy with the database'))
    .argument('<database>', 'name of the restored database')
    .addHelpText('after', HELP)
    .action(async (name: string) => {
      const original = await withDatabase(context, fingerprintDatabase);
      const tables = compareFingerprints(original, await readRestored(findDatabaseUrl(context), name));
      const rows = tables.map((each) => [
        each.same ? '✓' : '✗',
        each.table,
        each.original?.rows ?? 'missing',
        each.restored?.rows ?? 'missing',
      ]);
      context.output.result({ same: tables.every(({ same }) => same), tables }, () => table(['', 'Table', 'Rows', 'Restored'], rows));
      const differing = tables.filter(({ same }) => !same).map((each) => each.table);
      if (differing.length > 0) throw new CommandError('restore_differs', `these tables differ: ${differing.join(', ')}`);
    });
}
