import { connectRedis, type RedisClient } from '../../../services/kit/redis-client';
import { createRedisLinkIndex } from '../../../services/workers/seo/sources/redis-link-index';
import { seoWorkerSettings } from '../../../services/workers/seo/settings';
import { startSeoStage } from '../../products/seo/seo-stage';
import { eventually } from '../../support/eventually';
import { startTestRedis } from '../../support/redis/redis';
import { openedForTests, useOpened } from '../../support/opened';

const DAY_MS = 86_400_000;
let nowMs = 400 * DAY_MS;
const opened = openedForTests();
const redis = opened.use(startTestRedis);
const client = opened.use(
  () => connectRedis(redis.url, { deadlineMs: 60_000, waitForConnection: true, onError: () => undefined }),
  (each: RedisClient) => each.disconnect(),
);

const link = (page: string, seenAtMs = nowMs) => ({ source: `https://${page}.example/`, target: 'https://shop.example/', seenAtMs });
const indexOf = (mode: 'live' | 'test', most = 3) =>
  createRedisLinkIndex({ redis: client, mode, most, mostDomains: 100, now: () => nowMs });

describe('links that were seen', () => {
  it('are found last seen first, bounded a domain, and forgotten when removed', async () => {
    const index = indexOf('live');
    await index.add('shop.example', [link('a', nowMs - 3), link('b', nowMs - 2), link('c', nowMs - 1)]);
    await index.add('shop.example', [link('d'), link('a', nowMs - 1)]);
    expect((await index.find('shop.example')).map(({ source }) => source)).toEqual([
      'https://d.example/',
      'https://c.example/',
      'https://a.example/',
    ]);
    await index.remove('shop.example', [link('c')]);
    expect(await index.find('shop.example')).toEqual([link('d'), link('a', nowMs - 1)]);
    expect(await index.find('other.example')).toEqual([]);
  });

  it('of the domain that was longest not asked for are forgotten when there are too many', async () => {
    const index = createRedisLinkIndex({ redis: client, mode: 'live', most: 3, mostDomains: 2, now: () => nowMs++ });
    for (const domain of ['one.example', 'two.example', 'one.example', 'three.example']) await index.add(domain, [link('a')]);
    const left = ['one.example', 'two.example', 'three.example'].map(async (domain) => (await index.find(domain)).length);
    expect(await Promise.all(left)).toEqual([1, 0, 1]);
  });

  it('of test keys and live keys stand apart', async () => {
    await indexOf('test').add('apart.example', [link('sandbox')]);
    expect(await indexOf('live').find('apart.example')).toEqual([]);
  });

  it('are no longer told half a year after they were seen', async () => {
    await indexOf('live').add('old.example', [link('old')]);
    nowMs += 181 * DAY_MS;
    expect(await indexOf('live').find('old.example')).toEqual([]);
  });
});

describe('a worker that remembers them', () => {
  const stage = useOpened(() => startSeoStage({ env: { SEO_LINK_INDEX: 'true', REDIS_URL: redis.url } }));

  const backlinks = async (body: object) => (await stage.post('/seo/backlinks', body)).json();
  const page = 'https://blog.example/links-to/remembered.example';

  it('looks at a page again that an earlier caller named, and says when it was seen', async () => {
    const given = { target: 'remembered.example', limit: 1, candidates: [page] };
    const seen = async () => (await backlinks(given)).data.backlinks[0].seen_before;
    // The connection to Redis comes up beside the first calls, which do not wait for it.
    await eventually(async () => (await seen()) !== null);
    const { data, sources } = await backlinks({ target: 'remembered.example', limit: 1 });
    expect(data.backlinks).toMatchObject([{ source_url: page, status: 'verified', seen_before: expect.stringMatching(/^\d{4}-.*Z$/) }]);
    expect(sources).toMatchObject([{ name: 'sandbox_link_index', kind: 'measured', ok: true }, { name: 'sandbox_page_fetch' }]);
  });

  it('remembers no address with parameters, and answers without Redis', async () => {
    const secret = `${page}?token=secret`;
    const named = await backlinks({ target: 'remembered.example', limit: 1, candidates: [secret] });
    expect(named.data.backlinks).toMatchObject([{ source_url: secret, status: 'verified' }]);
    const kept = await redis.command('zrange', 'tollgate:seo-links:test:remembered.example', '0', '-1');
    expect(kept).toEqual([expect.stringContaining(page)]);
    expect(JSON.stringify(kept)).not.toContain('secret');
    await redis.kill();
    const { data, sources } = await backlinks({ target: 'remembered.example', limit: 1, candidates: [page] });
    expect(data.backlinks).toMatchObject([{ status: 'verified', seen_before: null }]);
    expect(sources).toContainEqual(expect.objectContaining({ name: 'sandbox_link_index', ok: false, error: 'unreachable' }));
  });
});

it('the switch without Redis is refused at the start', () => {
  const settings = { WORKER_LISTEN: '127.0.0.1:0', SEO_LINK_INDEX: 'true' };
  expect(seoWorkerSettings.safeParse(settings).error?.issues).toMatchObject([{ path: ['REDIS_URL'] }]);
});
