import { randomBytes } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { FetchRefused } from '../../../services/kit/upstream/pinned-connector';
import { type PlaceOwner } from '../../../services/kit/places';
import { FetchLimits } from '../../../services/kit/pages/fetch-limits';
import { type PagePort } from '../../../services/kit/pages/page-port';
import { inlineParser } from '../../support/page-thread';
import { PageReader } from '../../../services/kit/pages/page-reader';
import { anyCharacter, anyWebUrl } from '../../support/any-text';
import { judgeByRobots, parseRobots } from '../../../services/kit/pages/robots';
import { fc, propertyRuns } from '../../support/fast-check';

interface Answer {
  readonly status?: number;
  readonly headers?: Record<string, string>;
  readonly body?: string | Buffer;
}

const html = (body = '<title>t</title>'): Answer => ({ headers: { 'content-type': 'text/html' }, body });
const to = (location: string, status = 301): Answer => ({ status, headers: { location } });

let asked: string[];
let most: number;
const readers: PageReader[] = [];
afterEach(() => readers.splice(0).forEach((each) => each.close()));

/** Answers by URL; a site without a robots.txt of its own answers 404 to that. */
function reader(answers: Record<string, Answer | FetchRefused>, options: { atOnce?: number; signal?: AbortSignal } = {}): PageReader {
  asked = [];
  most = 0;
  let running = 0;
  const port: PagePort = {
    fetch: async (url) => {
      asked.push(url);
      most = Math.max(most, ++running);
      await new Promise((resolve) => setImmediate(resolve));
      running--;
      const answer = answers[url] ?? (url.endsWith('/robots.txt') ? { status: 404 } : new FetchRefused('host_unknown'));
      if (answer instanceof FetchRefused) throw answer;
      return { url, status: answer.status ?? 200, headers: answer.headers ?? {}, bytes: Buffer.from(answer.body ?? ''), redirects: [] };
    },
    close: () => Promise.resolve(),
  };
  const { atOnce = 8, signal = new AbortController().signal } = options;
  const made = new PageReader({ port, parser: inlineParser, limits: new FetchLimits(atOnce), timeoutMs: 5_000, budgetMs: 60_000, signal });
  readers.push(made);
  return made;
}

const A = 'https://a.example/page';

it('reads a page after its site’s robots.txt', async () => {
  expect(await reader({ [A]: html() }).read(A)).toMatchObject({ state: 'read', status: 200, robotsAllowed: true, page: { title: 't' } });
  expect(asked).toEqual(['https://a.example/robots.txt', A]);
});

describe('robots.txt', () => {
  const rules = (body: string, status = 200) => ({ 'https://a.example/robots.txt': { status, body }, [A]: html() });

  it.each([
    ['User-agent: *\nDisallow: /', 'blocked'],
    ['User-agent: *\nDisallow: /\n\nUser-agent: TollgateBot\nAllow: /', 'read'],
    ['User-agent: OtherBot\nDisallow: /', 'read'],
    ['<html>not rules</html>', 'read'],
  ])('%j leaves the page %s', async (body, state) => {
    const pages = reader(rules(body));
    expect((await pages.read(A)).state).toBe(state);
    expect(asked.includes(A)).toBe(state === 'read');
    // What was not asked for costs no page of the call.
    expect(pages.spending().pagesAsked).toBe(state === 'read' ? 1 : 0);
  });

  it.each([
    [404, 'read'],
    [403, 'read'],
    [429, 'blocked'],
    [500, 'blocked'],
    [503, 'blocked'],
  ])('with status %i leaves the page %s', async (status, state) => {
    expect((await reader(rules('', status)).read(A)).state).toBe(state);
  });

  it('that cannot be reached makes the page unreachable, unasked', async () => {
    const visit = await reader({ 'https://a.example/robots.txt': new FetchRefused('timeout'), [A]: html() }).read(A);
    expect(visit).toMatchObject({ state: 'unreachable', reason: 'timeout', robotsAllowed: null });
    expect(asked).toEqual(['https://a.example/robots.txt']);
  });

  it('is asked for once a site, and holds for a redirect’s destination', async () => {
    const answers = { 'https://b.example/robots.txt': { body: 'User-agent: *\nDisallow: /secret' }, [A]: to('https://b.example/secret') };
    const pages = reader(answers);
    expect(await pages.read(A)).toMatchObject({ state: 'blocked', reason: 'robots_txt', robotsAllowed: false, status: 301 });
    await pages.read(A);
    expect(asked.filter((url) => url.endsWith('/robots.txt'))).toEqual(['https://a.example/robots.txt', 'https://b.example/robots.txt']);
    expect(asked).not.toContain('https://b.example/secret');
    // The page that leads there was asked for, both times.
    expect(pages.spending().pagesAsked).toBe(2);
  });

  const packed = (body: string | Buffer, encoding = 'gzip') => ({
    'https://a.example/robots.txt': { body, headers: { 'content-encoding': encoding } },
    [A]: html(),
  });

  it('may be packed, and of what it unpacks to the first 500 KiB count', async () => {
    const forbidden = 'User-agent: *\nDisallow: /page\n';
    expect((await reader(packed(gzipSync(forbidden))).read(A)).state).toBe('blocked');
    const filler = '#'.repeat(512_000);
    expect((await reader(packed(gzipSync(forbidden + filler.repeat(10)))).read(A)).state).toBe('blocked');
    expect((await reader(packed(gzipSync(`${filler}\n${forbidden}`))).read(A)).state).toBe('read');
    const noise = `#${randomBytes(400_000).toString('base64')}`;
    for (const [encoding, body] of [
      ['gzip', gzipSync(forbidden + noise)],
      ['br', brotliCompressSync(forbidden + noise, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } })],
      ['identity', Buffer.from(forbidden + noise)],
    ] as const)
      expect((await reader(packed(body, encoding)).read(A)).state).toBe('blocked');
  });

  it.each(['gzip', 'zstd'])('that is not packed as it says (%s) makes the page unreachable, unasked', async (encoding) => {
    const visit = await reader(packed('not packed', encoding)).read(A);
    expect(visit).toMatchObject({ state: 'unreachable', reason: 'encoding_refused', robotsAllowed: null });
    expect(asked).toEqual(['https://a.example/robots.txt']);
  });

  it('may lie behind a redirect', async () => {
    const answers = { 'https://a.example/robots.txt': to('https://www.a.example/robots.txt'), 'https://www.a.example/robots.txt': { body: 'User-agent: *\nDisallow: /' }, [A]: html() }; // prettier-ignore
    expect((await reader(answers).read(A)).state).toBe('blocked');
  });
});

