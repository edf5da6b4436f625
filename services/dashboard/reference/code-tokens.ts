/** The language of a sample. */
export type CodeLanguage = 'json' | 'shell' | 'script';

/**
 * Token patterns in the order in which they are tried: a string comes before a number in it. The names are those of colours in public.css.
 */
const TOKENS: Readonly<Record<CodeLanguage, RegExp>> = {
  json: /(?<key>"(?:[^"\\]|\\.)*"(?=\s*:))|(?<string>"(?:[^"\\]|\\.)*")|(?<word>\b(?:true|false|null)\b)|(?<number>-?\b\d+(?:\.\d+)?(?:[eE][+-]?\d+)?\b)/g,
  // JavaScript, TypeScript, Python, Go and PHP, as far as patterns can tell.
  script:
    /(?<comment>\/\/[^\n]*|(?<=^|\s)#[^\n]*)|(?<string>'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`[^`]*`)|(?<word>\b(?:async|await|catch|class|const|def|defer|echo|else|except|export|false|False|for|from|func|function|if|import|in|let|new|nil|None|not|null|package|return|throw|true|True|try|with)\b)|(?<number>\b\d+(?:\.\d+)?\b)/g,
  shell:
    /(?<comment>(?<=^|\s)#[^\n]*)|(?<string>'[^']*'|"(?:[^"\\]|\\.)*")|(?<word>(?<=^|\n)\s*[a-z]+\b)|(?<key>(?<=\s)--?[A-Za-z][\w-]*)/g,
};

interface Token {
  readonly kind: string;
  readonly from: number;
  readonly to: number;
}

/** The coloured tokens of a code, in order. */
export function tokensOf(code: string, language: CodeLanguage): readonly Token[] {
  return [...code.matchAll(TOKENS[language])].flatMap((match) => {
    const kind = Object.entries(match.groups ?? {}).find(([, text]) => text !== undefined)?.[0];
    return kind === undefined ? [] : [{ kind, from: match.index, to: match.index + match[0].length }];
  });
}
