import { grankService } from '../../../services/products/grank/routes';
import { rankingWorkerSettings } from '../../../services/workers/ranking/settings';
import { startScriptedLink } from '../../support/scripted-link';
import { serviceWith, startTestWorker } from './setup';

describe('the settings', () => {
  const problemsOf = (env: Record<string, string>) =>
    rankingWorkerSettings.safeParse(env).error?.issues.map(({ path }) => path.join('.')) ?? [];
  const socket = { RANKING_WEBSOCKET_URL: 'wss://rank.example/link' };
  const places = { RANKING_GOOGLE_PLACES_KEY: 'k' };

  it.each([
    [{}, []],
    [{ ...socket, ...places, RANKING_SOURCE: 'google_places' }, []],
    [{ ...socket, ...places }, ['RANKING_SOURCE']],
    [{ ...places, RANKING_SOURCE: 'ranking_websocket' }, ['RANKING_WEBSOCKET_URL']],
    [{ ...socket, RANKING_SOURCE: 'google_places' }, ['RANKING_GOOGLE_PLACES_KEY']],
    [{ RANKING_WEBSOCKET_URL: 'https://rank.example' }, ['RANKING_WEBSOCKET_URL']],
  ])('%j have problems with %j', (env, problems) => expect(problemsOf(env)).toEqual(problems));
});

it('a live call goes to the configured WebSocket, and its bytes come back unchanged', async () => {
  const body = '{ "ok" : true, "cid": 12345678901234567890, "score": 1.0 }';
  const link = await startScriptedLink(({ id }, say) => say(`{"type":"result","id":${JSON.stringify(id)},"body":${body}}`));
  const worker = await startTestWorker({ RANKING_WEBSOCKET_URL: `${link.url}/rank` });
  const grank = await serviceWith(grankService, worker.address);
  const payload = { keyword: 'dentist', latitude: 12.97, longitude: 77.59, business_name: 'Acme' };
  for (const route of ['search', 'position']) {
    const response = await grank.call({ method: 'POST', url: `/grank/${route}`, payload, context: { mode: 'live' } });
    expect([response.statusCode, response.headers['content-type']]).toEqual([200, 'application/json; charset=utf-8']);
    expect(response.body).toBe(body);
    expect(response.headers['x-tollgate-mode']).toBeUndefined();
  }
  const health = await grank.call({ method: 'GET', url: '/grank/health', context: { mode: 'live' } });
  expect(health.json().data).toEqual({ worker: 'serving', workers: 1, source: 'ranking_websocket' });
  await grank.app.close();
  await worker.close(100);
  await link.close();
});