describe('redirects', () => {
  const chain = (hops: number): Record<string, Answer> =>
    Object.fromEntries(
      Array.from({ length: hops + 1 }, (_, index) => [`https://r.example/${index}`, index === hops ? html() : to(`/${index + 1}`)]),
    );

  it('are followed three times', async () => {
    const visit = await reader(chain(3)).read('https://r.example/0');
    expect(visit.state === 'read' && visit.url.href).toBe('https://r.example/3');
    expect(await reader(chain(4)).read('https://r.example/0')).toMatchObject({ state: 'unreachable', reason: 'too_many_redirects' });
  });

  it.each([
    ['http://127.0.0.1/', 'address_refused'],
    ['http://localhost/', 'address_refused'],
    ['http://b.example:8080/', 'port_refused'],
    ['http://user:secret@b.example/', 'userinfo_refused'],
    ['file:///etc/passwd', 'scheme_refused'],
    ['http://[', 'url_invalid'],
  ])('to %s end unasked: %s', async (location, reason) => {
    expect(await reader({ [A]: to(location) }).read(A)).toMatchObject({ state: 'unreachable', reason });
    expect(asked).toEqual(['https://a.example/robots.txt', A]);
  });
});

it.each([
  [404, 'gone'],
  [410, 'gone'],
  [401, 'blocked'],
  [403, 'blocked'],
  [429, 'blocked'],
  [451, 'blocked'],
  [400, 'unreachable'],
  [500, 'unreachable'],
  [301, 'unreachable'],
])('status %i makes a page %s', async (status, state) => {
  expect(await reader({ [A]: { ...html(), status } }).read(A)).toMatchObject({ state, status, reason: `http_${status}` });
});

it.each(['application/pdf', '', 'text/plain', 'text/htmlx'])('content of type "%s" is not read', async (type) => {
  expect(await reader({ [A]: { headers: { 'content-type': type }, body: '<title>t</title>' } }).read(A)).toMatchObject({
    reason: 'content_type_refused',
  });
});

it('asks one host for two pages at a time and all hosts for no more than the limit', async () => {
  const urls = (host: number) => Array.from({ length: 6 }, (_, page) => `https://h${host}.example/${page}`);
  const everywhere = [0, 1, 2, 3].flatMap(urls);
  const answers = Object.fromEntries(everywhere.map((url) => [url, html()]));
  const one = reader(answers);
  await Promise.all(urls(0).map((url) => one.read(url)));
  expect(most).toBe(2);
  const all = reader(answers, { atOnce: 3 });
  await Promise.all(everywhere.map((url) => all.read(url)));
  expect(most).toBe(3);
});

