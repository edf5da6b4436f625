import { type Document, LineCounter, parseDocument } from 'yaml';

/** A place in a text; both counted from 1, as editors do. */
export interface Place {
  readonly line: number;
  readonly column: number;
}

/** A text as data, and as nodes that know their places. */
export interface YamlText {
  readonly value: unknown;
  readonly document: Document.Parsed;
  placeAt(this: void, offset: number): Place;
}

/** What is wrong with a text as YAML: nothing of it is used. */
export interface YamlProblem extends Place {
  readonly message: string;
}

/** Far more than people write. A short text whose lists name each other would otherwise unfold into more than memory holds. */
const MOST_ALIASES = 1_000_000;

/** Reads YAML 1.2, of which JSON is a part. A tag that YAML does not define is a problem too: its value would be a guess. */
export function readYaml(text: string): YamlText | { readonly problems: readonly YamlProblem[] } {
  const lineCounter = new LineCounter();
  const document = parseDocument(text, { lineCounter, prettyErrors: false });
  const placeAt = (offset: number): Place => {
    const { line, col } = lineCounter.linePos(offset);
    return { line: Math.max(1, line), column: Math.max(1, col) };
  };
  const wrong = [...document.errors, ...document.warnings];
  if (wrong.length > 0) return { problems: wrong.map(({ pos, message }) => ({ ...placeAt(pos[0]), message })) };
  try {
    return { value: document.toJS({ maxAliasCount: MOST_ALIASES }) as unknown, document, placeAt };
  } catch (error) {
    if (!(error instanceof ReferenceError)) throw error;
    return { problems: [{ line: 1, column: 1, message: 'names its own parts too often by aliases' }] };
  }
}
