import { type ReactNode } from 'react';
import { type CodeLanguage, tokensOf } from '../reference/code-tokens';

function colour(code: string, language: CodeLanguage): ReactNode[] {
  const parts: ReactNode[] = [];
  let end = 0;
  for (const { kind, from, to } of tokensOf(code, language)) {
    parts.push(
      code.slice(end, from),
      <span key={from} className={`code-${kind}`}>
        {code.slice(from, to)}
      </span>,
    );
    end = to;
  }
  return [...parts, code.slice(end)];
}

interface CodeBlockProps {
  readonly code: string;
  readonly language: CodeLanguage;
  /** For screen readers. */
  readonly label: string;
  /** What the copy button copies, in words. */
  readonly copy?: string;
}

/** Coloured code without a script. It can be scrolled with the keyboard. */
export function CodeBlock({ code, language, label, copy }: CodeBlockProps): ReactNode {
  return (
    <pre tabIndex={0} aria-label={label} role="region" data-copy={copy}>
      <code>{colour(code, language)}</code>
    </pre>
  );
}
