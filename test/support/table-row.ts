import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const ROOT = resolve(__dirname, '../..');

/** Leaves a row for the table of a page. @throws Error for a case that the suite's list, for example `test/support/faults/faults.json`, does not name */
export function recordRow(list: string, name: string, row: object): void {
  const known = JSON.parse(readFileSync(join(ROOT, list), 'utf8')) as { name: string }[];
  if (!known.some((each) => each.name === name)) throw new Error(`${list} does not name "${name}"`);
  const folder = join(ROOT, '.test', list.split('/')[1] ?? '');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${name.replaceAll(/[^a-z0-9]+/gi, '-')}.json`), `${JSON.stringify(row, null, 2)}\n`);
}
