import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { PRODUCTS } from '../support/catalogue';
import { listProblems } from '../../plugins/core/problems';

const root = join(__dirname, '..', '..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const readme = read('README.md');
const pages = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  ...readdirSync(join(root, 'docs'), { recursive: true })
    .map(String)
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];

/** npm's own that the README uses. */
const NPM_COMMANDS = ['pack', 'i'];

describe('the README', () => {
  it('shows the two commands and stays short', () => {
    expect(readme).toContain('npm start');
    expect(readme).toContain('npm test');
    expect(readme.trimEnd().split('\n').length).toBeLessThan(130);
  });

  it('sells an API by the commands of docs/your-api.md, which a test follows', () => {
    const followed = read('docs/your-api.md').split('\n');
    const [shown = ''] = /```console\n(\$ npx tollgate product new [\s\S]*?)```/.exec(readme)?.slice(1) ?? [];
    const lines = shown.trimEnd().split('\n');
    expect(lines.length).toBeGreaterThan(5);
    expect(lines.filter((line) => !followed.some((each) => each.startsWith(line)))).toEqual([]);
  });

  it('counts the products, and names the Node.js that package.json wants', () => {
    const { engines } = JSON.parse(read('package.json')) as { engines: { node: string } };
    expect(readme).toContain(`Node.js ${engines.node.replace('>=', '')} or later`);
    expect([PRODUCTS.length, PRODUCTS.filter(({ routes }) => routes.length > 0).length]).toEqual([14, 12]);
    expect(readme).toMatch(/fourteen products[^.]*\. Twelve have routes/);
  });

  it('names scripts that exist', () => {
    const scripts = (JSON.parse(read('package.json')) as { scripts: Record<string, string> }).scripts;
    const isKnown = (name: string): boolean => name in scripts || NPM_COMMANDS.includes(name);
    expect([...readme.matchAll(/npm (?:run )?(\w+)/g)].map(([, name = '']) => name).filter((name) => !isKnown(name))).toEqual([]);
  });
});

it('the pictures are all shown by a document, each of 200 KiB at most, and three of them by the README', () => {
  const folder = join(root, 'docs', 'pictures');
  const shown = pages.flatMap((page) =>
    [...read(page).matchAll(/!\[[^\]]+\]\(([^)]+)\)/g)].map(([, to = '']) => join(root, dirname(page), to)),
  );
  const pictures = readdirSync(folder).map((name) => join(folder, name));
  expect(pictures.filter((path) => !shown.includes(path) || statSync(path).size > 200 * 1_024)).toEqual([]);
  expect(readme.match(/!\[/g)).toHaveLength(3);
});

it('the example catalogue names every product of the catalogue', () => {
  const products = read('docs/products.md');
  expect(PRODUCTS.filter(({ id }) => !products.includes(id))).toEqual([]);
});

it('the index of documents links to every page', () => {
  const index = read('docs/README.md');
  const listed = pages.filter((page) => /^docs\/(?!README|decisions\/)/.test(page));
  expect(listed.filter((page) => !index.includes(`(${page.slice('docs/'.length)})`))).toEqual([]);
});

it('the page of codes names every code a caller can see, with its status', () => {
  const codes = read('docs/codes.md');
  // A caller never sees key_inactive: it reads as key_unknown.
  const seen = listProblems().filter(({ code }) => code !== 'key_inactive');
  const rowOf = (status: number): string => codes.split('\n').find((line) => line.startsWith(`| ${status} |`)) ?? '';
  expect(seen.filter(({ code, status }) => !rowOf(status).includes(`\`${code}\``))).toEqual([]);
  expect(codes).not.toContain('`key_inactive`');
});

describe.each(pages)('%s', (page) => {
  it('links only to what exists', () => {
    const links = [...read(page).matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map(([, target = '']) => join(dirname(page), target));
    expect(links.filter((target) => !existsSync(join(root, target)))).toEqual([]);
  });

  it('names only files and folders that exist', () => {
    const named = [...read(page).matchAll(/`((?:plugins|services|kong|cli|protos|test|docs)\/[\w./-]+)`/g)].map(([, path = '']) => path);
    // `test/stores/change-feed` stands for its test file, whatever that needs.
    const exists = (path: string): boolean =>
      existsSync(join(root, path)) || readdirSync(join(root, dirname(path))).some((name) => name.startsWith(`${path.split('/').at(-1)}.`));
    // A product made up for an example.
    const invented = /colour/;
    expect(named.filter((path) => !invented.test(path) && !exists(path))).toEqual([]);
  });
});
