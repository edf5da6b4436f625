import { type Command } from 'commander';
import { type DatabaseSizes, readTableSizes } from '../../plugins/stores/postgres/table-sizes';
import { type CommandContext, finishCommand, withDatabase } from './command-context';
import { table } from './output';

const HELP = `
The numbers of rows are PostgreSQL's estimates; a dash means that autovacuum has not counted yet. docs/operate/backup.md says how long each
table keeps its rows.

Example:
  npx tollgate sizes`;

/** One decimal below 100 MB; from there on, whole megabytes are precise enough. */
function megabytes(bytes: number): string {
  const value = bytes / 1e6;
  return `${value < 100 ? value.toFixed(1) : value.toFixed(0)} MB`;
}

function showSizes({ bytes, tables }: DatabaseSizes): string {
  const rows = tables.map((each) => [each.table, megabytes(each.bytes), each.rows, each.since?.toISOString().slice(0, 10)]);
  return table(['Table', 'Size', 'Rows', 'Since'], [...rows, ['all of the database', megabytes(bytes), null, null]]);
}

/** `tollgate sizes` */
export function addSizesCommand(program: Command, context: CommandContext): void {
  finishCommand(program.command('sizes').description('show how large each table of the database is, and the date of its oldest row'))
    .addHelpText('after', HELP)
    .action(async () => {
      const sizes = await withDatabase(context, readTableSizes);
      context.output.result(sizes, () => showSizes(sizes));
    });
}
