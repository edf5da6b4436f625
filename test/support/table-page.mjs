// Prints a table that a run's rows make, or with --write puts it between two markers of a page.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '..', '..');

const read = (file) => JSON.parse(readFileSync(file, 'utf8'));

/** One row for each case in their order; one that was not run cannot be left out unnoticed. */
function readRows({ folder, cases, key }) {
  const run = join(ROOT, '.test', basename(folder));
  const files = existsSync(run) ? readdirSync(run).filter((name) => name.endsWith('.json')) : [];
  const rows = new Map(files.map((name) => read(join(run, name))).map((row) => [row[key], row]));
  const names = read(join(ROOT, folder, `${cases}.json`)).map(({ name }) => name);
  const missing = names.filter((name) => !rows.has(name));
  if (missing.length > 0) throw new Error(`no row of a run for: ${missing.join('; ')}. Run npx jest ${folder} first.`);
  return names.map((name) => rows.get(name));
}

/**
 * @param {{ folder: string, cases: string, key: string, program: string, makeTable: (rows: object[]) => string }} options `folder`: from the project's root,
 * with the file `cases`.json and rows that name their case in the member `key`; the page is docs/`cases`.md
 */
export function printOrWrite({ program, makeTable, ...rows }) {
  const page = join(ROOT, 'docs', `${rows.cases}.md`);
  const [begin, end] = [`<!-- ${rows.cases}: written by ${program} -->`, `<!-- ${rows.cases}: end -->`];
  try {
    const table = makeTable(readRows(rows));
    if (!process.argv.includes('--write')) return void process.stdout.write(`${table}\n`);
    const text = readFileSync(page, 'utf8');
    const [from, to] = [text.indexOf(begin), text.indexOf(end)];
    if (from < 0 || to < from) throw new Error(`${page} lacks the markers ${begin} and ${end}`);
    writeFileSync(page, `${text.slice(0, from + begin.length)}\n\n${table}\n\n${text.slice(to)}`);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  }
}
