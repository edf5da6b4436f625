import { anyCharacter, anyWebUrl } from '../../support/any-text';
import { judgeByRobots, parseRobots } from '../../../services/kit/pages/robots';
import { fc, propertyRuns } from '../../support/fast-check';

const verdict = (rules: string, path: string) => parseRobots(rules, 'TollgateBot')(new URL(path, 'https://site.example'));
const forAll = (...rules: string[]) => ['User-agent: *', ...rules].join('\n');

/** The examples of RFC 9309, 5.2 and 2.2.3, and of Google's documentation of the same rules. */
describe('patterns', () => {
  it.each([
    ['/', '/any', true],
    ['/fish', '/fish.html', true],
    ['/fish', '/Fish.asp', false],
    ['/fish', '/catfish', false],
    ['/fish/', '/fish', false],
    ['/*.php$', '/filename.php', true],
    ['/*.php$', '/filename.php?parameters', false],
    ['/*.php$', '/a.php/b.php', true],
    ['/fish*.php', '/fishheads/catfish.php?parameters', true],
    ['/a*b*c$', '/a-b-b-c', true],
    ['/abc*bc$', '/abc', false],
    ['/$', '/', true],
    ['/a$b', '/a$b', true],
    ['/é', '/%C3%A9', true],
    ['/%c3%a9', '/é', true],
    ['/a%2fb', '/a%2Fb', true],
    ['/a b', '/a%20b', true],
  ])('%s about %s: %s', (pattern, path, isMatch) => {
    expect(verdict(forAll(`Disallow: ${pattern}`), path)).toBe(isMatch ? 'forbidden' : 'allowed');
  });

  it.each([
    ['/page', ['Allow: /p', 'Disallow: /'], 'allowed'],
    ['/folder/page', ['Allow: /folder', 'Disallow: /folder'], 'allowed'],
    ['/page.htm', ['Allow: /page', 'Disallow: /*.htm'], 'forbidden'],
    ['/page.php5', ['Allow: /page', 'Disallow: /*.ph'], 'allowed'],
    ['/', ['Allow: /$', 'Disallow: /'], 'allowed'],
    ['/page.htm', ['Allow: /$', 'Disallow: /'], 'forbidden'],
  ])('the longest decides, and an allowing one among equals: %s with %j is %s', (path, rules, expected) => {
    expect(verdict(forAll(...rules), path)).toBe(expected);
    expect(verdict(forAll(...rules.reverse()), path)).toBe(expected);
  });

  it('agree with an expression made from them, whatever they are', () => {
    const text = fc.array(fc.constantFrom('a', 'b', '/', '*', '$', '.'), { maxLength: 8 }).map((parts) => parts.join(''));
    const path = fc.array(fc.constantFrom('a', 'b', '/', '$', '.'), { maxLength: 10 }).map((parts) => `/${parts.join('')}`);
    fc.assert(
      fc.property(text, path, (rest, asked) => {
        const source = `^/${rest.replace(/[.*$]/g, (sign, at) => (sign === '*' ? '.*' : sign === '$' && at === rest.length - 1 ? '$' : `\\${sign}`))}`;
        const url = new URL(`https://site.example${asked.replaceAll('/.', '/a')}`);
        const rules = parseRobots(forAll(`Disallow: /${rest}`), 'TollgateBot');
        expect(rules(url)).toBe(new RegExp(source).test(url.pathname) ? 'forbidden' : 'allowed');
      }),
      { numRuns: propertyRuns(2_000) },
    );
  });
});

describe('groups', () => {
  it('of the crawler win over those for all, and count as one', () => {
    const text =
      'User-agent: *\nDisallow: /\n\nUser-agent: tollgatebot/2.0\nDisallow: /a\n\nUser-agent: x\nUser-agent: TollgateBot\nDisallow: /b';
    expect(['/a', '/b', '/c'].map((path) => verdict(text, path))).toEqual(['forbidden', 'forbidden', 'allowed']);
  });

  it('of the crawler without a rule allow everything', () => {
    expect(verdict('User-agent: *\nDisallow: /\n\nUser-agent: TollgateBot\nDisallow:', '/a')).toBe('allowed');
  });

  it.each([
    ['comments', 'User-agent: * # all\nDisallow: /a # why'],
    ['Windows lines', 'User-agent: *\r\nDisallow: /a\r\n'],
    ['old Mac lines', 'User-agent: *\rDisallow: /a'],
    ['other fields between', 'Sitemap: https://x.example/s.xml\nUser-agent: *\nCrawl-delay: 5\nDisallow: /a'],
    ['spaces and case', ' USER-AGENT : *\n  disallow :  /a  '],
  ])('are read with %s', (_what, text) => {
    expect([verdict(text, '/a'), verdict(text, '/b')]).toEqual(['forbidden', 'allowed']);
  });

  it('rules before any group are nobody’s', () => expect(verdict('Disallow: /', '/a')).toBe('allowed'));
});

it('no text makes the reader fail', async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: anyCharacter }), anyWebUrl, async (text, url) => {
      expect(await judgeByRobots(Buffer.from(forAll(`Disallow: ${text}`)), undefined, url)).toMatch(/^(allowed|forbidden)$/);
    }),
  );
});
