import { Stage, listening } from '../../workers/identity/support/stage';
import { contextFor, proofHeader } from '../../kit/context';
import { type Harness } from '../../kit/harness';
import { firstOf } from '../../support/scenes';
import { once } from 'node:events';
import { WebSocket } from 'ws';
import { eventually } from '../../support/eventually';
import { gstService } from '../../../services/products/gst/routes';
import { pointer } from '../../support/openapi/documented-api';
import { documentOf } from '../../kit/documented-answers';
import { useOpened } from '../../support/opened';

describe('over HTTP', () => {
  const GSTIN = '27AAACR5055K1Z7';

  /** The same guarantees whichever upstream answers. */
  describe.each(firstOf(['link', 'portal']))('from the %s', (source) => {
    const stage = useOpened(() => new Stage());
    let gst: Harness;

    beforeAll(async () => {
      const { url } = await stage.sandbox();
      // Without a source of its own, a live key is refused before its session is looked for.
      const live = { GST_LINK_URL: `${url.replace('http', 'ws')}/identity/gst` };
      gst = stage.gst([await stage.worker({ ...live, SANDBOX_URL: url, GST_TEST_SOURCE: source })]);
    });

    const context = { mode: 'test' as const };
    const start = async () => (await gst.call({ method: 'GET', url: '/gst/start', context })).json();
    const post = (payload: object, as = {}) => gst.call({ method: 'POST', url: '/gst/data', payload, context: { ...context, ...as } });
    const refresh = (sessionId: string, path = '/gst/refresh_captcha', as = {}) =>
      gst.call({ method: 'GET', url: path, query: { sessionId }, context: { ...context, ...as } });

    it('GET /gst/start opens a session with an id of 128 bits and a PNG', async () => {
      const answer = await gst.call({ method: 'GET', url: '/gst/start', context });
      expect(answer.statusCode).toBe(200);
      expect(answer.json()).toEqual({
        sessionId: expect.stringMatching(/^[0-9a-f]{32}$/),
        image: expect.stringMatching(/^data:image\/png;base64,iVBOR/),
      });
      expect(answer.headers['cache-control']).toBe('no-store');
      expect(answer.headers['x-tollgate-mode']).toBe('test');
      expect((await start()).sessionId).not.toBe(answer.json().sessionId);
    });

    it('POST /gst/data passes the payload through, and the session is done', async () => {
      const { sessionId } = await start();
      const answer = await post({ sessionId, GSTIN, captcha: 'KX47M' });
      expect(answer.statusCode).toBe(200);
      expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
      expect(answer.json()).toMatchObject({ gstin: GSTIN, sts: 'Active', nba: expect.any(Array), pradr: { adr: expect.any(String) } });
      const again = await post({ sessionId, GSTIN, captcha: 'KX47M' });
      expect([again.statusCode, again.json().code]).toEqual([400, 'session_expired']);
    });

    it.each([
      ['a form with gst', 'application/x-www-form-urlencoded', (id: string) => `sessionId=${id}&gst=27aaacr5055k1z7&captcha=kx47m`],
      [
        'JSON with all three names and one number',
        'application/json',
        (id: string) => JSON.stringify({ sessionId: id, gstin: GSTIN, GSTIN, gst: GSTIN, captcha: 'KX47M' }),
      ],
    ])('takes %s', async (_what, type, body) => {
      const { sessionId } = await start();
      const headers = { 'content-type': type };
      const answer = await gst.call({ method: 'POST', url: '/gst/data', headers, payload: body(sessionId), context });
      expect([answer.statusCode, answer.json().gstin]).toEqual([200, GSTIN]);
    });

    it('a wrong captcha is 502 captcha_rejected with the next one, which works; the old one does not', async () => {
      const { sessionId, image } = await start();
      const rejected = await post({ sessionId, GSTIN, captcha: 'WRONG' });
      expect(rejected.statusCode).toBe(502);
      const { code, captcha, attempts_left } = rejected.json();
      expect([code, attempts_left, captcha.sessionId]).toEqual(['captcha_rejected', 2, sessionId]);
      expect(captcha.image).toMatch(/^data:image\/png;base64,/);
      expect(captcha.image).not.toBe(image);
      expect((await post({ sessionId, GSTIN, captcha: 'KX47M' })).json()).toMatchObject({ code: 'captcha_rejected', attempts_left: 1 });
      expect((await post({ sessionId, GSTIN, captcha: 'M7XK2' })).statusCode).toBe(200);
    });

    it('the third wrong captcha ends the session', async () => {
      const { sessionId } = await start();
      for (const code of ['captcha_rejected', 'captcha_rejected', 'attempts_exhausted', 'session_expired']) {
        expect((await post({ sessionId, GSTIN, captcha: 'WRONG' })).json().code).toBe(code);
      }
    });

    it('a refresh voids the old captcha, by either path, five times at most', async () => {
      const { sessionId, image } = await start();
      const seen = [image];
      for (let turn = 0; turn < 5; turn++) {
        const answer = await refresh(sessionId, turn % 2 === 0 ? '/gst/refresh_captcha' : '/api/v1/gst/refresh-captcha');
        expect([answer.statusCode, answer.json().sessionId]).toEqual([200, sessionId]);
        seen.push(answer.json().image);
      }
      expect(new Set(seen).size).toBe(6);
      expect((await refresh(sessionId)).json()).toMatchObject({ status: 400, code: 'refreshes_exhausted' });
      expect((await post({ sessionId, GSTIN, captcha: 'KX47M' })).json().code).toBe('captcha_rejected');
      expect((await post({ sessionId, GSTIN, captcha: 'K4MT7' })).statusCode).toBe(200);
    });

    it('only one of ten submits at once is sent; the others are told that the session is busy', async () => {
      const { sessionId } = await start();
      const answers = await Promise.all(Array.from({ length: 10 }, () => post({ sessionId, GSTIN, captcha: 'KX47M' })));
      const codes = answers.map((each) => (each.statusCode === 200 ? 'ok' : each.json().code));
      expect(codes.filter((code) => code === 'ok')).toHaveLength(1);
      expect(codes.filter((code) => code === 'session_busy' || code === 'session_expired')).toHaveLength(9);
    });

    it.each([
      ['another subscription', { subscriptionId: 'subscription-2' }],
      ['the same subscription in live mode', { mode: 'live' as const }],
    ])('a session belongs to who opened it: %s is told that there is none, and does not disturb it', async (_who, as) => {
      const { sessionId } = await start();
      const [taken, refreshed] = [await post({ sessionId, GSTIN, captcha: 'KX47M' }, as), await refresh(sessionId, undefined, as)];
      const unknown = await post({ sessionId: '0'.repeat(32), GSTIN, captcha: 'KX47M' });
      for (const answer of [taken, refreshed]) expect(answer.json()).toEqual(unknown.json());
      expect(unknown.json()).toMatchObject({ status: 400, code: 'session_expired' });
      expect((await post({ sessionId, GSTIN, captcha: 'KX47M' })).statusCode).toBe(200);
    });
  });
});

