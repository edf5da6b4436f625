import { Parser } from 'htmlparser2';
import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { Description, DescriptionLine, Markdown, plainText } from '../../../services/dashboard/storefront/markdown';

const block = (text: string): string => renderToStaticMarkup(createElement(Description, { text }));
const line = (text: string): string => renderToStaticMarkup(createElement(DescriptionLine, { text }));

const TAGS = new Set(['span', 'p', 'strong', 'em', 's', 'code', 'pre', 'ul', 'ol', 'li', 'blockquote', 'hr', 'br', 'h3', 'h4', 'a', 'table', 'thead', 'tbody', 'tr', 'th', 'td']); // prettier-ignore

/** Ours, on code: none can run or load anything. */
const ATTRIBUTES = ['class', 'tabindex', 'role', 'aria-label', 'data-copy', 'scope'];

/** Every tag and attribute of some HTML that a description must not bring. */
function forbiddenIn(html: string): string[] {
  const found: string[] = [];
  const isKnown = (name: string, value: string): boolean =>
    (name === 'href' && /^https?:\/\//i.test(value)) || `${name}=${value}` === 'rel=nofollow noopener' || ATTRIBUTES.includes(name);
  const parser = new Parser({
    onopentag: (tag, attributes) => {
      if (!TAGS.has(tag)) found.push(tag);
      for (const [name, value] of Object.entries(attributes)) if (!isKnown(name, value)) found.push(`${tag} ${name}=${value}`);
    },
    oncomment: () => found.push('comment'),
    onprocessinginstruction: (name) => found.push(name),
  });
  parser.end(html);
  return found;
}

describe('a description of somebody else', () => {
  it.each([
    '<script>alert(1)</script>',
    '<img src=x onerror=alert(1)> <svg/onload=alert(1)> <iframe src="//evil.example">',
    '<!-- --><style>*{display:none}</style><?php ?>',
    '[a](javascript:alert(1)) [b](JaVaScRiPt:alert(1)) [c](&#106;avascript:alert(1)) [d](java%0ascript:alert(1))',
    '[a](data:text/html;base64,PHNjcmlwdD4=) [b](vbscript:x) [c](//evil.example) [d](/account) [e](#own-key)',
    '<javascript:alert(1)> <https://example.com/"onmouseover="alert(1)>',
    '[a](https://example.com/"onmouseover=alert(1) "x\\" onclick=\\"alert(1)")',
    '![x](https://evil.example/pixel.png "onload=alert(1)") ![y](javascript:alert(1))',
    '```"><script>alert(1)</script>\n<script>alert(1)</script>\n```',
    '`</code><script>alert(1)</script>`',
    '    </pre><script>alert(1)</script>',
    '# <b>x</b>\n\n|a|b|\n|:-|-:|\n|<i>x</i>|`<u>`|',
    '[x]: javascript:alert(1)\n\n[x] [y][x]',
    '&lt;script&gt;alert(1)&lt;/script&gt; &#60;script&#62;',
    `${'['.repeat(3_000)}x${']('.repeat(3_000)}`,
    `${'> '.repeat(3_000)}deep`,
    '```constructor\nx\n```',
  ])('brings nothing that runs, loads or leads elsewhere than to http: %s', (text) => {
    expect(forbiddenIn(block(text))).toEqual([]);
    expect(forbiddenIn(line(text))).toEqual([]);
  });

  it('keeps emphasis, lists, tables, code and links', () => {
    const html = block(
      'The **next** days.\n\n# More\n\n- one\n- `two`\n\n|a|\n|-|\n|b|\n\n```js\n1 < 2\n```\n\n[site](https://example.com/a?b=1&c=2)',
    );
    expect(html).toContain('<p>The <strong>next</strong> days.</p>');
    expect(html).toContain('<h3>More</h3>');
    expect(html).toContain('<li><code>two</code></li>');
    expect(html).toContain('<td>b</td>');
    expect(html).toContain('data-copy="code"');
    expect(html).toContain('<a href="https://example.com/a?b=1&amp;c=2" rel="nofollow noopener">site</a>');
  });

  it('is plain text where it has no markup, and has no anchor that could be one of the page', () => {
    expect(line("The city's name.")).toBe('The city&#x27;s name.');
    expect(block('# Own key')).toBe('<h3>Own key</h3>');
  });

  it.each(['[', '![', '**a', '> ', '<a', '`', '](', '\\'])('is read in one go when 256 KiB are made of %s', (part) => {
    const text = part.repeat(262_144 / part.length);
    const html = block(text);
    expect(forbiddenIn(html)).toEqual([]);
    expect(html.length).toBeLessThan(6 * text.length);
    expect(plainText(text).length).toBeLessThanOrEqual(text.length);
  });

  it('has no marks deeper than a page can show', () => {
    const html = block(`${'*a '.repeat(600)}x${' a*'.repeat(600)}`);
    expect(html.match(/<em>/g)).toHaveLength(100);
    expect(html).toContain('x');
  });

  it('does not grow by naming one address often', () => {
    const text = `[x]: https://example.com/${'a'.repeat(10_000)}\n\n${'[x] '.repeat(900)}`;
    expect(block(text).length).toBeLessThan(2 * text.length);
  });
});

describe('a page of the seller', () => {
  const page = (text: string): string => renderToStaticMarkup(createElement(Markdown, { text }));

  it('gives headings an anchor of their text', () => {
    expect(page('# Limits and `retries`\n\n## *When* (soon)')).toBe(
      '<h1 id="limits-and-retries">Limits and <code>retries</code></h1><h2 id="when-soon"><em>When</em> (soon)</h2>',
    );
  });

  it('leads to places of the site, other sites and mail, and shows the text of any other link', () => {
    expect(page('[a](/docs) [b](mailto:a@example.com) [c](javascript:x) [d](/\\evil.example) [e](#own)')).toBe(
      '<p><a href="/docs">a</a> <a href="mailto:a@example.com">b</a> c d <a href="#own">e</a></p>',
    );
  });

  it('is searched without its marks', () => {
    expect(plainText('# A *b*\n\n- one ([site](/docs)),\n- `two`\n\n|h|\n|-|\n|cell|\n\n```sh\ncurl x\n```\n\nend\nof line')).toBe(
      'A b one (site), two h cell curl x end of line',
    );
  });
});
