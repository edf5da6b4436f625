import MarkdownIt from 'markdown-it';
import { createElement, Fragment, type ReactNode } from 'react';
import { linkKind } from '../brand/link-target';
import { type CodeLanguage } from '../reference/code-tokens';
import { CodeBlock } from './code-block';

/** The target of a link in the text; undefined: the link is shown as plain text. */
type LinkTo = (target: string) => string | undefined;

interface MarkdownProps {
  readonly text: string;
  /** Heading level of `#`; 1 unless given. */
  readonly level?: 1 | 2 | 3;
  /** {@link safeLink} unless given. */
  readonly linkTo?: LinkTo;
}

/** A longer paragraph is shown without formatting: each mark could become an element. */
const MAX_INLINE = 4_000;
/** Maximum nesting of elements. Deeper blocks are left out, and deeper text is not formatted. */
const MAX_DEPTH = 100;

/**
 * CommonMark with tables. HTML is shown as text. There are no pictures, so that a page makes no request for its author, and no reference
 * links: a long address that is used often would fill the memory.
 */
const reader = new MarkdownIt({ html: false, maxNesting: MAX_DEPTH }).disable(['image', 'reference']);
// `linkTo` judges every link as written.
reader.validateLink = () => true;
reader.normalizeLink = (target) => target;
reader.inline.ruler.before('text', 'long', (state) => {
  if (state.src.length <= MAX_INLINE) return false;
  state.pending = state.src;
  state.pos = state.posMax;
  return true;
});

/** Accepts web and mail addresses, places of this site and anchors. Any other scheme, such as `javascript:`, is not a link. */
export function safeLink(target: string): string | undefined {
  return linkKind(target) && target;
}

/** A link in a stranger's text: only to other sites, and without recommending them. */
function foreignLink(target: string): string | undefined {
  const kind = linkKind(target);
  return kind === 'https' || kind === 'http' ? target : undefined;
}

const textOf = (tokens: readonly MarkdownIt.Token[]): string =>
  tokens
    .map(({ type, children, content, block }) => (children ? textOf(children) : content) + (block || /break$/.test(type) ? ' ' : ''))
    .join('');

/** A text without its formatting, as titles and searches need it. */
export function plainText(text: string): string {
  return textOf(reader.parse(text, {})).replace(/\s+/g, ' ').trim();
}

/** `Limits and retries` → `limits-and-retries`. */
export function anchorOf(heading: string): string {
  return plainText(heading)
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .replace(/^-|-$/g, '');
}

const LANGUAGES: ReadonlyMap<string, CodeLanguage> = new Map([
  ...['json'].map((name) => [name, 'json'] as const),
  ...['sh', 'bash', 'shell', 'console'].map((name) => [name, 'shell'] as const),
  ...['javascript', 'js', 'typescript', 'ts', 'python', 'py'].map((name) => [name, 'script'] as const),
]);

function Code({ code, name }: { readonly code: string; readonly name: string }): ReactNode {
  const language = LANGUAGES.get(name);
  if (language) return <CodeBlock code={code} language={language} label={`Code, ${name}`} copy="code" />;
  return (
    <pre tabIndex={0} aria-label={`Code${name === '' ? '' : `, ${name}`}`} role="region" data-copy="code">
      <code>{code}</code>
    </pre>
  );
}

interface Context {
  readonly level: number;
  readonly linkTo: LinkTo;
}

/** An element that is still open. */
interface Open {
  readonly token: MarkdownIt.Token;
  /** Its text, including marks. */
  readonly text: string;
  readonly children: ReactNode[];
}

function elementOf({ token, text, children }: Open, { level, linkTo }: Context): ReactNode {
  if (token.hidden) return children;
  const isForeign = linkTo === foreignLink;
  switch (token.type) {
    case 'heading_open':
      // A stranger's anchor could be the same as one of the page's own.
      return createElement(
        `h${Math.min(level + Number(token.tag.slice(1)) - 1, 6)}`,
        { id: isForeign ? undefined : anchorOf(text) },
        children,
      );
    case 'link_open': {
      const href = linkTo(String(token.attrGet('href')));
      if (href === undefined) return children;
      return (
        <a href={href} rel={isForeign ? 'nofollow noopener' : undefined}>
          {children}
        </a>
      );
    }
    case 'th_open':
      return <th scope="col">{children}</th>;
    default:
      return createElement(token.tag, undefined, children);
  }
}

function leafOf({ type, content, info, children }: MarkdownIt.Token, context: Context): ReactNode {
  switch (type) {
    case 'inline':
      return elementsOf(children ?? [], context);
    case 'code_inline':
      return <code>{content}</code>;
    case 'fence':
    case 'code_block':
      return <Code code={content.replace(/\n$/, '')} name={/^[\w-]*/.exec(info)?.[0] ?? ''} />;
    case 'softbreak':
      return ' ';
    case 'hardbreak':
      return <br />;
    case 'hr':
      return <hr />;
    default:
      return content;
  }
}

function elementsOf(tokens: readonly MarkdownIt.Token[], context: Context): ReactNode[] {
  const all: ReactNode[] = [];
  const open: Open[] = [];
  let tooDeep = 0;
  for (const [key, token] of tokens.entries()) {
    if (token.nesting === 1 && open.length === MAX_DEPTH) tooDeep += 1;
    else if (token.nesting === 1) open.push({ token, text: tokens[key + 1]?.content ?? '', children: [] });
    else if (token.nesting === -1 && tooDeep > 0) tooDeep -= 1;
    else {
      const ended = token.nesting === -1 ? open.pop() : undefined;
      const node = ended ? elementOf(ended, context) : leafOf(token, context);
      (open.at(-1)?.children ?? all).push(<Fragment key={key}>{node}</Fragment>);
    }
  }
  return all;
}

/** Renders Markdown. Its author can make a reader's browser neither run a script nor send a request. */
export function Markdown({ text, level = 1, linkTo = safeLink }: MarkdownProps): ReactNode {
  return elementsOf(reader.parse(text, {}), { level, linkTo });
}

/** An operation's description from an API's own document, below the page's headings. */
export function Description({ text }: { readonly text: string }): ReactNode {
  return <Markdown text={text} level={3} linkTo={foreignLink} />;
}

/** The same inside a line or a cell. */
export function DescriptionLine({ text }: { readonly text: string }): ReactNode {
  return elementsOf(reader.parseInline(text, {}), { level: 3, linkTo: foreignLink });
}
