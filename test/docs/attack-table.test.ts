import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import attacks from '../neighbours/attacks.json';
import { customers } from '../support/neighbours/attacks/customers';
import { dashboardAttacks } from '../support/neighbours/attacks/dashboard';
import { strangers } from '../support/neighbours/attacks/strangers';

const page = readFileSync(join(__dirname, '..', '..', 'docs', 'attacks.md'), 'utf8');

/** Cells of the table's rows. */
function rows(): string[][] {
  const between = /<!-- attacks: written by [^>]*-->([\s\S]*?)<!-- attacks: end -->/.exec(page)?.[1] ?? '';
  const lines = between.split('\n').filter((line) => line.startsWith('| '));
  const cells = lines.map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
  return cells.slice(1);
}

const names = attacks.map(({ name }) => name);

describe('the table of attacks', () => {
  it('names exactly the attacks that the suite has', () => {
    expect(rows().map(([name]) => name?.replaceAll('&lt;', '<'))).toEqual(names);
    expect([...strangers, ...customers, ...dashboardAttacks].map(({ name }) => name)).toEqual(names);
  });

  it('says what a customer notices and what the attacker gets, of every attack', () => {
    expect(rows().filter((cells) => cells.length !== 4 || cells.slice(0, 3).includes(''))).toEqual([]);
  });
});
