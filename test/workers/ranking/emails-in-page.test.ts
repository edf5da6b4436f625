import { parsePage } from '../../../services/kit/pages/parse-page';
import { contactPages } from '../../../services/workers/ranking/emails/contact-pages';
import { plausibleAddress, siteOf } from '../../../services/workers/ranking/emails/email-address';
import { emailsInPage } from '../../../services/workers/ranking/emails/emails-in-page';
import { anyCharacter } from '../../support/any-text';
import { fc } from '../../support/fast-check';

const HOME = 'https://www.shop.com/';
const emailsIn = (html: string, site = 'shop.com'): string[] => emailsInPage(parsePage(html, HOME), site);

it.each([
  ['a mail link', '<a href="mailto:Info@Shop.com?subject=Hi&cc=a@shop.com">mail</a>', ['info@shop.com']],
  ['several recipients, escaped', '<a href="mailto:a%40shop.com,%20b@shop.com">mail</a>', ['a@shop.com', 'b@shop.com']],
  ['text', '<p>Mail:info@shop.com, sales@shop.com.</p>', ['info@shop.com', 'sales@shop.com']],
  ['entities', '<p>info&#64;shop&period;com</p>', ['info@shop.com']],
  ['well-known mailboxes', '<p>shop.delhi@gmail.com shop@yahoo.co.in</p>', ['shop.delhi@gmail.com', 'shop@yahoo.co.in']],
  ['links before text, each once', '<p>b@shop.com</p><a href="mailto:A@shop.com">B@SHOP.COM</a>', ['a@shop.com', 'b@shop.com']],
])('finds addresses in %s', (_where, html, found) => expect(emailsIn(html)).toEqual(found));

it.each([
  ['another domain', '<a href="mailto:studio@agency.com">made by</a> x@notshop.com y@shop.com.evil.com'],
  ['an image with two pixels a dot', 'logo@2x.png icon@3x.webp <img src="a@shop.com" srcset="b@shop.com 2x">'],
  ['no registered top-level domain', 'info@shop.local info@shop.example root@localhost a@b info@1.2.3.4'],
  ['a script, a style, a comment', '<script>"a@shop.com"</script><style>@import "b@shop.com"</style><!-- c@shop.com -->'],
  ['what no reader sees', '<p hidden>a@shop.com</p><div style="display:none"><a href="mailto:b@shop.com">x</a></div>'],
  ['broken addresses', '.a@shop.com a..b@shop.com @shop.com a@.shop.com <a href="mailto:">x</a> <a href="mailto:%ff@shop.com">x</a>'],
])('takes nothing from %s', (_what, html) => expect(emailsIn(html)).toEqual([]));

it('keeps five of a directory', () => {
  const html = Array.from({ length: 2_000 }, (_, index) => `person${index}@shop.com`).join(' ');
  expect(emailsIn(html)).toEqual([0, 1, 2, 3, 4].map((index) => `person${index}@shop.com`));
});

it('a site on a shared host is only its own name', () => {
  expect([siteOf('www.shop.co.in'), siteOf('shop.github.io'), siteOf('10.0.0.1')]).toEqual(['shop.co.in', 'shop.github.io', '10.0.0.1']);
  expect(emailsIn('a@github.io b@other.github.io', 'shop.github.io')).toEqual([]);
});

it('whatever a page holds, what is found is the site’s, in lower case, and no more than five', () => {
  const piece = fc.oneof(
    fc.string({ unit: anyCharacter }),
    fc.emailAddress(),
    fc.constantFrom(
      '<a href="mailto:',
      '">',
      '</a>',
      'info@shop.com',
      'INFO@SHOP.COM?',
      '@',
      '%',
      '<p hidden>',
      '<!--',
      '@2x.png',
      ',',
      '.',
    ),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
      const found = emailsIn(pieces.join(''));
      expect(found.length).toBeLessThanOrEqual(5);
      expect(new Set(found).size).toBe(found.length);
      for (const address of found) {
        expect(plausibleAddress(address, 'shop.com')).toBe(address);
        expect(address).toMatch(/^[a-z0-9_][a-z0-9._%+-]*@[a-z0-9.-]+\.[a-z0-9-]+$/);
      }
    }),
  );
});

describe('pages that look like contact pages', () => {
  const pagesOf = (html: string): string[] =>
    contactPages(parsePage(html, HOME).links, new URL(HOME), 2).map(({ href }) => href.replace('https://www.shop.com', ''));

  it('are the likeliest two, by path or by what the link says', () => {
    const html = '<a href="/about">About</a><a href="/p?id=7">Contact us</a><a href="/impressum">x</a><a href="/kontakt">y</a>';
    expect(pagesOf(html)).toEqual(['/p?id=7', '/kontakt']);
    expect(pagesOf('<a href="/a">A</a><a href="/ueber-uns">x</a>')).toEqual(['/ueber-uns']);
  });

  it('lie on the same site, are no downloads, are seen, and are not the home page again', () => {
    const html = `<a href="https://evil.com/contact">x</a><a href="/contact.pdf">x</a><a hidden href="/contact">x</a><a href="/#contact">Contact</a>
      <a href="https://shop.com/contact">x</a><a href="https://www.shop.com/contact/">x</a><a href="javascript:contact()">Contact</a>`;
    expect(pagesOf(html)).toEqual(['https://shop.com/contact']);
  });
});
