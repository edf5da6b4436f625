import { Fragment, type ReactNode } from 'react';
import { linkKind } from '../brand/link-target';
import { CodeBlock, type CodeLanguage } from './code-block';

/** Where a link of the text leads; undefined: it is shown as text alone. */
type LinkTo = (target: string) => string | undefined;

interface MarkdownProps {
  readonly text: string;
  /** What `#` becomes; 1 unless given. */
  readonly level?: 1 | 2 | 3;
  /** {@link safeLink} unless given. */
  readonly linkTo?: LinkTo;
}

/** A longer paragraph is shown without emphasis and links: finding them takes the square of its length. */
const MAX_INLINE = 4_000;
/** Of one block; what has more is cut into several. */
const MAX_LINES = 2_000;
/** Lists and quotes within each other. Deeper ones are shown as text. */
const DEEPEST = 5;

/** Web and mail addresses, places of this site and anchors. Every other scheme, `javascript:` among them, is no link. */
export function safeLink(target: string): string | undefined {
  return linkKind(target) && target;
}

/** Of what a stranger wrote: to other sites alone, and recommending none. */
function foreignLink(target: string): string | undefined {
  const kind = linkKind(target);
  return kind === 'https' || kind === 'http' ? target : undefined;
}

const relOf = (linkTo: LinkTo): string | undefined => (linkTo === foreignLink ? 'nofollow noopener' : undefined);

const INLINE =
  /`(?<code>[^`]+)`|\*\*(?<strong>[^*]+)\*\*|\*(?<emphasis>[^*\s][^*]*)\*|\[(?<text>[^[\]]+)\]\((?<target>[^()\s]*(?:\([^()\s]*\)[^()\s]*)?)\)|<(?<address>https?:\/\/[^\s<>]+)>|\\(?<escaped>[\\`*_{}[\]()#+.!|<>-])/g;

function inline(text: string, linkTo: LinkTo): ReactNode {
  if (text.length > MAX_INLINE) return text;
  const parts: ReactNode[] = [];
  let end = 0;
  for (const match of text.matchAll(INLINE)) {
    parts.push(text.slice(end, match.index), <Fragment key={match.index}>{inlinePart(match.groups ?? {}, linkTo)}</Fragment>);
    end = match.index + match[0].length;
  }
  return [...parts, text.slice(end)];
}

function inlinePart(
  { code, strong, emphasis, text, target, address, escaped }: Record<string, string | undefined>,
  linkTo: LinkTo,
): ReactNode {
  if (code !== undefined) return <code>{code}</code>;
  if (strong !== undefined) return <strong>{inline(strong, linkTo)}</strong>;
  if (emphasis !== undefined) return <em>{inline(emphasis, linkTo)}</em>;
  if (address !== undefined) {
    return (
      <a href={address} rel={relOf(linkTo)}>
        {address}
      </a>
    );
  }
  if (text === undefined || target === undefined) return escaped;
  const href = linkTo(target);
  if (href === undefined) return inline(text, linkTo);
  return (
    <a href={href} rel={relOf(linkTo)}>
      {inline(text, linkTo)}
    </a>
  );
}

