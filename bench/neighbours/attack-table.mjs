// The table of attacks in docs/attacks.md, from the rows that the last run of bench/neighbours left under .test/neighbours.
//   node bench/neighbours/attack-table.mjs           prints it
//   node bench/neighbours/attack-table.mjs --write   puts it between the markers in docs/attacks.md
import { printOrWrite } from '../../test/support/table-page.mjs';

/** The load of other programs on the machine in the meantime, which shows how reliable the times are. */
function foreignLine(rows) {
  const shares = rows.map(({ foreignCores }) => foreignCores).sort((a, b) => a - b);
  const [least, most] = [shares[0] ?? 0, shares.at(-1) ?? 0];
  return `Two cores, of which other work had ${least.toFixed(1)} to ${most.toFixed(1)} meanwhile.`;
}

const escape = (text) => text.replaceAll('<', '&lt;');

function makeTable(attacks) {
  const lines = attacks.map(({ name, bystander, attacker, cost }) => `| ${[escape(name), bystander, attacker, cost].join(' | ')} |`);
  const head = ['| attack | a customer’s p99, quiet → attacked | the attacker gets in 6 s | what it costs |', '|---|---|---|---|'];
  return [...head, ...lines, '', foreignLine(attacks)].join('\n');
}

printOrWrite({ folder: 'bench/neighbours', cases: 'attacks', key: 'name', program: 'bench/neighbours/attack-table.mjs', makeTable });
