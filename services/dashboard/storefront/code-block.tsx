import { type ReactNode } from 'react';

/** What a sample is written in. */
export type CodeLanguage = 'json' | 'shell' | 'script';

/** In the order in which they are looked for: a text before a number in it. The names are classes of public.css. */
const TOKENS: Readonly<Record<CodeLanguage, RegExp>> = {
  json: /(?<key>"(?:[^"\\]|\\.)*"(?=\s*:))|(?<string>"(?:[^"\\]|\\.)*")|(?<word>\b(?:true|false|null)\b)|(?<number>-?\b\d+(?:\.\d+)?(?:[eE][+-]?\d+)?\b)/g,
  // JavaScript, TypeScript and Python, as far as one look tells.
  script:
    /(?<comment>\/\/[^\n]*|(?<=^|\s)#[^\n]*)|(?<string>'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`[^`]*`)|(?<word>\b(?:async|await|catch|class|const|def|else|except|export|false|False|for|from|function|if|import|in|let|new|None|not|null|return|throw|true|True|try|with)\b)|(?<number>\b\d+(?:\.\d+)?\b)/g,
  shell:
    /(?<comment>(?<=^|\s)#[^\n]*)|(?<string>'[^']*'|"(?:[^"\\]|\\.)*")|(?<word>(?<=^|\n)\s*[a-z]+\b)|(?<key>(?<=\s)--?[A-Za-z][\w-]*)/g,
};

function colour(code: string, language: CodeLanguage): ReactNode[] {
  const parts: ReactNode[] = [];
  let end = 0;
  for (const match of code.matchAll(TOKENS[language])) {
    const kind = Object.entries(match.groups ?? {}).find(([, text]) => text !== undefined)?.[0];
    parts.push(
      code.slice(end, match.index),
      <span key={match.index} className={`code-${kind}`}>
        {match[0]}
      </span>,
    );
    end = match.index + match[0].length;
  }
  return [...parts, code.slice(end)];
}

interface CodeBlockProps {
  readonly code: string;
  readonly language: CodeLanguage;
  /** For who does not see it. */
  readonly label: string;
  /** What a button beside it copies, in its words. */
  readonly copy?: string;
}

/** Code in colours, without a script. It can be scrolled with the keyboard. */
export function CodeBlock({ code, language, label, copy }: CodeBlockProps): ReactNode {
  return (
    <pre tabIndex={0} aria-label={label} role="region" data-copy={copy}>
      <code>{colour(code, language)}</code>
    </pre>
  );
}
