// The table of faults in docs/faults.md, from the rows that the last run of test/faults left under .test/faults.
//   node test/support/faults/fault-table.mjs           prints it
//   node test/support/faults/fault-table.mjs --write   puts it between the markers in docs/faults.md
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { printOrWrite } from '../table-page.mjs';

const ROOT = resolve(import.meta.dirname, '..', '..', '..');
const ROWS = join(ROOT, '.test', 'faults');
const PAGE = join(ROOT, 'docs', 'faults.md');
const BEGIN = '<!-- faults: written by test/support/faults/fault-table.mjs -->';
const END = '<!-- faults: end -->';

const read = (file) => JSON.parse(readFileSync(file, 'utf8'));

function readRows() {
  const files = existsSync(ROWS) ? readdirSync(ROWS).filter((name) => name.endsWith('.json')) : [];
  return new Map(files.map((name) => read(join(ROWS, name))).map((row) => [row.fault, row]));
}

function recovery({ recoveredInMs }) {
  if (recoveredInMs === null) return '';
  return recoveredInMs === 0 ? 'at once' : `${(recoveredInMs / 1000).toFixed(1)} s`;
}

/** What a valid key saw, with what was lost or counted beside it. */
function seen({ clientsSee, lost }) {
  const [granted, ...counted] = lost.split('; ');
  return [clientsSee, ...(granted === 'nothing' ? [] : [`lost: ${granted}`]), ...counted].join('; ');
}

/** `Of 12,345 unauthorised requests, 0 were admitted.` */
function unauthorised(rows) {
  const numbers = rows.map(({ unauthorisedAdmitted }) => unauthorisedAdmitted.replaceAll(',', '').split(' of ').map(Number));
  const [admitted, all] = [0, 1].map((each) => numbers.reduce((sum, row) => sum + row[each], 0).toLocaleString('en'));
  return `Of ${all} unauthorised requests, ${admitted} were admitted.`;
}

/** Every fault of faults.json in its order; one that was not run cannot be left out unnoticed. */
function table(rows) {
  const faults = read(join(ROOT, 'test', 'faults', 'faults.json'));
  const missing = faults.filter(({ name }) => !rows.has(name)).map(({ name }) => name);
  if (missing.length > 0) throw new Error(`no row of a run for: ${missing.join('; ')}. Run npm test -- test/faults first.`);
  const found = faults.map(({ name }) => rows.get(name));
  const lines = found.map((row) => `| ${[row.fault, seen(row), recovery(row)].join(' | ')} |`);
  return [unauthorised(found), '', '| fault | a valid key sees | recovered |', '|---|---|---|', ...lines].join('\n');
}

printOrWrite({ page: PAGE, begin: BEGIN, end: END, makeTable: () => table(readRows()) });
