import { FetchLimits } from '../../../services/kit/pages/fetch-limits';
import { createLog } from '../../../services/kit/log';
import { type PagePort } from '../../../services/kit/pages/page-port';
import { FetchRefused } from '../../../services/kit/upstream/pinned-connector';
import { inlineParser } from '../../support/page-thread';
import { eventually } from '../../support/eventually';
import { type HeldTime, holdTime } from '../../support/faults/held-time';
import { contactPages, type CrawlCall, createEmailCrawl, type EmailCrawl } from '../../../services/workers/ranking/emails/email-crawl';
import { parsePage } from '../../../services/kit/pages/parse-page';
import { plausibleAddress, siteOf } from '../../../services/workers/ranking/emails/email-address';
import { emailsInPage } from '../../../services/workers/ranking/emails/emails-in-page';
import { anyCharacter } from '../../support/any-text';
import { fc } from '../../support/fast-check';

const NEVER = Symbol('never');
/** HTML by URL, a redirect, a refusal, or silence until the fetch is given up. */
type Answer = string | { readonly location: string } | FetchRefused | typeof NEVER;

let asked: string[];
let running: number;
let mostRunning: number;
/** Fetches that were never answered, and those of them that were given up. */
let hung: number;
let cutOff: number;
beforeEach(() => {
  asked = [];
  running = mostRunning = hung = cutOff = 0;
});

function portOf(answers: Readonly<Record<string, Answer>>): PagePort {
  return {
    async fetch(url, { signal }) {
      asked.push(url);
      mostRunning = Math.max(mostRunning, ++running);
      await new Promise((resolve) => setImmediate(resolve));
      try {
        const answer = answers[url] ?? (url.endsWith('/robots.txt') ? '' : new FetchRefused('host_unknown'));
        if (answer === NEVER) {
          hung++;
          await new Promise((resolve) => signal?.addEventListener('abort', resolve));
          cutOff++;
          throw new FetchRefused('timeout');
        }
        if (answer instanceof FetchRefused) throw answer;
        const isPage = typeof answer === 'string';
        const headers = isPage ? { 'content-type': 'text/html' } : { location: answer.location };
        return { url, status: isPage ? 200 : 302, headers, bytes: Buffer.from(isPage ? answer : ''), redirects: [] };
      } finally {
        running--;
      }
    },
    close: () => Promise.resolve(),
  };
}

function crawlOf(answers: Readonly<Record<string, Answer>>, options: { budgetMs?: number; atOnce?: number } = {}): EmailCrawl {
  const { budgetMs = 10_000, atOnce = 16 } = options;
  return createEmailCrawl({
    ports: { live: portOf(answers), test: undefined },
    parser: inlineParser,
    limits: new FetchLimits(atOnce),
    budgetMs,
    pageTimeoutMs: 5_000,
  });
}

const callWith = (changes: Partial<CrawlCall> = {}): CrawlCall => ({
  mode: 'live',
  subscriptionId: 'one',
  signal: new AbortController().signal,
  timeLeftMs: () => 30_000,
  log: createLog('test', { level: 'silent' }),
  ...changes,
});
const HOME = 'https://www.shop.com/';
const shown = (...emails: string[]) => ({ emails, reason: null });
const unknown = (reason: string) => ({ emails: null, reason });
const mail = (address: string): string => `<a href="mailto:${address}">mail</a>`;

