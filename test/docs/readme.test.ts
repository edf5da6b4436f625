import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { CATALOGUE } from '../../plugins/core/catalogue';
import { listProblems } from '../../plugins/core/problems';

const root = join(__dirname, '..', '..');
const readme = readFileSync(join(root, 'README.md'), 'utf8');

describe('the README', () => {
  it('names every code a caller can see, with its status', () => {
    // A caller never sees key_inactive: it reads as key_unknown.
    const seen = listProblems().filter(({ code }) => code !== 'key_inactive');
    expect(seen.filter(({ code, status }) => !readme.includes(`| ${status} | \`${code}\` |`))).toEqual([]);
    expect(readme).not.toContain('`key_inactive`');
  });

  it('names every product of the catalogue', () => {
    expect(CATALOGUE.filter(({ id }) => !readme.includes(id))).toEqual([]);
  });

  it('shows the two commands and links only to what exists', () => {
    expect(readme).toContain('npm start');
    expect(readme).toContain('npm test');
    const pages = ['README.md', 'docs/products.md', 'docs/operations.md'];
    const links = pages.flatMap((page) =>
      [...readFileSync(join(root, page), 'utf8').matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map(([, target = '']) =>
        join(dirname(page), target),
      ),
    );
    expect(links.filter((target) => !existsSync(join(root, target)))).toEqual([]);
  });
});
