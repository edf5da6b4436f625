import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

const root = resolve(__dirname, '../..');
const FROM = /(?:from|import|require)[\s(]+'([^']+)'/g;
const TYPES_ALONE = /^import (?:type .*|\{(?: ?type \w+,?)+ \}) from .*$/gm;
const EXTENSIONS = ['', '.ts', '.tsx', '.mjs', '.cjs'];

/** What no unit test may reach: stores, other processes, whole instances, browsers. */
const HEAVY = /^(?:test\/support\/(?:postgres|redis|system)\/|cli\/postgres\/embedded-postgres\.ts$|playwright-core$)/;
const STARTS_PROCESSES = /from '(?:node:)?(?:child_process|cluster)'/;

const importsOf = new Map<string, readonly string[]>();

/** Paths from the root, or names of packages. */
function readImports(file: string): readonly string[] {
  const known = importsOf.get(file);
  if (known) return known;
  const text = readFileSync(join(root, file), 'utf8').replace(TYPES_ALONE, '');
  const found = [...text.matchAll(FROM)].flatMap(([, name = '']) => {
    if (!name.startsWith('.')) return [name];
    const path = relative(root, resolve(root, dirname(file), name));
    return EXTENSIONS.map((extension) => path + extension).filter((each) => /\.\w+$/.test(each) && existsSync(join(root, each)));
  });
  importsOf.set(file, found);
  return found;
}

function reached(file: string): Set<string> {
  const seen = new Set([file]);
  for (const each of seen)
    if (/\.(?:tsx?|[mc]js)$/.test(each) && existsSync(join(root, each))) readImports(each).forEach((next) => seen.add(next));
  return seen;
}

const tests = readdirSync(join(root, 'test'), { recursive: true })
  .map((path) => join('test', String(path)))
  .filter((path) => path.endsWith('.test.ts'));
const units = tests.filter((path) => !/\.\w+\.test\.ts$/.test(path));

test('every suffix of a test file names a project', () => {
  const suffixes = tests.map((path) => /\.(\w+)\.test\.ts$/.exec(path)?.[1]);
  expect([...new Set(suffixes)].sort()).toEqual(['browser', 'measured', 'performance', 'stores', 'system', undefined]);
});

test('what needs a store, a process or a browser says so in its name', () => {
  const wrong = units.flatMap((path) => {
    const heavy = [...reached(path)].find((each) => HEAVY.test(each));
    if (heavy !== undefined) return [`${path} uses ${heavy}`];
    return STARTS_PROCESSES.test(readFileSync(join(root, path), 'utf8')) ? [`${path} starts processes`] : [];
  });
  expect(wrong).toEqual([]);
});
