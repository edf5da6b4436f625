import { type Document, Lexer, LineCounter, parseDocument, Parser } from 'yaml';

/** A place in a text. Both numbers count from 1, like those of editors. */
export interface TextPosition {
  readonly line: number;
  readonly column: number;
}

/** A text as data, and as nodes with their places. */
export interface YamlText {
  readonly value: unknown;
  readonly document: Document.Parsed;
  placeAt(this: void, offset: number): TextPosition;
}

/** A problem of a text as YAML. Nothing of the text is used. */
export interface YamlProblem extends TextPosition {
  readonly message: string;
}

/** Far more than people write. Otherwise a short text with lists that refer to each other could unfold to more than the memory. */
const MAX_ALIASES = 1_000_000;
/** Maximum characters of JSON that aliases may add to a text: twice the largest document that is read. */
const MAX_UNFOLDED = 16 * 1024 * 1024;
/** Descriptions of APIs nest about 30 levels. From 600 levels on, keys that are lists themselves take minutes and all memory. */
const MAX_NESTED = 100;
const TOO_DEEP = `is nested more than ${MAX_NESTED} levels deep`;
const TOO_MANY_ALIASES: YamlProblem = { line: 1, column: 1, message: 'refers to its own parts too often by aliases' };

/** Reads YAML 1.2, which includes JSON. A tag that YAML does not define is a problem too, because its value would be a guess. */
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

/** The place at which a text nests too deep. Tokens are read one by one, so that nothing deeper is ever built. */
function findTooDeep(text: string): TextPosition | undefined {
  const lines = new LineCounter();
  lines.addNewLine(0);
  const parser = new Parser(lines.addNewLine);
  for (const lexeme of new Lexer().lex(text)) {
    // Reading the tokens moves the parser on. They are not needed otherwise.
    Array.from(parser.next(lexeme));
    // One level is the document itself.
    if (parser.stack.length <= MAX_NESTED + 1) continue;
    const { line, col } = lines.linePos(parser.offset);
    return { line: Math.max(1, line), column: Math.max(1, col) };
  }
  return undefined;
}

/** The approximate number of characters as JSON. An object that is referred to several times is measured once, and counted each time. */
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
