import { isDeepStrictEqual } from 'node:util';
import { isMap, isSeq, parseDocument, stringify, type YAMLSeq } from 'yaml';

export interface ListEntry {
  /** A list at the file's top level. */
  readonly list: string;
  readonly entry: Readonly<Record<string, unknown>>;
  /** A comment line above the entry. */
  readonly comment?: string;
}

/**
 * Adds an entry to a list of a YAML file that people maintain. Every other byte stays as it is, including comments and style.
 * @returns the file's new text
 * @throws Error when the file has no such list, or the result would not be the list with exactly one entry more
 */
export function addToList(text: string, { list: name, entry, comment }: ListEntry): string {
  const document = parseDocument(text);
  const list: unknown = document.get(name);
  if (document.errors.length > 0 || !isSeq(list)) throw new Error(`it has no list named ${name}`);
  const written = list.flow || list.items.length === 0 ? rewrite(text, name, entry) : splice(text, { list, entry, comment });
  const before: unknown = document.toJS();
  const after: unknown = parseDocument(written).toJS();
  const wanted = { ...(before as object), [name]: [...(list.toJS(document) as unknown[]), entry] };
  if (!isDeepStrictEqual(after, wanted)) throw new Error(`an entry cannot be added to ${name} without changing other parts of the file`);
  return written;
}

/** After the last entry, indented like the first. */
function splice(text: string, { list, entry, comment }: { list: YAMLSeq; entry: object; comment: string | undefined }): string {
  const end = list.range?.[1] ?? text.length;
  const first = text.lastIndexOf('-', startOf(list.items[0]));
  const indent = ' '.repeat(first - (text.lastIndexOf('\n', first) + 1));
  const block = `${comment === undefined ? '' : `# ${comment}\n`}${stringify([entry], { lineWidth: 0, singleQuote: true, flowCollectionPadding: true })}`;
  const lines = block.trimEnd().split('\n');
  const head = text.slice(0, end).replace(/\n*$/, '\n');
  return `${head}\n${lines.map((line) => indent + line).join('\n')}\n${text.slice(end).replace(/^\n*/, (gap) => (text.length === end ? '' : gap || '\n'))}`;
}

function startOf(item: unknown): number {
  return isMap(item) ? (item.range?.[0] ?? 0) : 0;
}

/** An empty list, or one in brackets, has no place for a block: the whole file is written again, with its comments. */
function rewrite(text: string, name: string, entry: object): string {
  const document = parseDocument(text);
  const list = document.get(name);
  if (isSeq(list)) list.flow = false;
  document.addIn([name], document.createNode(entry));
  return document.toString({ lineWidth: 0, singleQuote: true });
}
