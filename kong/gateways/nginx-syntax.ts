/** One directive of an nginx configuration. `block` is set if it has braces. */
export interface Directive {
  readonly name: string;
  readonly args: readonly string[];
  readonly block: readonly Directive[] | undefined;
}

/** Reads the files that an include names; its pattern may contain `*`. @throws Error naming a file that cannot be read */
export type ReadIncluded = (pattern: string) => readonly string[];

type Token = { readonly text: string; readonly isQuoted: boolean };

const TOKEN = /#[^\n]*|"((?:\\[^]|[^"\\])*)"|'((?:\\[^]|[^'\\])*)'|[{};]|(?:\\[^]|\$\{\w+\}|[^\s{};#"'\\])(?:\\[^]|\$\{\w+\}|[^\s{};\\])*/g;

function tokenize(text: string): Token[] {
  return [...text.matchAll(TOKEN)]
    .filter(([whole]) => !whole.startsWith('#'))
    .map(([whole, double, single]) => {
      const quoted = double ?? single;
      return { text: quoted ?? whole, isQuoted: quoted !== undefined };
    });
}

/**
 * Parses an nginx configuration with everything that it includes.
 * @throws Error if it is not such a configuration
 */
export function parseNginx(text: string, readIncluded: ReadIncluded): Directive[] {
  const tokens = tokenize(text);
  let at = 0;
  const parseBlock = (isInner: boolean): Directive[] => {
    const directives: Directive[] = [];
    let words: string[] = [];
    for (; at < tokens.length; at++) {
      const { text: word, isQuoted } = tokens[at] ?? { text: '', isQuoted: false };
      if (isQuoted || !/^[{};]$/.test(word)) {
        words.push(word);
        continue;
      }
      if (word === '}') {
        if (!isInner || words.length > 0) throw new Error('the braces of the configuration do not match');
        return directives;
      }
      const [name = '', ...args] = words;
      words = [];
      if (word === '{') {
        at++;
        directives.push({ name, args, block: parseBlock(true) });
      } else if (name === 'include') {
        for (const included of readIncluded(args[0] ?? '')) directives.push(...parseNginx(included, readIncluded));
      } else directives.push({ name, args, block: undefined });
    }
    if (isInner || words.length > 0) throw new Error('the configuration ends in the middle of a directive');
    return directives;
  };
  return parseBlock(false);
}
