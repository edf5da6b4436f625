import { createLog } from '../../../services/kit/log';
import { createMetrics } from '../../../services/kit/metrics';
import { type LiveRoute } from '../../../services/kit/service/live-routes';
import { type PrivateServer, startPrivateServer } from '../../../services/kit/service/private-server';
import { WatchedSources } from '../../../services/dashboard/storefront/watch-sources';

const NEVER_MS = 3_600_000;
const log = createLog('test', { level: 'silent' });
const servers: PrivateServer[] = [];
afterEach(() => Promise.all(servers.splice(0).map((server) => server.close())));

async function serverThatSays(live: Record<string, boolean>, liveRoutes: Record<string, LiveRoute[]> = {}): Promise<PrivateServer> {
  const server = await startPrivateServer({ host: '127.0.0.1', port: 0, metrics: createMetrics(), checks: {}, live, liveRoutes });
  servers.push(server);
  return server;
}

/** A clock that stands until it is moved. */
function standingClock(): { now(): number; monotonic(): number; ms: number } {
  return {
    ms: Date.UTC(2026, 10, 1),
    now() {
      return this.ms;
    },
    monotonic() {
      return this.ms;
    },
  };
}

function watch(urls: readonly string[], clock = standingClock()): { sources: WatchedSources; clock: typeof clock } {
  return { sources: new WatchedSources({ urls, clock, log, pollMs: NEVER_MS }), clock };
}

it('says of each product what whoever asks its source said, and null of what nobody knows', async () => {
  const { url } = await serverThatSays({ 'api-ip': true, 'api-gst': false }, { 'api-gst': [{ path: '/gst/start', opens: 'always' }] });
  const { sources } = watch([url]);
  await sources.look();
  const since = '2026-11-01T00:00:00.000Z';
  expect(['api-ip', 'api-gst', 'api-seo', '__proto__'].map((id) => sources.find(id))).toEqual([
    { isThere: true, since, routes: [] },
    { isThere: false, since, routes: [{ path: '/gst/start', state: 'open', only: '' }] },
    null,
    null,
  ]);
  await sources.close();
});

it('says what a live key gets from each route, of a product that admits its keys too', async () => {
  const services = await serverThatSays(
    { 'api-old': true },
    {
      'api-old': [
        { path: '/old', opens: 'about' },
        { path: '/new/work', opens: 'with_source', of: 'api-new' },
      ],
      'api-new': [
        { path: '/new/work', opens: 'with_source' },
        { path: '/new/some', opens: 'in_part', only: 'with links' },
        { path: '/new/kept', opens: 'kept' },
        { path: '/new/free', opens: 'always' },
      ],
    },
  );
  const live = { 'api-new': false };
  const { sources } = watch([services.url, (await serverThatSays(live)).url]);
  const statesOf = (id: string) => sources.find(id)?.routes.map(({ path, state, only }) => `${path} ${state} ${only}`.trim());
  await sources.look();
  expect(statesOf('api-old')).toEqual(['/old about', '/new/work refused']);
  expect(statesOf('api-new')).toEqual(['/new/work refused', '/new/some in_part with links', '/new/kept kept', '/new/free open']);
  live['api-new'] = true;
  await sources.look();
  expect(statesOf('api-old')).toEqual(['/old about', '/new/work open']);
  expect(statesOf('api-new')).toEqual(['/new/work open', '/new/some open', '/new/kept open', '/new/free open']);
  await sources.close();
});

it('says how old the data is that a product answers from', async () => {
  const data = [
    { name: 'Table of places', asOf: new Date('2026-06-05') },
    { name: 'Table of networks', asOf: null },
  ];
  const server = await startPrivateServer({
    ...{ host: '127.0.0.1', port: 0, metrics: createMetrics(), checks: {}, live: { 'api-ip': true } },
    data: () => Promise.resolve({ 'api-ip': data }),
  });
  servers.push(server);
  const { sources } = watch([server.url]);
  await sources.look();
  expect(sources.find('api-ip')?.data).toEqual([
    { name: 'Table of places', asOf: '2026-06-05T00:00:00.000Z' },
    { name: 'Table of networks', asOf: null },
  ]);
  await sources.close();
});

it('says since when, which only a change moves', async () => {
  const live = { 'api-gst': false };
  const { url } = await serverThatSays(live);
  const { sources, clock } = watch([url]);
  await sources.look();
  const first = sources.revision();
  clock.ms += 60_000;
  await sources.look();
  expect(sources.revision()).toBe(first);
  live['api-gst'] = true;
  await sources.look();
  expect(sources.find('api-gst')).toEqual({ isThere: true, since: '2026-11-01T00:01:00.000Z', routes: [] });
  expect(sources.revision()).not.toBe(first);
  await sources.close();
});

it('takes a product for live only when all who know it say so', async () => {
  const [one, other] = await Promise.all([serverThatSays({ 'api-app': true }), serverThatSays({ 'api-app': false })]);
  const { sources } = watch([one.url, other.url]);
  await sources.look();
  expect(sources.find('api-app')?.isThere).toBe(false);
  await sources.close();
});

it('keeps what it heard through a restart, and forgets it when the silence lasts', async () => {
  const server = await serverThatSays({ 'api-ip': true });
  const { sources, clock } = watch([server.url]);
  await sources.look();
  await servers.pop()?.close();
  clock.ms += 120_000;
  await sources.look();
  expect(sources.find('api-ip')).toMatchObject({ isThere: true });
  clock.ms += 1;
  await sources.look();
  expect(sources.find('api-ip')).toBeNull();
  await sources.close();
});

it('knows nothing when nobody is asked', async () => {
  const { sources } = watch([]);
  expect([sources.find('api-ip'), sources.revision()]).toEqual([null, '']);
  await sources.close();
});
