// The table of attacks in docs/attacks.md, from the rows that the last run of test/neighbours left under .test/neighbours.
//   node test/support/neighbours/attack-table.mjs           prints it
//   node test/support/neighbours/attack-table.mjs --write   puts it between the markers in docs/attacks.md
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { printOrWrite } from '../table-page.mjs';

const ROOT = resolve(import.meta.dirname, '..', '..', '..');
const ROWS = join(ROOT, '.test', 'neighbours');
const PAGE = join(ROOT, 'docs', 'attacks.md');
const BEGIN = '<!-- attacks: written by test/support/neighbours/attack-table.mjs -->';
const END = '<!-- attacks: end -->';

const read = (file) => JSON.parse(readFileSync(file, 'utf8'));

function readRows() {
  const files = existsSync(ROWS) ? readdirSync(ROWS).filter((name) => name.endsWith('.json')) : [];
  return new Map(files.map((name) => read(join(ROWS, name))).map((row) => [row.name, row]));
}

/** How much of the machine others had meanwhile: it says what the times are worth. */
function foreignLine(rows) {
  const shares = rows.map(({ foreignCores }) => foreignCores).sort((a, b) => a - b);
  const [least, most] = [shares[0] ?? 0, shares.at(-1) ?? 0];
  return `Two cores, of which other work had ${least.toFixed(1)} to ${most.toFixed(1)} meanwhile.`;
}

const escape = (text) => text.replaceAll('<', '&lt;');

/** Every attack of attacks.json in its order; one that was not run cannot be left out unnoticed. */
function table(rows) {
  const attacks = read(join(ROOT, 'test', 'neighbours', 'attacks.json'));
  const missing = attacks.filter(({ name }) => !rows.has(name)).map(({ name }) => name);
  if (missing.length > 0) throw new Error(`no row of a run for: ${missing.join('; ')}. Run npm test -- test/neighbours first.`);
  const lines = attacks.map(({ name }) => {
    const { bystander, attacker, cost } = rows.get(name);
    return `| ${[escape(name), bystander, attacker, cost].join(' | ')} |`;
  });
  const head = ['| attack | a customer’s p99, quiet → attacked | the attacker is answered | what it costs |', '|---|---|---|---|'];
  return [...head, ...lines, '', foreignLine([...rows.values()])].join('\n');
}

printOrWrite({ page: PAGE, begin: BEGIN, end: END, makeTable: () => table(readRows()) });
