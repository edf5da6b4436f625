import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { addToList } from '../../cli/commands/add-to-list';

const entry = { id: 'new', limits: { daily: 1 }, list: ['a: b', '/x/'] };
const catalogue = readFileSync('kong/catalogue.yml', 'utf8');

it('keeps every byte of the shipped files and adds the entry at the end of its list', () => {
  for (const [text, list] of [
    [catalogue, 'products'],
    [readFileSync('kong/kong.yml', 'utf8'), 'services'],
  ] as const) {
    const written = addToList(text, { list, entry, comment: 'Added.' });
    expect(written.startsWith(text)).toBe(true);
    expect(parse(written)[list]).toEqual([...parse(text)[list], entry]);
    expect(written.slice(text.length)).toContain('\n  # Added.\n  - id: new\n');
  }
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
  expect(() => addToList(text, { list: 'list', entry })).toThrow('there is no list of list in it');
});
