// The table of faults in docs/faults.md, from the rows that the last run of test/faults left under .test/faults.
//   node test/support/faults/fault-table.mjs           prints it
//   node test/support/faults/fault-table.mjs --write   puts it between the markers in docs/faults.md
import { printOrWrite } from '../table-page.mjs';

/** Blank if requests were served as soon as the part was back. */
function recovery({ recoveredInMs }) {
  return recoveredInMs === 0 ? '' : `${(recoveredInMs / 1000).toFixed(1)} s`;
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

function makeTable(faults) {
  const lines = faults.map((row) => `| ${[row.fault, seen(row), recovery(row)].join(' | ')} |`);
  return [unauthorised(faults), '', '| fault | a valid key sees (slowest) | recovered |', '|---|---|---|', ...lines].join('\n');
}

printOrWrite({ folder: 'test/faults', cases: 'faults', key: 'fault', program: 'test/support/faults/fault-table.mjs', makeTable });
