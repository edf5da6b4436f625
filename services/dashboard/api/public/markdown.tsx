import MarkdownIt from 'markdown-it';
import { type ReactNode } from 'react';

/** Longer descriptions are cut: a page is read by people. */
const MOST_CHARACTERS = 20_000;

/**
 * Markdown of documents that somebody else wrote. HTML in it is text; links lead to http and https only and recommend nothing; pictures,
 * which would tell another site of each reader, are not loaded.
 */
const markdown = new MarkdownIt({ html: false, linkify: false, typographer: false }).disable('image');
markdown.validateLink = (url) => /^https?:\/\//i.test(url);
markdown.core.ruler.push('ours', ({ tokens }) => {
  for (const token of tokens) {
    // The page has its own headings above.
    if (token.type.startsWith('heading_')) token.tag = 'h3';
    // The alignment of a column, as a style that the page's policy refuses.
    if (token.type === 'th_open' || token.type === 'td_open') token.attrs = null;
    for (const child of token.children ?? []) {
      if (child.type === 'link_open') child.attrs = [['href', child.attrGet('href') ?? ''], ['rel', 'nofollow noopener']]; // prettier-ignore
    }
  }
});
for (const rule of ['fence', 'code_block'] as const) {
  // With a tab stop, so that it can be scrolled without a mouse; without the classes that the language would give.
  markdown.renderer.rules[rule] = (tokens, index) =>
    `<pre tabindex="0"><code>${markdown.utils.escapeHtml(tokens[index]?.content ?? '')}</code></pre>\n`;
}

const cut = (text: string): string => (text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)} …` : text);

/** A description with its paragraphs, lists, tables and code. */
export function Markdown({ text }: { readonly text: string }): ReactNode {
  return <div className="markdown" dangerouslySetInnerHTML={{ __html: markdown.render(cut(text)) }} />;
}

/** A description inside a line or a cell. Of plain text no more markup than the text. */
export function MarkdownLine({ text }: { readonly text: string }): ReactNode {
  if (!/[\\`*_[\]<>&~]/.test(text)) return cut(text);
  return <span dangerouslySetInnerHTML={{ __html: markdown.renderInline(cut(text)) }} />;
}