describe('one website', () => {
  it('whose home page shows an address is asked for nothing else', async () => {
    const crawl = crawlOf({ [HOME]: `${mail('info@shop.com')}<a href="/contact">Contact</a>` });
    expect(await crawl.findEmails([HOME, HOME], callWith())).toEqual(new Map([[HOME, shown('info@shop.com')]]));
    expect(asked).toEqual(['https://www.shop.com/robots.txt', HOME]);
  });

  it('is asked for at most two contact pages', async () => {
    const links = ['a', 'b', 'c', 'd'].map((name) => `<a href="/contact/${name}">Contact</a>`).join('');
    const empty = { 'https://www.shop.com/contact/a': 'call us', 'https://www.shop.com/contact/b': 'visit us' };
    const crawl = crawlOf({ [HOME]: links, ...empty, 'https://www.shop.com/contact/c': mail('info@shop.com') });
    expect(await crawl.findEmails([HOME], callWith())).toEqual(new Map([[HOME, shown()]]));
    expect(asked.slice(1)).toEqual([HOME, 'https://www.shop.com/contact/a', 'https://www.shop.com/contact/b']);
  });

  it('is left alone where its robots.txt says so', async () => {
    const pages = { [HOME]: '<a href="/contact">x</a>', 'https://www.shop.com/contact': mail('info@shop.com') };
    const closed = crawlOf({ 'https://www.shop.com/robots.txt': 'User-agent: *\nDisallow: /', ...pages });
    expect(await closed.findEmails([HOME], callWith())).toEqual(new Map([[HOME, unknown('robots_txt')]]));
    expect(asked).toEqual(['https://www.shop.com/robots.txt']);
    const half = crawlOf({ 'https://www.shop.com/robots.txt': 'User-agent: TollgateBot\nDisallow: /contact', ...pages });
    expect(await half.findEmails([HOME], callWith())).toEqual(new Map([[HOME, unknown('robots_txt')]]));
    expect(asked).not.toContain('https://www.shop.com/contact');
  });

  it('that leads to another site gives none of that site’s addresses, nor mailboxes found there', async () => {
    const crawl = crawlOf({
      [HOME]: { location: 'https://parked.com/' },
      'https://parked.com/': `${mail('a@parked.com')} b@gmail.com c@shop.com`,
    });
    expect(await crawl.findEmails([HOME], callWith())).toEqual(new Map([[HOME, unknown('other_site')]]));
    const contact = crawlOf({ [HOME]: '<a href="/contact">x</a>', 'https://www.shop.com/contact': { location: 'https://parked.com/' }, 'https://parked.com/': 'b@gmail.com' }); // prettier-ignore
    expect(await contact.findEmails([HOME], callWith())).toEqual(new Map([[HOME, shown()]]));
  });

  it('of which a page could not be read is not said to show none', async () => {
    const broken = crawlOf({ [HOME]: '<a href="/contact">Contact</a>' });
    expect(await broken.findEmails([HOME], callWith())).toEqual(new Map([[HOME, unknown('host_unknown')]]));
    expect(await crawlOf({}).findEmails([HOME], callWith())).toEqual(new Map([[HOME, unknown('host_unknown')]]));
  });

  it.each([
    'not a url',
    'ftp://shop.com/',
    'http://127.0.0.1/',
    'http://localhost/',
    'http://user:pw@shop.com/',
    'http://shop.com:8080/',
    'http://[::1]/',
  ])('that is %s is never asked', async (website) => {
    expect((await crawlOf({}).findEmails([website], callWith())).get(website)).toEqual(unknown(expect.any(String)));
    expect(asked).toEqual([]);
  });
});

describe('the deadline', () => {
  const sites = Array.from({ length: 30 }, (_, index) => `https://shop${index}.com/`);
  const hanging = Object.fromEntries(sites.map((site): [string, Answer] => [site, NEVER]));

  /** Passes when it is told to, and not otherwise. */
  let time: HeldTime;
  beforeEach(() => (time = holdTime('timeouts')));
  afterEach(() => time.release());

  /** As many as are asked at once, each silent for ever. */
  const allHang = (): Promise<void> => eventually(() => hung === 8);

  it('cuts off sites that hang, and keeps what others said', async () => {
    const crawl = crawlOf({ ...hanging, [HOME]: mail('info@shop.com') }, { budgetMs: 200 });
    const answer = crawl.findEmails([HOME, ...sites], callWith());
    await allHang();
    // A fetch of its own would take five seconds, thirty sites many times that.
    time.pass(200);
    const found = await answer;
    expect(found.get(HOME)).toEqual(shown('info@shop.com'));
    for (const site of sites) expect(found.get(site)).toEqual(unknown('timeout'));
    await new Promise((resolve) => setImmediate(resolve));
    expect([cutOff > 0, running]).toEqual([true, 0]);
  });

  it('of the call counts when it is nearer than the crawl’s own', async () => {
    const answer = crawlOf(hanging, { budgetMs: 20_000 }).findEmails(sites, callWith({ timeLeftMs: () => 1_200 }));
    await allHang();
    time.pass(200);
    await answer;
    expect(cutOff).toBeGreaterThan(0);
  });

  it('that is as good as over lets no site be asked', async () => {
    for (const leftMs of [1_000, 0, -5])
      expect((await crawlOf(hanging).findEmails([HOME], callWith({ timeLeftMs: () => leftMs }))).get(HOME)).toEqual(unknown('timeout'));
    expect(asked).toEqual([]);
  });

  it('does not hide that the caller left', async () => {
    const leaving = new AbortController();
    const answer = crawlOf(hanging).findEmails(sites, callWith({ signal: leaving.signal }));
    leaving.abort(new Error('the client left'));
    await expect(answer).rejects.toThrow('the client left');
  });
});

it('no more than eight websites, and as many pages as the worker may, are asked for at a time', async () => {
  const sites = Array.from({ length: 40 }, (_, index) => `https://shop${index}.com/`);
  const answers = Object.fromEntries(sites.map((site): [string, Answer] => [site, mail(`info@${new URL(site).host}`)]));
  expect((await crawlOf(answers).findEmails(sites, callWith())).size).toBe(40);
  expect(mostRunning).toBeLessThanOrEqual(8);
  mostRunning = 0;
  await crawlOf(answers, { atOnce: 3 }).findEmails(sites, callWith());
  expect(mostRunning).toBeLessThanOrEqual(3);
});

it('test keys without a sandbox get no addresses, and no site is asked', async () => {
  const found = await crawlOf({ [HOME]: mail('info@shop.com') }).findEmails([HOME], callWith({ mode: 'test' }));
  expect(found.get(HOME)).toEqual(unknown('not_configured'));
  expect(asked).toEqual([]);
});

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