it('asks no more than two hundred hosts', async () => {
  const urls = Array.from({ length: 205 }, (_, host) => `https://h${host}.example/`);
  const pages = reader(Object.fromEntries(urls.map((url) => [url, html()])), { atOnce: 64 });
  const visits = await Promise.all(urls.map((url) => pages.read(url)));
  expect(visits.filter(({ state }) => state === 'read')).toHaveLength(200);
  expect(visits.slice(200)).toEqual(Array(5).fill(expect.objectContaining({ state: 'unreachable', reason: 'too_many_hosts' })));
  expect(asked).toHaveLength(400);
});

it('a robots.txt that takes too long to obey keeps us from the page, and its answer unknown', async () => {
  const slow = 'https://a.example/'.concat('a'.repeat(1_500));
  const body = `User-agent: *\n${`Disallow: /*${'a'.repeat(400)}b\n`.repeat(1_200)}`;
  const pages = reader({ 'https://a.example/robots.txt': { body }, [slow]: html(), [A]: html() });
  expect(await pages.read(slow)).toMatchObject({ state: 'unreachable', reason: 'robots_too_complex', robotsAllowed: null });
  expect((await pages.read(A)).state).toBe('read');
});

it('a cancelled call reads nothing more', async () => {
  const gone = new AbortController();
  const pages = reader({ [A]: new FetchRefused('unreachable') }, { signal: gone.signal });
  gone.abort(new Error('gone'));
  await expect(pages.read(A)).rejects.toThrow('gone');
});

describe('a packed page', () => {
  const sent = (body: Buffer | string, encoding: string) => ({
    [A]: { headers: { 'content-type': 'text/html', 'content-encoding': encoding }, body },
  });

  it('is read', async () => {
    const body = gzipSync('<title>t</title>');
    expect(await reader(sent(body, 'gzip')).read(A)).toMatchObject({ state: 'read', page: { title: 't' } });
  });

  it.each([
    ['too_large', gzipSync(Buffer.alloc(3_000_000))],
    ['encoding_refused', 'not packed'],
  ])('that cannot be unpacked is unreachable: %s', async (reason, body) => {
    expect(await reader(sent(body, 'gzip')).read(A)).toMatchObject({ state: 'unreachable', reason, status: 200, robotsAllowed: true });
  });

  it('is not unpacked to find out whether it exists, or that it is no page', async () => {
    const bomb = { headers: { 'content-type': 'image/png', 'content-encoding': 'gzip' }, body: 'not packed' };
    expect(await reader({ [A]: bomb }).exists(A)).toBe(true);
    expect(await reader({ [A]: bomb }).read(A)).toMatchObject({ reason: 'content_type_refused' });
  });
});

it('whether something exists is told, or not known', async () => {
  const answers = { 'https://a.example/yes': { status: 200 }, 'https://a.example/no': { status: 404 }, 'https://b.example/robots.txt': { body: 'User-agent: *\nDisallow: /' } }; // prettier-ignore
  const pages = reader(answers);
  expect(await pages.exists('https://a.example/yes')).toBe(true);
  expect(await pages.exists('https://a.example/no')).toBe(false);
  expect(await pages.exists('https://a.example/down')).toBeUndefined();
  expect(await pages.exists('https://b.example/forbidden')).toBeUndefined();
  expect(await pages.exists('http://127.0.0.1/')).toBeUndefined();
});

it('one subscription’s silent hosts leave places for another’s pages, however many calls it makes at once', async () => {
  const gone = new AbortController();
  setMaxListeners(0, gone.signal);
  const port: PagePort = {
    fetch: async (url) => {
      if (!url.includes('silent')) return { url, status: 404, headers: {}, bytes: Buffer.from(''), redirects: [] };
      if (!gone.signal.aborted) await new Promise((resolve) => gone.signal.addEventListener('abort', resolve));
      throw new FetchRefused('timeout');
    },
    close: () => Promise.resolve(),
  };
  const limits = new FetchLimits(16);
  const read = (caller: PlaceOwner, url: string) => {
    const { signal } = new AbortController();
    const made = new PageReader({ port, parser: inlineParser, limits, timeoutMs: 5_000, budgetMs: 60_000, signal, caller });
    readers.push(made);
    return made.read(url);
  };
  const greedy: PlaceOwner = { subscriptionId: 'greedy', mode: 'live' };
  const silent = Array.from({ length: 80 }, (_, index) => read(greedy, `https://silent-${index}.example/`));
  expect(await read({ subscriptionId: 'other', mode: 'live' }, A)).toMatchObject({ state: 'gone' });
  gone.abort();
  await Promise.all(silent);
});

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
