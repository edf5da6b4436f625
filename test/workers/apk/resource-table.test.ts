import { resolveValue, ResourceTable } from '../../../services/workers/apk/resources/resource-table';
import { textOf, VALUE } from '../../../services/workers/apk/resources/resource-value';
import { type EntryEncoding, writeResourceTable } from '../../support/apk/apk-resource-table';

const FIRST = 0x7f010000;

function textsOf(table: ResourceTable, id: number): Record<string, string | undefined> {
  return Object.fromEntries(table.valuesOf(id).map(({ locale, value }) => [locale, textOf(value)]));
}

function resolved(table: ResourceTable, id: number): string | undefined {
  const value = resolveValue(table, { type: VALUE.reference, data: id });
  return value && textOf(value);
}

describe('a resource table', () => {
  it.each<EntryEncoding>(['plain', 'sparse', 'offset16', 'compact'])('gives the values of %s entries', (encoding) => {
    const table = new ResourceTable(
      writeResourceTable([
        { encoding, entries: { 0: 'zero', 3: 'three', 9: 'nine' } },
        { encoding, language: 'hi', entries: { 3: 'तीन' } },
      ]),
    );
    expect(textsOf(table, FIRST)).toEqual({ '': 'zero' });
    expect(textsOf(table, FIRST + 3)).toEqual({ '': 'three', hi: 'तीन' });
    expect(textsOf(table, FIRST + 9)).toEqual({ '': 'nine' });
    for (const missing of [1, 2, 8, 10, 0xffff]) expect(textsOf(table, FIRST + missing)).toEqual({});
  });

  it('follows references to the default value', () => {
    const table = new ResourceTable(
      writeResourceTable([
        { encoding: 'plain', language: 'hi', entries: { 1: 'हिन्दी' } },
        { encoding: 'plain', entries: { 0: FIRST + 1, 1: 'default' } },
      ]),
    );
    expect(resolved(table, FIRST)).toBe('default');
  });

  it('ends at references in a circle, to nothing, and to the platform', () => {
    const table = new ResourceTable(
      writeResourceTable([{ encoding: 'plain', entries: { 0: FIRST + 1, 1: FIRST, 2: FIRST + 77, 3: 0x01040000 } }]),
    );
    for (const entry of [0, 1, 2, 3]) expect(resolved(table, FIRST + entry)).toBeUndefined();
  });

  it('lists its texts', () => {
    const table = new ResourceTable(writeResourceTable([{ encoding: 'plain', entries: { 0: 'a', 1: 'हिन्दी', 2: '한 😀' } }]));
    expect([...table.strings()]).toEqual(['a', 'हिन्दी', '한 😀']);
  });
});
