import { htmlText } from '../../../services/kit/pages/html-text';
import { PageTooComplex, parsePage } from '../../../services/kit/pages/parse-page';
import { fc } from '../../support/fast-check';

const parse = (html: string) => parsePage(html, 'https://site.example/folder/page?x=1');
const linkOf = (html: string) => parse(html).links[0];

describe('links', () => {
  it.each([
    ['<a href="/a">x</a>', 'https://site.example/a'],
    ['<a href="//other.example/c">x</a>', 'https://other.example/c'],
    ['<base href="https://cdn.example/x/"><a href="d">x</a>', 'https://cdn.example/x/d'],
    ['<a href="https://e.example/?a=1&amp;b=2">x</a>', 'https://e.example/?a=1&b=2'],
  ])('%s leads to %s', (html, url) => expect(linkOf(html)?.url.href).toBe(url));

  it.each(['<a>x</a>', '<a href="mailto:a@b.example">x</a>', '<a href="javascript:void(0)">x</a>', '<a href="http://[">x</a>'])(
    '%s is no link to a page',
    (html) => expect(parse(html).links).toEqual([]),
  );

  it.each([
    '<!-- <a href="/a">x</a> -->',
    '<script>"<a href=/a>x</a>"</script>',
    '<template><a href="/a">x</a></template>',
    '<noscript><a href="/a">x</a></noscript>',
  ])('a link that no reader sees does not count: %s', (html) => expect(parse(html).links).toEqual([]));

  it('are named by their text, or the alternative text of their image', () => {
    expect(linkOf('<a href="/a">  two\n <b>wor</b>ds </a>')?.anchor).toBe('two words');
    expect(linkOf('<a href="/a"><img alt="A picture" src="p.png"></a>')?.anchor).toBe('A picture');
  });

  it('keep every relation in lower case', () => {
    expect(linkOf('<a rel="NoFollow  UGC" href="/a">x</a>')?.rel).toEqual(['nofollow', 'ugc']);
  });

  it.each(['nav', 'header', 'footer', 'aside'])('inside %s are not in the content', (name) => {
    expect(linkOf(`<${name}><p><a href="/a">x</a></p></${name}>`)?.inBody).toBe(false);
    expect(linkOf(`<main><p><a href="/a">x</a></p></main>`)?.inBody).toBe(true);
  });

  it.each([
    '<div style="display: none"><p><a href="/a">x</a></p></div>',
    '<a hidden href="/a">x</a>',
    '<span style="visibility:hidden"><a href="/a">x</a></span>',
    '<p style="text-indent:-9999px"><a href="/a">x</a></p>',
    '<p style="font-size:0"><a href="/a">x</a></p>',
  ])('hidden by the page are told: %s', (html) => expect(linkOf(html)?.isHidden).toBe(true));

  it.each(['<p style="font-size:0.9em"><a href="/a">x</a></p>', '<p style="opacity:0.5"><a href="/a">x</a></p>'])(
    'merely small ones are not hidden: %s',
    (html) => expect(linkOf(html)?.isHidden).toBe(false),
  );

  it('a link that never ends and a link in a link both count', () => {
    expect(parse('<a href="/a">x<a href="/b">y').links.map(({ url }) => url.pathname)).toEqual(['/a', '/b']);
  });
});

it('reads what a page says about itself', () => {
  const page = parse(
    '<head><title> A &amp; B </title><title>no</title><meta name="Description" content="about"><meta name="robots" content="noindex">' +
      '<meta name=robots content=nofollow><link rel="canonical" href="/main"><link rel="shortcut icon" href="/i.ico"></head>' +
      '<body><h1>one</h1><p>two <b>three</b></p><script>four</script><a href="tel:1">five</a></body>',
  );
  expect(page).toMatchObject({
    title: 'A & B',
    description: 'about',
    metaRobots: 'noindex, nofollow',
    canonical: 'https://site.example/main',
    headings: 1,
    words: 4,
    hasIcon: true,
    hasContact: true,
  });
});

it('an empty page has nothing', () => {
  expect(parse('')).toEqual({
    title: '', description: null, metaRobots: null, canonical: null, headings: 0, words: 0, hasIcon: false, hasContact: false, links: [],
    text: '', mailTargets: [],
  }); // prettier-ignore
});

it('text and mail links are what a reader sees', () => {
  const page = parse(`<head><title>no</title></head><p>Write <b>to</b> in<i>fo</i></p><p>us</p><!-- no --><script>no</script>
    <p style="display: none">no <a href="mailto:trap@x.example">no</a></p><template>no</template><p hidden>no</p>
    <a href=" MAILTO:a@x.example?subject=hi&amp;cc=b@x.example">mail</a><a href="tel:1">call</a>`);
  expect(page.text.replace(/\s+/g, ' ').trim()).toBe('Write to info us mail call');
  expect(page.mailTargets).toEqual(['a@x.example?subject=hi&cc=b@x.example']);
});

it('texts that end up in answers are bounded', () => {
  const long = 'x'.repeat(100_000);
  const page = parse(
    `<title>${long}</title><meta name=robots content=${long}><a href="/a" rel="${long}">${long}</a><a href="/${long}">x</a>`,
  );
  expect(page.title).toHaveLength(500);
  expect(page.metaRobots).toHaveLength(500);
  expect(page.links).toHaveLength(1);
  expect(page.links[0]?.anchor).toHaveLength(500);
});

describe('markup in excess', () => {
  it('of 511 open elements is read, one more is not', () => {
    expect(parse(`${'<div>'.repeat(511)}<a href="/a">deep</a>`).links).toHaveLength(1);
    expect(() => parse(`${'<div>'.repeat(512)}<a href="/a">deep</a>`)).toThrow(PageTooComplex);
  });

  it('of 100,000 elements is read, one more is not', () => {
    expect(parse('<br>'.repeat(100_000)).words).toBe(0);
    expect(() => parse('<br>'.repeat(100_001))).toThrow(PageTooComplex);
  });

  it('of a base address is cut before it is joined with every link', () => {
    const page = parse(`<base href="/${'x'.repeat(1_000_000)}/">${'<a href="y">z</a>'.repeat(2_000)}`);
    expect(page.links.every(({ url }) => url.href.length < 3_000)).toBe(true);
  });
});

it('no text makes the parser fail', () => {
  const piece = fc.oneof(fc.string(), fc.constantFrom('<a href="', '">', '</a>', '<title>', '<!--', '<script>', '&amp;', "<base href='http://[", '<svg>', '<meta name=robots content=')); // prettier-ignore
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
      const page = parse(pieces.join(''));
      expect(page.links.every(({ url }) => url.protocol === 'http:' || url.protocol === 'https:')).toBe(true);
    }),
  );
});

describe('text of a page', () => {
  const latin = Buffer.from('caf\u00e9', 'latin1');
  it('follows the header, then the document, then UTF-8', () => {
    expect(htmlText(latin, 'text/html; charset=ISO-8859-1')).toBe('café');
    expect(htmlText(Buffer.concat([Buffer.from('<meta charset="iso-8859-1">'), latin]), 'text/html')).toContain('café');
    expect(htmlText(Buffer.from('café'), 'text/html')).toBe('café');
  });
  it('survives unknown encodings and broken bytes', () => {
    expect(htmlText(Buffer.from('a'), 'text/html; charset=no-such')).toBe('a');
    expect(htmlText(Buffer.from([0x61, 0xff]), 'text/html')).toBe('a\ufffd');
  });
});
