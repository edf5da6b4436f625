import { type Document, Lexer, LineCounter, parseDocument, Parser } from 'yaml';

/** A place in a text; both counted from 1, as editors do. */
export interface TextPosition {
  readonly line: number;
  readonly column: number;
}

/** A text as data, and as nodes that know their places. */
export interface YamlText {
  readonly value: unknown;
  readonly document: Document.Parsed;
  placeAt(this: void, offset: number): TextPosition;
}

/** What is wrong with a text as YAML: nothing of it is used. */
export interface YamlProblem extends TextPosition {
  readonly message: string;
}

/** Far more than people write. A short text whose lists name each other would otherwise unfold into more than memory holds. */
const MAX_ALIASES = 1_000_000;
/** What aliases may add to a text, in characters of JSON: twice the largest document that is read. */
const MAX_UNFOLDED = 16 * 1024 * 1024;
/** Descriptions of APIs nest about 30 levels. From 600 on, keys that are lists themselves take minutes and all memory. */
const MAX_NESTED = 100;
const TOO_DEEP = `is nested more than ${MAX_NESTED} levels deep`;
const TOO_MANY_ALIASES: YamlProblem = { line: 1, column: 1, message: 'names its own parts too often by aliases' };

/** Reads YAML 1.2, of which JSON is a part. A tag that YAML does not define is a problem too: its value would be a guess. */
export function readYaml(text: string): YamlText | { readonly problems: readonly YamlProblem[] } {
  const lineCounter = new LineCounter();
  const deepAt = findTooDeep(text);
  if (deepAt) return { problems: [{ ...deepAt, message: TOO_DEEP }] };
  const document = parseDocument(text, { lineCounter, prettyErrors: false });
  const placeAt = (offset: number): TextPosition => {
    const { line, col } = lineCounter.linePos(offset);
    return { line: Math.max(1, line), column: Math.max(1, col) };
  };
  const wrong = [...document.errors, ...document.warnings];
  if (wrong.length > 0) return { problems: wrong.map(({ pos, message }) => ({ ...placeAt(pos[0]), message })) };
  try {
    const value: unknown = document.toJS({ maxAliasCount: MAX_ALIASES });
    if (unfoldedSize(value, new Map()) > text.length + MAX_UNFOLDED) return { problems: [TOO_MANY_ALIASES] };
    return { value, document, placeAt };
  } catch (error) {
    if (!(error instanceof ReferenceError)) throw error;
    return { problems: [TOO_MANY_ALIASES] };
  }
}

/** Where a text nests too deep. Tokens are read one by one, so that nothing of what is deeper is ever built. */
function findTooDeep(text: string): TextPosition | undefined {
  const lines = new LineCounter();
  lines.addNewLine(0);
  const parser = new Parser(lines.addNewLine);
  for (const lexeme of new Lexer().lex(text)) {
    // Its tokens say nothing here; reading them is what moves the parser on.
    Array.from(parser.next(lexeme));
    // The document itself is one.
    if (parser.stack.length <= MAX_NESTED + 1) continue;
    const { line, col } = lines.linePos(parser.offset);
    return { line: Math.max(1, line), column: Math.max(1, col) };
  }
  return undefined;
}

/** About as many characters as JSON has for it. An object that is named often is one object: it is measured once and counted often. */
function unfoldedSize(value: unknown, known: Map<object, number>): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 4;
  const before = known.get(value);
  if (before !== undefined) return before;
  let size = 2;
  for (const [name, member] of Object.entries(value)) size += 1 + (Array.isArray(value) ? 0 : name.length) + unfoldedSize(member, known);
  known.set(value, size);
  return size;
}
