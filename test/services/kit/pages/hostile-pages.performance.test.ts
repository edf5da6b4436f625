import { performance } from 'node:perf_hooks';
import { gzipSync } from 'node:zlib';
import { compilePageThread } from '../../../support/page-thread';
import { createPageParser, type PageParser } from '../../../../services/kit/pages/page-parser';
import { PageTooComplex, parsePage } from '../../../../services/kit/pages/parse-page';
import { parseRobots } from '../../../../services/kit/pages/robots';

const URL_TEXT = 'https://hostile.example/';
/** The most that is fetched of a page. */
const MOST_BYTES = 2_097_152;

const BOMB = gzipSync(Buffer.alloc(100 * MOST_BYTES));

const repeated = (piece: string) => (bytes: number) => piece.repeat(Math.floor(bytes / piece.length));
/** Markup that somebody made to be slow, by length. */
const HOSTILE: Readonly<Record<string, (bytes: number) => string>> = {
  'unclosed div': repeated('<div>'),
  'unclosed table': repeated('<table>'),
  'unclosed links': repeated('<a href=/x><b>'),
  'unclosed svg': repeated('<svg>'),
  'forms in a form': repeated('<form>'),
  'end tags without a start': (bytes) => '<div>'.repeat(510) + repeated('</i>')(bytes),
  'end tags of paragraphs': repeated('</p>'),
  'names in another case': (bytes) => '<svg><foreignObject>'.repeat(250) + repeated('</foreignobjecu>')(bytes),
  attributes: (bytes) => `<a${Array.from({ length: bytes / 9 }, (_, index) => ` x${index}`).join('')}>`,
  'half a tag': repeated('<'),
  entities: repeated('&ampx;&'),
  comments: repeated('<!--'),
  'styles that hide nothing': repeated('<p style="left:    -1">'),
  'a base before links': (bytes) => `<base href="/${'x'.repeat(bytes / 2)}/">${'<a href=y>z</a>'.repeat(2_000)}`,
};

/** Milliseconds of processor time, which a busy machine does not lengthen much; the least of three tries. */
function costOf(work: () => void): number {
  const costs = [0, 1, 2].map(() => {
    const before = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1_000;
  });
  return Math.min(...costs);
}

function parseAnyway(html: string): void {
  try {
    parsePage(html, URL_TEXT);
  } catch (error) {
    if (!(error instanceof PageTooComplex)) throw error;
  }
}

/** Below it, a measurement is noise. */
const NOISE_MS = 40;

describe('twice the bytes cost about twice the time', () => {
  test.each(Object.entries(HOSTILE))('of %s', (_name, make) => {
    const [half, whole] = [make(MOST_BYTES / 2), make(MOST_BYTES)];
    parseAnyway(half);
    const [one, two] = [costOf(() => parseAnyway(half)), costOf(() => parseAnyway(whole))];
    expect(two).toBeLessThan(Math.max(one, NOISE_MS) * 3);
    // 131 s before there were limits.
    expect(two).toBeLessThan(2_000);
  });
});

test('a robots.txt of 500 KB costs one page less than a tenth of a second, whatever its rules and the path are', () => {
  const rules = ['/*a*a*a*a*a*a*b', `/*${'a'.repeat(60)}b`, '/*b', '/*a', '/a', '*'];
  for (const rule of rules) {
    const text = `User-agent: *\n${repeated(`Disallow: ${rule}\n`)(500_000)}`;
    const ask = parseRobots(text.replaceAll('Disallow: /*a\n', 'Disallow: /*ab\n'), 'TollgateBot');
    for (const path of ['a'.repeat(2_000), 'ab'.repeat(1_000), 'x'.repeat(100)]) {
      expect(costOf(() => ask(new URL(path, URL_TEXT)))).toBeLessThan(100);
    }
  }
  const names = `${'User-agent: x\n'.repeat(18_000)}${'Disallow: /a\n'.repeat(18_000)}`;
  expect(costOf(() => parseRobots(names, 'TollgateBot'))).toBeLessThan(300);
});

