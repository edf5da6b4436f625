import { isAlias, isMap, isNode, isScalar, isSeq } from 'yaml';
import { type TextPosition, type YamlText } from './read-yaml';

/** One problem of a catalogue, with its place. */
export interface CatalogueProblem extends TextPosition {
  /** `products[2].plans[0].price`; empty for the file itself. */
  readonly place: string;
  readonly message: string;
}

/** A problem at the place where a reader of data finds it. */
export interface PathProblem {
  readonly path: readonly PropertyKey[];
  readonly message: string;
  /** True if the member's name is wrong, not its value. */
  readonly isName?: boolean;
}

type Resolve = (node: unknown) => unknown;

/** Finds lines and columns, in the order of the text. */
export function locateProblems({ document, placeAt }: YamlText, problems: readonly PathProblem[]): CatalogueProblem[] {
  const resolve: Resolve = (node) => (isAlias(node) ? node.resolve(document) : node);
  return problems
    .map((problem) => ({
      ...placeAt(offsetOf(document.contents, problem, resolve)),
      place: placeOf(problem.path),
      message: problem.message,
    }))
    .sort((a, b) => a.line - b.line || a.column - b.column);
}

/** The line of each item in a list of the file; empty if there is no such list. */
export function linesOfItems({ document, placeAt }: YamlText, list: string): number[] {
  const items = document.get(list);
  return isSeq(items) ? items.items.map((item) => placeAt(startOf(item) ?? 0).line) : [];
}

/** Where the last existing part of the path begins: a missing member is missing from its object. */
function offsetOf(contents: unknown, { path, isName = false }: PathProblem, resolve: Resolve): number {
  let node = contents;
  let offset = startOf(contents) ?? 0;
  for (const [index, part] of path.entries()) {
    const child = childOf(resolve(node), part);
    if (!child) return offset;
    const isNameWanted = isName && index === path.length - 1;
    // An absent value has no place of its own.
    offset = (isNameWanted ? undefined : startOf(child.value)) ?? startOf(child.name) ?? offset;
    node = child.value;
  }
  return offset;
}

function childOf(node: unknown, part: PropertyKey): { name?: unknown; value: unknown } | undefined {
  if (isSeq(node) && typeof part === 'number') return { value: node.items[part] };
  if (!isMap(node)) return undefined;
  const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === String(part));
  return pair && { name: pair.key, value: pair.value };
}

function startOf(node: unknown): number | undefined {
  return isNode(node) ? node.range?.[0] : undefined;
}

function placeOf(path: readonly PropertyKey[]): string {
  const place = path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`)).join('');
  return place.replace(/^\./, '');
}
