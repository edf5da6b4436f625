import { createLog } from '../../../../services/kit/log';
import { createRankingHandlers } from '../../../../services/workers/ranking/handler';
import { type RankingUpstream } from '../../../../services/workers/ranking/ranking-upstream';

const query = { keyword: 'dentist', latitude: 1, longitude: 2, radiusKm: 3, maxResults: 20, placeId: 'p' };
const answer = JSON.stringify({ ok: true, position: 1 });

it('one subscription has two grids asked for at a time, whose places are free again afterwards; others have their own', async () => {
  let letGo = (): void => undefined;
  const held = new Promise<void>((resolve) => (letGo = resolve));
  const unused = () => Promise.reject(new Error('not of a grid'));
  const upstream: RankingUpstream = {
    source: 'google_places',
    search: unused,
    findPlaces: unused,
    close: () => Promise.resolve(),
    position: () => held.then(() => answer),
  };
  const handlers = createRankingHandlers({ serving: () => upstream, close: () => Promise.resolve() });
  const ask = (subscriptionId: string) =>
    handlers.Grid({ query, size: 3 }, {
      requestId: 'r',
      customerId: 'c',
      subscriptionId,
      mode: 'live',
      signal: new AbortController().signal,
      timeLeftMs: () => Infinity,
      log: createLog('test', { level: 'silent' }),
    }); // prettier-ignore
  const running = [ask('one'), ask('one'), ask('other')];
  await expect(ask('one')).rejects.toMatchObject({ problem: 'concurrency_exceeded' });
  letGo();
  for (const { dataJson } of await Promise.all(running)) expect(JSON.parse(dataJson ?? '')).toMatchObject({ summary: { found: 9 } });
  await expect(ask('one')).resolves.toHaveProperty('dataJson');
});
