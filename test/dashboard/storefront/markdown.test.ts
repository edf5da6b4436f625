import { Parser } from 'htmlparser2';
import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { Description, DescriptionLine } from '../../../services/dashboard/storefront/markdown';

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
});