/** A text without its marks, as titles and searches need it. */
export function plainText(text: string): string {
  return text
    .replace(/^(?:```.*|#{1,6}\s+|\s*(?:[-*]|\d+\.)\s+|>\s?)/gm, '')
    .replace(INLINE, (...match) => {
      const { code, strong, emphasis, text: label, address, escaped } = match.at(-1) as Record<string, string | undefined>;
      return code ?? strong ?? emphasis ?? (label && plainText(label)) ?? address ?? escaped ?? '';
    })
    .replace(/[\s|]+/g, ' ')
    .trim();
}

/** `Limits and retries` → `limits-and-retries`. */
export function anchorOf(heading: string): string {
  return plainText(heading)
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .replace(/^-|-$/g, '');
}

const LANGUAGES: Readonly<Record<string, CodeLanguage>> = {
  ...{ json: 'json', sh: 'shell', bash: 'shell', shell: 'shell', console: 'shell' },
  ...{ javascript: 'script', js: 'script', typescript: 'script', ts: 'script', python: 'script', py: 'script' },
};

function Code({ code, name }: { readonly code: string; readonly name: string }): ReactNode {
  const language = LANGUAGES[name];
  if (language) return <CodeBlock code={code} language={language} label={`Code, ${name}`} copy="code" />;
  return (
    <pre tabIndex={0} aria-label={`Code${name === '' ? '' : `, ${name}`}`} role="region" data-copy="code">
      <code>{code}</code>
    </pre>
  );
}

const cellsOf = (line: string): string[] =>
  line
    .trim()
    .replace(/^\||\|$/g, '')
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim());

function Table({ lines: [head = '', , ...rows], linkTo }: { readonly lines: readonly string[]; readonly linkTo: LinkTo }): ReactNode {
  return (
    <table>
      <thead>
        <tr>
          {cellsOf(head).map((cell, index) => (
            <th key={index} scope="col">
              {inline(cell, linkTo)}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row, index) => (
          <tr key={index}>
            {cellsOf(row).map((cell, place) => (
              <td key={place}>{inline(cell, linkTo)}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const ITEM = /^(?<mark>[-*]|\d{1,9}\.)\s+/;
const FENCE = /^```(?<name>[\w-]*)/;
const HEADING = /^(?<marks>#{1,4})\s+(?<text>.+?)\s*#*$/;
const TABLE_LINE = /^\|?[\s:|-]*-[\s:|-]*$/;

interface Context {
  readonly level: number;
  readonly linkTo: LinkTo;
  readonly depth: number;
}

/** How many lines from the first on belong together, by what the first one is. */
function lengthOf(lines: readonly string[]): number {
  const [first = '', second = ''] = lines;
  const until = (isOver: (line: string, index: number) => boolean): number => {
    const end = lines.findIndex((line, index) => index > 0 && isOver(line, index));
    return end === -1 ? lines.length : end;
  };
  if (FENCE.test(first)) {
    const end = until((line) => line.startsWith('```'));
    return Math.min(end + 1, lines.length);
  }
  if (HEADING.test(first)) return 1;
  if (first.startsWith('>')) return until((line) => !line.startsWith('>'));
  if (first.includes('|') && second.includes('-') && TABLE_LINE.test(second)) return until((line) => !line.includes('|'));
  if (ITEM.test(first)) {
    return until(
      (line, index) => !ITEM.test(line) && !/^\s+\S/.test(line) && !(line === '' && /^\s|^[-*]\s|^\d+\.\s/.test(lines[index + 1] ?? '')),
    );
  }
  return until((line) => line === '' || FENCE.test(line) || HEADING.test(line) || ITEM.test(line) || line.startsWith('>'));
}

/** The items of a list, each with its own lines, without their marks and indents. */
function itemsOf(lines: readonly string[]): string[][] {
  const items: string[][] = [];
  for (const line of lines) {
    const mark = ITEM.exec(line);
    if (mark) items.push([line.slice(mark[0].length)]);
    else items.at(-1)?.push(line.replace(/^\s{1,4}/, ''));
  }
  return items;
}

function blockOf(lines: readonly string[], context: Context): ReactNode {
  const [first = '', second = ''] = lines;
  const { linkTo, level, depth } = context;
  const fence = FENCE.exec(first);
  if (fence) {
    const end = lines.length > 1 && lines.at(-1)?.startsWith('```') ? -1 : undefined;
    return <Code code={lines.slice(1, end).join('\n')} name={fence.groups?.['name'] ?? ''} />;
  }
  const heading = HEADING.exec(first);
  if (heading) {
    const text = heading.groups?.['text'] ?? '';
    const Tag = `h${Math.min(level + (heading.groups?.['marks']?.length ?? 1) - 1, 6)}` as 'h1';
    // A stranger's anchor could be one of the page's own.
    return <Tag id={linkTo === foreignLink ? undefined : anchorOf(text)}>{inline(text, linkTo)}</Tag>;
  }
  if (first.startsWith('>') && depth < DEEPEST)
    return (
      <blockquote>
        {blocksOf(
          lines.map((line) => line.replace(/^>\s?/, '')),
          { ...context, depth: depth + 1 },
        )}
      </blockquote>
    );
  if (first.includes('|') && TABLE_LINE.test(second) && second.includes('-')) return <Table lines={lines} linkTo={linkTo} />;
  if (ITEM.test(first) && depth < DEEPEST) {
    const List = /^\d/.test(first) ? 'ol' : 'ul';
    return (
      <List>
        {itemsOf(lines).map((item, index) => (
          <li key={index}>{item.length === 1 ? inline(item[0] ?? '', linkTo) : blocksOf(item, { ...context, depth: depth + 1 }, true)}</li>
        ))}
      </List>
    );
  }
  return <p>{inline(lines.join(' '), linkTo)}</p>;
}

/** @param isItem of a list: its first text is no paragraph of its own */
function blocksOf(lines: readonly string[], context: Context, isItem = false): ReactNode[] {
  const blocks: ReactNode[] = [];
  for (let at = 0; at < lines.length;) {
    if (lines[at]?.trim() === '') {
      at += 1;
      continue;
    }
    const rest = lines.slice(at, at + MAX_LINES);
    const own = rest.slice(0, lengthOf(rest));
    const isText = isItem && at === 0 && !FENCE.test(own[0] ?? '');
    blocks.push(<Fragment key={at}>{isText ? inline(own.join(' '), context.linkTo) : blockOf(own, context)}</Fragment>);
    at += own.length;
  }
  return blocks;
}

/**
 * Markdown as elements: headings, paragraphs, lists, tables, quotes, code, emphasis and links. HTML in it is text, and there are no
 * pictures, so that its writer can bring neither a script nor a request to a reader.
 */
export function Markdown({ text, level = 1, linkTo = safeLink }: MarkdownProps): ReactNode {
  return blocksOf(
    text
      .replace(/\r\n?/g, '\n')
      .split('\n')
      .map((line) => line.trimEnd()),
    { level, linkTo, depth: 0 },
  );
}

/** What an API's own document says of an operation, below the page's headings. */
export function Description({ text }: { readonly text: string }): ReactNode {
  return <Markdown text={text} level={3} linkTo={foreignLink} />;
}

/** The same inside a line or a cell. */
export function DescriptionLine({ text }: { readonly text: string }): ReactNode {
  return inline(text, foreignLink);
}
