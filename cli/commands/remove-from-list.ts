import { isDeepStrictEqual } from 'node:util';
import { isMap, isSeq, parseDocument } from 'yaml';

/**
 * Removes entries from a list of a YAML file that people maintain, with the comment lines directly above each. Every other byte stays.
 * @param isGone gets each entry as data
 * @returns the file's new text; unchanged if no entry is removed
 * @throws Error when the file has no such list, or the result would not be the list without these entries
 */
export function removeFromList(text: string, name: string, isGone: (entry: Readonly<Record<string, unknown>>) => boolean): string {
  const document = parseDocument(text);
  const list: unknown = document.get(name);
  if (document.errors.length > 0 || !isSeq(list)) throw new Error(`it has no list named ${name}`);
  const entries = list.toJS(document) as Readonly<Record<string, unknown>>[];
  const kept = entries.filter((entry) => !isGone(entry));
  if (kept.length === entries.length) return text;
  const gone = list.items.filter((_, index) => isGone(entries[index] ?? {}));
  let written = text;
  if (list.flow) throw new Error(`the list ${name} is written in brackets; remove the entry by hand`);
  for (const item of [...gone].reverse()) written = cut(written, isMap(item) ? (item.range?.[0] ?? 0) : 0);
  if (kept.length === 0) written = written.replace(new RegExp(`^(${name}):[ \\t]*$`, 'm'), '$1: []');
  const after: unknown = parseDocument(written).toJS();
  if (!isDeepStrictEqual(after, { ...(document.toJS() as object), [name]: kept })) {
    throw new Error(`an entry cannot be removed from ${name} without changing other parts of the file; remove it by hand`);
  }
  return written;
}

const indentOf = (line: string): number => line.length - line.trimStart().length;

/**
 * Removes the entry whose first member is at an offset: from the comment lines above it to the last line that is indented deeper than its
 * dash.
 */
function cut(text: string, at: number): string {
  const lines = text.split('\n');
  const dash = text.slice(0, text.lastIndexOf('-', at)).split('\n').length - 1;
  let first = dash;
  while (lines[first - 1]?.trimStart().startsWith('#')) first -= 1;
  let last = dash;
  for (let index = dash + 1; index < lines.length; index += 1) {
    const line = lines[index] ?? '';
    if (line.trim() === '') continue;
    if (indentOf(line) <= indentOf(lines[dash] ?? '')) break;
    last = index;
  }
  const before = lines.slice(0, first);
  const after = lines.slice(last + 1);
  const isLast = after.every((line) => line.trim() === '');
  // Of the gaps before and after it, one is left, and none at the end of the file.
  while ((isLast || after[0] === '') && before.at(-1) === '') before.pop();
  return [...before, ...after].join('\n');
}
