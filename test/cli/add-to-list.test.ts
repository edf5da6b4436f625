import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { addToList } from '../../cli/commands/add-to-list';
import { removeFromList } from '../../cli/commands/remove-from-list';

const entry = { id: 'new', name: 'new', limits: { daily: 1 }, list: ['a: b', '/x/'] };
const catalogue = readFileSync('kong/catalogue.yml', 'utf8');
const kong = readFileSync('kong/kong.yml', 'utf8');
const without = (text: string, list: string, id: string) => removeFromList(text, list, (each) => (each['id'] ?? each['name']) === id);

it.each([
  ['products', catalogue],
  ['services', kong],
])('keeps every byte of the shipped file, adds the entry at the end of %s, and undoes that', (list, text) => {
  const written = addToList(text, { list, entry, comment: 'Added.' });
  expect(written.startsWith(text)).toBe(true);
  expect(parse(written)[list]).toEqual([...parse(text)[list], entry]);
  expect(written.slice(text.length)).toContain('\n  # Added.\n  - id: new\n');
  expect(without(written, list, 'new')).toBe(text);
});

it('keeps what follows the list, with its comments', () => {
  const text = '# head\nlist:\n- id: a # first\n- id: b\n\n# other\nother: {x: [1,2]}\n';
  const written = addToList(text, { list: 'list', entry });
  expect(parse(written)).toEqual({ list: [{ id: 'a' }, { id: 'b' }, entry], other: { x: [1, 2] } });
  expect(written).toMatch(/^# head\nlist:\n- id: a # first\n- id: b\n\n- id: new\n/);
  expect(written).toMatch(/\n# other\nother: \{x: \[1,2\]\}\n$/);
});

it.each(['list: []\n', 'list: [{ id: a }]\n', '# c\nlist: []\n# d\nx: 1\n'])('finds a place in %j', (text) => {
  const written = addToList(text, { list: 'list', entry });
  expect(parse(written)).toEqual({ ...parse(text), list: [...parse(text).list, entry] });
  for (const comment of text.match(/# .$/gm) ?? []) expect(written).toContain(comment);
});

it.each(['', 'list: 1', 'other: []', 'list: ['])('refuses %j', (text) => {
  expect(() => addToList(text, { list: 'list', entry })).toThrow('it has no list named list');
});

describe('taking an entry out', () => {
  it('undoes adding it to an empty list', () => {
    const empty = '# head\nlist: []\nother: 1\n';
    expect(parse(without(addToList(empty, { list: 'list', entry }), 'list', 'new'))).toEqual(parse(empty));
  });

  it('leaves the entries around it as they are, whichever it is', () => {
    const lines = catalogue.split('\n');
    for (const { id } of parse(catalogue).products as { id: string }[]) {
      const left = without(catalogue, 'products', id).split('\n');
      expect(left.length).toBeLessThan(lines.length);
      expect(left.filter((line) => !lines.includes(line))).toEqual([]);
    }
    const names = (parse(kong).services as { name: string }[]).map(({ name }) => name);
    for (const name of names) {
      const written = without(kong, 'services', name);
      // With the comment above it, and with one gap where there were two.
      expect(kong.match(/^ {2}# .*$/gm)?.length).toBeGreaterThan(written.match(/^ {2}# .*$/gm)?.length ?? 0);
      expect(written).not.toContain('\n\n\n');
    }
  });

  it.each([
    ['list:\n- id: new\n  a: |\n    text\n\n    # no comment\n- id: b\n', [{ id: 'b' }]],
    ['list:\n  - id: a # one\n  # of the next\n  - id: new\n\n# other\nother: 1\n', [{ id: 'a' }]],
    ['list:\n  - id: new\n', []],
  ])('of %j', (text, left) => {
    const written = without(text, 'list', 'new');
    expect(parse(written)).toEqual({ ...parse(text), list: left });
    if (text.includes('# other')) expect(written).toBe('list:\n  - id: a # one\n\n# other\nother: 1\n');
  });

  it('changes nothing where it is not there, and refuses a file that it would damage', () => {
    expect(without(catalogue, 'products', 'new')).toBe(catalogue);
    expect(() => without('list: [{ id: new }]\n', 'list', 'new')).toThrow('by hand');
    expect(() => without('a: &a\n  - 1\n', 'list', 'new')).toThrow('it has no list');
  });
});
