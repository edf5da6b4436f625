// The table of faults in docs/faults.md, from the rows that the last run of test/faults left under .test/faults.
//   node test/support/faults/fault-table.mjs           prints it
//   node test/support/faults/fault-table.mjs --write   puts it between the markers in docs/faults.md
import { readFileSync } from 'node:fs';
import { printOrWrite } from '../table-page.mjs';

const LISTED = JSON.parse(readFileSync(new URL('./faults.json', import.meta.url), 'utf8'));

/** What a valid key saw, with what was lost or counted and how long the recovery took beside it. */
function seen({ clientsSee, lost, recoveredInMs }) {
  const [granted, ...counted] = lost.split('; ');
  const lostUnits = granted === 'nothing' ? [] : [`lost: ${granted}`];
  const recovered = recoveredInMs === 0 ? [] : [`recovered: ${(recoveredInMs / 1000).toFixed(1)} s`];
  return [clientsSee, ...lostUnits, ...counted, ...recovered].join('; ');
}

/** Alerts that fire, those of which any will do with a slash between them; or why none does. */
function alertsOf(fault) {
  const { alerts = [], none } = LISTED.find(({ name }) => name === fault);
  return none === undefined
    ? alerts
        .map((each) =>
          [each]
            .flat()
            .map((name) => `\`${name}\``)
            .join('/'),
        )
        .join(', ')
    : `none: ${none}`;
}

/** `Of 12,345 unauthorised requests, 0 were admitted.` */
function unauthorised(rows) {
  const numbers = rows.map(({ unauthorisedAdmitted }) => unauthorisedAdmitted.replaceAll(',', '').split(' of ').map(Number));
  const [admitted, all] = [0, 1].map((each) => numbers.reduce((sum, row) => sum + row[each], 0).toLocaleString('en'));
  return `Of ${all} unauthorised requests, ${admitted} were admitted.`;
}

function makeTable(faults) {
  const lines = faults.map((row) => `| ${[row.fault, seen(row), alertsOf(row.fault)].join(' | ')} |`);
  return [
    unauthorised(faults),
    '',
    '| fault | a valid key sees (slowest) | [alert](operate/monitor.md#set-it-up) |',
    '|---|---|---|',
    ...lines,
  ].join('\n');
}

printOrWrite({ folder: 'test/faults', cases: 'faults', key: 'fault', program: 'test/support/faults/fault-table.mjs', makeTable });
