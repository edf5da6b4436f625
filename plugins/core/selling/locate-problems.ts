import { isAlias, isMap, isNode, isScalar, isSeq, LineCounter, parseDocument } from 'yaml';

/** One thing that is wrong with a catalogue, and where. */
export interface CatalogueProblem {
  /** Counted from 1, as editors do. */
  readonly line: number;
  readonly column: number;
  /** `products[2].plans[0].price`; empty for the file itself. */
  readonly place: string;
  readonly message: string;
}

/** A problem where a reader of data finds it. */
export interface PathProblem {
  readonly path: readonly PropertyKey[];
  readonly message: string;
  /** The member's name is wrong, not its value. */
  readonly isName?: boolean;
  /** Where its text begins, counted in characters, when the reader knows; then the path means nothing. */
  readonly offset?: number | undefined;
}

type Resolve = (node: unknown) => unknown;

/**
 * Finds lines and columns. What is wrong with the YAML itself is told instead, all of it: then the paths mean nothing yet.
 * @param text the whole file
 */
export function locateProblems(text: string, problems: readonly PathProblem[]): CatalogueProblem[] {
  const lineCounter = new LineCounter();
  const document = parseDocument(text, { lineCounter, prettyErrors: false });
  const resolve: Resolve = (node) => (isAlias(node) ? node.resolve(document) : node);
  const at = (offset: number): { line: number; column: number } => {
    const { line, col } = lineCounter.linePos(offset);
    return { line: Math.max(1, line), column: Math.max(1, col) };
  };
  if (document.errors.length > 0) return document.errors.map(({ pos, message }) => ({ ...at(pos[0]), place: '', message }));
  return problems
    .map((problem) => ({
      ...at(problem.offset ?? offsetOf(document.contents, problem, resolve)),
      place: placeOf(problem.path),
      message: problem.message,
    }))
    .sort((a, b) => a.line - b.line || a.column - b.column);
}

/** Where the last part of the path that is there begins: a member that is missing is missing from its object. */
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
