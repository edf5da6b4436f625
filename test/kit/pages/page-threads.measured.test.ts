import { performance } from 'node:perf_hooks';
import { gzipSync } from 'node:zlib';
import { createPageParser, type PageParser } from '../../../services/kit/pages/page-parser';
import { expectMeasured } from '../../support/measured';
import { compilePageThread } from '../../support/page-thread';

const URL_TEXT = 'https://hostile.example/';
/** The most that is fetched of a page. */
const MAX_BYTES = 2_097_152;

const BOMB = gzipSync(Buffer.alloc(100 * MAX_BYTES));

describe('hostile pages in threads', () => {
  const never = new AbortController().signal;
  const jobOf = (html: string) => ({ bytes: Buffer.from(html), contentType: 'text/html', url: URL_TEXT });
  let parser: PageParser;
  afterEach(() => parser.close());

  it('what takes too long ends with its thread, and the next page is read', async () => {
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

  it('the event loop turns meanwhile, and another caller’s page waits for one hostile page at most', async () => {
    parser = createPageParser({ threadFile: await compilePageThread(), threads: 1, deadlineMs: 60_000 });
    await parser.parse(jobOf('warm'), {}, never);
    const hostile = '<div>'.repeat(510) + '</i>'.repeat((MAX_BYTES - 510 * 5) / 4);
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

  it('a page that unpacks to a thousand times its bytes is unpacked there, no further than a page may be large', async () => {
    parser = createPageParser({ threadFile: await compilePageThread(), threads: 1, deadlineMs: 60_000 });
    await parser.parse(jobOf('warm'), {}, never);
    const before = performance.eventLoopUtilization();
    const bombs = Array.from({ length: 20 }, () => ({ ...jobOf(''), bytes: Buffer.from(BOMB), encoding: 'gzip' }));
    const reasons = bombs.map((bomb) => parser.parse(bomb, {}, never).catch((error: unknown) => Reflect.get(Object(error), 'reason')));
    expect(new Set(await Promise.all(reasons))).toEqual(new Set(['too_large']));
    expectMeasured(performance.eventLoopUtilization(before).utilization, 0.5);
    const page = { ...jobOf(''), bytes: gzipSync('<title>packed</title>'), encoding: 'gzip' };
    expect((await parser.parse(page, {}, never)).title).toBe('packed');
  });

  it('a robots.txt of 500 KB is read there too, and says what it says here', async () => {
    parser = createPageParser({ threadFile: await compilePageThread(), threads: 1, deadlineMs: 60_000 });
    await parser.parse(jobOf('warm'), {}, never);
    const bytes = Buffer.from('User-agent: *\nDisallow: /*a*b\n'.repeat(500_000 / 31));
    const before = performance.eventLoopUtilization();
    const asked = Array.from({ length: 5 }, (_, index) =>
      parser.askRobots({ bytes, url: `${URL_TEXT}${index === 4 ? 'ab' : 'x'}` }, {}, never),
    );
    expect(await Promise.all(asked)).toEqual(['allowed', 'allowed', 'allowed', 'allowed', 'forbidden']);
    expectMeasured(performance.eventLoopUtilization(before).utilization, 0.5);
    expect(await parser.askRobots({ bytes: Buffer.from('not packed'), encoding: 'gzip', url: URL_TEXT }, {}, never)).toBe(
      'encoding_refused',
    );
  });

  it('one caller’s pages leave a thread to the others', async () => {
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

  it('a caller who left is not waited for', async () => {
    parser = createPageParser({ threadFile: await compilePageThread(), threads: 1, deadlineMs: 60_000 });
    const gone = new AbortController();
    const parsing = parser.parse(jobOf('<b></b>'.repeat(99_999)), {}, gone.signal);
    gone.abort(new Error('gone'));
    await expect(parsing).rejects.toThrow('gone');
    expect((await parser.parse(jobOf('<title>t</title>'), {}, never)).title).toBe('t');
  });
});
