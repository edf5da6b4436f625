// Prints a table that a run's rows make, or with --write puts it between two markers of a page.
import { readFileSync, writeFileSync } from 'node:fs';

/** @param {{ page: string, begin: string, end: string, makeTable: () => string }} options `page`: path of the file */
export function printOrWrite({ page, begin, end, makeTable }) {
  try {
    const table = makeTable();
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