describe('over the WebSocket', () => {
  const documented = documentOf(gstService);
  const stage = useOpened(() => new Stage());
  let gst: Harness;
  let workers: { address: string }[];
  let port = 0;

  beforeAll(async () => {
    const { url } = await stage.sandbox();
    workers = [await stage.worker({ SANDBOX_URL: url })];
    gst = stage.gst(workers);
    port = await listening(gst);
  });

  async function open(mode: 'live' | 'test' = 'test', at = port): Promise<WebSocket> {
    const headers = proofHeader(contextFor('api-gst', { mode }));
    const socket = new WebSocket(`ws://127.0.0.1:${at}/gst/start`, { headers });
    await once(socket, 'open');
    return socket;
  }

  /** Every message is as the OpenAPI document describes it. */
  async function nextMessage(socket: WebSocket): Promise<any> {
    const [data] = await once(socket, 'message');
    const message: unknown = JSON.parse(String(data));
    expect(documented.violations(`${pointer('paths', '/gst/start', 'get', 'x-webSocket')}/received`, message)).toEqual([]);
    return message;
  }

  function messagesOf(socket: WebSocket): any[] {
    const said: any[] = [];
    socket.on('message', (data: Buffer) => said.push(JSON.parse(data.toString('utf8'))));
    return said;
  }

  it('{"type":"start"} is answered with a captcha, and its session goes on over HTTP', async () => {
    const socket = await open();
    socket.send('{"type":"start"}');
    const captcha = await nextMessage(socket);
    expect(captcha).toEqual({
      type: 'captcha',
      sessionId: expect.stringMatching(/^[0-9a-f]{32}$/),
      captcha: expect.stringMatching(/^iVBOR/),
    });
    const payload = { sessionId: captcha.sessionId, gst: '27AAACR5055K1Z7', captcha: 'KX47M' };
    const answer = await gst.call({ method: 'POST', url: '/gst/data', payload, context: { mode: 'test' } });
    expect([answer.statusCode, answer.json().gstin]).toEqual([200, payload.gst]);
    socket.close();
  });

  it.each(['', '[]', '{"type":"data"}', '{"type":"start"'])('%j is refused and ends the connection with 1008', async (text) => {
    const socket = await open();
    const closed = once(socket, 'close');
    socket.send(text);
    expect(await nextMessage(socket)).toMatchObject({ type: 'error', code: 'invalid_request', status: 400 });
    expect((await closed)[0]).toBe(1008);
  });

  it('binary messages are refused', async () => {
    const socket = await open();
    const closed = once(socket, 'close');
    socket.send(Buffer.from('{"type":"start"}'));
    expect((await closed)[0]).toBe(1008);
  });

  it('one connection opens one session, as it was charged once; a second start does not take the first captcha away', async () => {
    const socket = await open();
    const said = messagesOf(socket);
    socket.send('{"type":"start"}');
    socket.send('{"type":"start"}');
    await eventually(() => said.length === 2);
    expect(said).toEqual([
      expect.objectContaining({ type: 'error', code: 'invalid_request', status: 400 }),
      expect.objectContaining({ type: 'captcha', sessionId: expect.any(String) }),
    ]);
    socket.send('{"type":"refresh"}');
    await eventually(() => said.length === 3);
    expect(said[2]).toMatchObject({ type: 'captcha', sessionId: said[1].sessionId });
    socket.close();
  });

  it('{"type":"refresh"} shows the next captcha of the same session, five times at most, and voids the one before it', async () => {
    const socket = await open();
    socket.send('{"type":"start"}');
    const { sessionId, captcha } = await nextMessage(socket);
    const seen = [captcha];
    for (const message of ['{"type":"refresh"}', JSON.stringify({ type: 'refresh', sessionId })]) {
      socket.send(message);
      const next = await nextMessage(socket);
      expect(next).toEqual({ type: 'captcha', sessionId, captcha: expect.stringMatching(/^iVBOR/) });
      seen.push(next.captcha);
    }
    expect(new Set(seen).size).toBe(3);
    for (const _ of [3, 4, 5]) {
      socket.send('{"type":"refresh"}');
      expect((await nextMessage(socket)).type).toBe('captcha');
    }
    socket.send('{"type":"refresh"}');
    expect(await nextMessage(socket)).toMatchObject({ type: 'error', code: 'refreshes_exhausted', status: 400 });
    socket.close();
  });

  it.each([
    ['before there is a captcha', []],
    ['of another session', ['{"type":"start"}']],
  ])('a refresh %s is refused, and the connection stays', async (_what, before) => {
    const socket = await open();
    for (const each of before) {
      socket.send(each);
      await nextMessage(socket);
    }
    socket.send(JSON.stringify({ type: 'refresh', sessionId: '0'.repeat(32) }));
    expect(await nextMessage(socket)).toMatchObject({ type: 'error', code: 'invalid_request', status: 400 });
    expect(socket.readyState).toBe(WebSocket.OPEN);
    socket.close();
  });

  it('a session that cannot be started is told as an error, and ends the connection', async () => {
    const socket = await open('live');
    const closed = once(socket, 'close');
    socket.send('{"type":"start"}');
    expect(await nextMessage(socket)).toMatchObject({
      type: 'error',
      code: 'upstream_not_configured',
      status: 503,
      request_id: 'request-1',
    });
    expect((await closed)[0]).toBe(1011);
  });

  it('a connection ends by itself', async () => {
    const short = stage.gst(workers, { GST_SOCKET_MS: '50' });
    const socket = await open('test', await listening(short));
    expect((await once(socket, 'close'))[0]).toBe(1000);
  });
});