describe('in threads', () => {
  const never = new AbortController().signal;
  const jobOf = (html: string) => ({ bytes: Buffer.from(html), contentType: 'text/html', url: URL_TEXT });
  let parser: PageParser;
  afterEach(() => parser.close());

  test('what takes too long ends with its thread, and the next page is read', async () => {
    parser = createPageParser({ threadFile: await compilePageThread(), threads: 1, deadlineMs: 1 });
    const slow = '<b></b>'.repeat(99_999);
    await expect(parser.parse(jobOf(slow), {}, never)).rejects.toMatchObject({ name: 'PageUnreadable', reason: 'parse_timeout' });
    await parser.close();
    parser = createPageParser({ threadFile: await compilePageThread(), threads: 1, deadlineMs: 60_000 });
    await expect(parser.parse(jobOf('<div>'.repeat(100_000)), {}, never)).rejects.toMatchObject({ reason: 'too_complex' });
    expect(await parser.parse(jobOf('<title>next</title><a href=/x>y</a>'), {}, never)).toMatchObject({
      title: 'next',
      links: [{ url: new URL('https://hostile.example/x'), anchor: 'y' }],
    });
  });

  test('the event loop turns meanwhile, and another caller’s page waits for one hostile page at most', async () => {
    parser = createPageParser({ threadFile: await compilePageThread(), threads: 1, deadlineMs: 60_000 });
    await parser.parse(jobOf('warm'), {}, never);
    const hostile = '<div>'.repeat(510) + repeated('</i>')(MOST_BYTES - 510 * 5);
    const attacker = {};
    const attack = Array.from({ length: 3 }, () => parser.parse(jobOf(hostile), attacker, never));
    let ended = 0;
    for (const each of attack) void each.then(() => ended++);
    let turns = 0;
    const timer = setInterval(() => turns++, 5);
    await parser.parse(jobOf('<title>mine</title>'), {}, never);
    clearInterval(timer);
    expect(ended).toBeLessThanOrEqual(1);
    expect(turns).toBeGreaterThan(5);
    await Promise.all(attack);
  });

  test('a page that unpacks to a thousand times its bytes is unpacked there, no further than a page may be large', async () => {
    parser = createPageParser({ threadFile: await compilePageThread(), threads: 1, deadlineMs: 60_000 });
    await parser.parse(jobOf('warm'), {}, never);
    const before = performance.eventLoopUtilization();
    const bombs = Array.from({ length: 20 }, () => ({ ...jobOf(''), bytes: Buffer.from(BOMB), encoding: 'gzip' }));
    const reasons = bombs.map((bomb) => parser.parse(bomb, {}, never).catch((error: unknown) => Reflect.get(Object(error), 'reason')));
    expect(new Set(await Promise.all(reasons))).toEqual(new Set(['too_large']));
    expect(performance.eventLoopUtilization(before).utilization).toBeLessThan(0.5);
    const page = { ...jobOf(''), bytes: gzipSync('<title>packed</title>'), encoding: 'gzip' };
    expect((await parser.parse(page, {}, never)).title).toBe('packed');
  });

  test('a robots.txt of 500 KB is read there too, and says what it says here', async () => {
    parser = createPageParser({ threadFile: await compilePageThread(), threads: 1, deadlineMs: 60_000 });
    await parser.parse(jobOf('warm'), {}, never);
    const bytes = Buffer.from(repeated('User-agent: *\nDisallow: /*a*b\n')(500_000));
    const before = performance.eventLoopUtilization();
    const asked = Array.from({ length: 5 }, (_, index) =>
      parser.askRobots({ bytes, url: `${URL_TEXT}${index === 4 ? 'ab' : 'x'}` }, {}, never),
    );
    expect(await Promise.all(asked)).toEqual(['allowed', 'allowed', 'allowed', 'allowed', 'forbidden']);
    expect(performance.eventLoopUtilization(before).utilization).toBeLessThan(0.5);
    expect(await parser.askRobots({ bytes: Buffer.from('not packed'), encoding: 'gzip', url: URL_TEXT }, {}, never)).toBe(
      'encoding_refused',
    );
  });

  test('one caller’s pages leave a thread to the others', async () => {
    parser = createPageParser({ threadFile: await compilePageThread(), threads: 2, deadlineMs: 60_000 });
    const attacker = {};
    const gone = new AbortController();
    const attack = Array.from({ length: 4 }, () =>
      parser.parse(jobOf('<b></b>'.repeat(99_999)), attacker, gone.signal).catch(() => 'gone'),
    );
    expect(parser.levels()).toEqual({ waiting: 3, busy: 1, size: 2 });
    const mine = parser.parse(jobOf('<title>mine</title>'), {}, never);
    expect(parser.levels()).toEqual({ waiting: 3, busy: 2, size: 2 });
    expect((await mine).title).toBe('mine');
    gone.abort(new Error('enough'));
    await Promise.all(attack);
  });

  test('a caller who left is not waited for', async () => {
    parser = createPageParser({ threadFile: await compilePageThread(), threads: 1, deadlineMs: 60_000 });
    const gone = new AbortController();
    const parsing = parser.parse(jobOf('<b></b>'.repeat(99_999)), {}, gone.signal);
    gone.abort(new Error('gone'));
    await expect(parsing).rejects.toThrow('gone');
    expect((await parser.parse(jobOf('<title>t</title>'), {}, never)).title).toBe('t');
  });
});
