import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import faults from '../support/faults/faults.json';
import { readAlerts } from '../observability/support/metric-names';
import { type ListedFault } from '../support/faults/firing-alerts';
import { KONG_SCHEMA } from '../../plugins/access-layer/config';
import attacks from '../../bench/neighbours/attacks.json';
import { customers } from '../../bench/neighbours/attacks/customers';
import { dashboardAttacks } from '../../bench/neighbours/attacks/dashboard';
import { strangers } from '../../bench/neighbours/attacks/strangers';

const root = join(__dirname, '..', '..');

/** Cells of the rows of the table that a program writes between comments with this name. */
function rowsOf(page: string, name: string): string[][] {
  const between = new RegExp(`<!-- ${name}: written by [^>]*-->([\\s\\S]*?)<!-- ${name}: end -->`).exec(page)?.[1] ?? '';
  const lines = between.split('\n').filter((line) => line.startsWith('| '));
  const cells = lines.map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
  return cells.slice(1);
}

describe('docs/faults.md', () => {
  const page = readFileSync(join(root, 'docs', 'faults.md'), 'utf8');
  const rows = rowsOf(page, 'faults');

  it('names exactly the faults that the suite has, what is seen and who is told, with nothing unauthorised admitted', () => {
    expect(rows.map(([name]) => name)).toEqual(faults.map(({ name }) => name));
    expect(rows.filter((cells) => cells.length !== 3 || cells.includes(''))).toEqual([]);
    expect(page).toMatch(/^Of \d[\d,]+ unauthorised requests, 0 were admitted\.$/m);
  });

  // `recordObservation`, which leaves the rows, asks whether they fire.
  it('names for every row alerts that are among the rules, or says why nobody is told', () => {
    const rules = readAlerts().map(({ alert }) => alert);
    for (const { name, alerts = [], none = '' } of faults as readonly ListedFault[]) {
      expect([name, alerts.flat().filter((each) => !rules.includes(each))]).toEqual([name, []]);
      // One of the two.
      expect([name, alerts.length > 0]).toEqual([name, none === '']);
      const shown = alerts
        .map((each) =>
          [each]
            .flat()
            .map((alert) => `\`${alert}\``)
            .join('/'),
        )
        .join(', ');
      expect([name, rows.find(([fault]) => fault === name)?.[2]]).toEqual([name, none === '' ? shown : `none: ${none}`]);
    }
    expect(page).toMatch(/## Payments\n\n[^|]*No alert: nothing is lost, /);
  });

  it('has a test for every row', () => {
    const folder = join(root, 'test', 'faults');
    const tests = readdirSync(folder)
      .filter((name) => name.endsWith('.test.ts'))
      .map((name) => readFileSync(join(folder, name), 'utf8'));
    // A test of a table of cases writes the part that differs as ${way}.
    const isNamed = (name: string): boolean =>
      tests.some((text) => [name, name.replace(/ahead$|behind$/, '${way}')].some((each) => text.includes(each)));
    expect(faults.filter(({ name }) => !isNamed(name))).toEqual([]);
  });

  it('names a test that there is for each fault of payments', () => {
    const table = /## Payments\n([\s\S]*?)\n## /.exec(page)?.[1] ?? '';
    const named = [...table.matchAll(/\| `([a-z-]+)`: ([^|]+) \|$/gm)].map(([, file = '', test = '']) => ({ file, test }));
    expect(named).toHaveLength(table.split('\n').filter((line) => line.startsWith('| ')).length - 1);
    const textOf = (file: string): string => readFileSync(join(root, 'test/dashboard/billing', `${file}.stores.test.ts`), 'utf8');
    expect(named.filter(({ file, test }) => !textOf(file).includes(test))).toEqual([]);
  });
});

it('docs/catalogue.md and the catalogue’s schema say that anyone may try an API that answers test keys itself', () => {
  const page = readFileSync(join(root, 'docs', 'catalogue.md'), 'utf8').replaceAll(/\s+/g, ' ');
  expect(page).toMatch(
    /`service`: the API itself, .{0,60}\. Anyone may then try it from its public pages without an account, unless `DASHBOARD_PUBLIC_TRY` is off/,
  );
  expect(readFileSync(join(root, 'kong', 'catalogue.schema.json'), 'utf8')).toContain('anyone may try it without an account');
});

it('docs/attacks.md names exactly the attacks that the suite has, with what a customer notices and what the attacker gets', () => {
  const rows = rowsOf(readFileSync(join(root, 'docs', 'attacks.md'), 'utf8'), 'attacks');
  const names = attacks.map(({ name }) => name);
  expect(rows.map(([name]) => name?.replaceAll('&lt;', '<'))).toEqual(names);
  expect([...strangers, ...customers, ...dashboardAttacks].map(({ name }) => name)).toEqual(names);
  expect(rows.filter((cells) => cells.length !== 4 || cells.slice(0, 3).includes(''))).toEqual([]);
});

it('docs/operate/existing-kong.md names the settings of the plugin, with their defaults', () => {
  const page = readFileSync(join(root, 'docs', 'operate', 'existing-kong.md'), 'utf8');
  const rows = [...page.matchAll(/^\| `(\w+)` \| (.*?) \|/gm)].map(([, name, value]) => [name, value?.replaceAll('`', '')]);
  const fields = KONG_SCHEMA.flatMap((field) => Object.entries(field)) as [string, { default?: unknown }][];
  const shown = (value: unknown): string => (Array.isArray(value) ? 'all four' : value === undefined ? 'required' : String(value));
  expect(rows).toEqual(fields.map(([name, { default: value }]) => [name, shown(value)]));
});
