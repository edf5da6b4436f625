import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const root = resolve(__dirname, '../..');
/** What no unit test may use by itself: processes, browsers, whole instances. What reaches a store through others needs the folder of a run, and throws. */
const HEAVY = /from '(?:(?:node:)?(?:child_process|cluster)|playwright-core|[./]+\/support\/(?:postgres|redis|system)\/.*)'/;

const tests = readdirSync(join(root, 'test'), { recursive: true })
  .map((path) => join('test', String(path)))
  .filter((path) => path.endsWith('.test.ts'));
const units = tests.filter((path) => !/\.\w+\.test\.ts$/.test(path));

it('every suffix of a test file names a project', () => {
  const suffixes = tests.map((path) => /\.(\w+)\.test\.ts$/.exec(path)?.[1]);
  expect([...new Set(suffixes)].sort()).toEqual(['browser', 'measured', 'performance', 'stores', 'system', undefined]);
});

it('what needs a store, a process or a browser says so in its name', () => {
  const importsOf = (path: string): string =>
    readFileSync(join(root, path), 'utf8').replace(/^import (?:type .*|\{(?: ?type \w+,?)+ \}) from .*$/gm, '');
  expect(units.filter((path) => HEAVY.test(importsOf(path)))).toEqual([]);
});
