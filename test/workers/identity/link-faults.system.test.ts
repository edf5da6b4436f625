import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { contextFor, proofHeader } from '../../services/kit/harness';
import { eventually } from '../../support/eventually';
import { holdTime } from '../../support/faults/held-time';
import { asLive, get, post } from './support/ask';
import { openingSessions, PIXEL } from '../../support/scripted-link';
import { listening, Stage } from './support/stage';

const NUMBER = '999999990019';
const GSTIN = '27AAACR5055K1Z7';

let stage: Stage;
beforeEach(() => (stage = new Stage()));
afterEach(() => stage.close());

describe('the upstream link', () => {
  test('dropped in the middle of a submit is 502; the session goes on when the upstream still knows it', async () => {
    let submits = 0;
    const link = await stage.linkThat(
      openingSessions((frame, say) => {
        if (++submits > 1) say({ type: 'result', sessionId: frame.sessionId, payload: { gstin: frame.gstin } });
        else link.drop();
      }),
    );
    const gst = stage.gst([await stage.worker({ GST_LINK_URL: link.url })]);
    const { sessionId } = await get(gst, '/gst/start', asLive);
    const entry = { sessionId, GSTIN, captcha: 'x' };
    expect(await post(gst, '/gst/data', entry, asLive)).toMatchObject({ statusCode: 502, code: 'upstream_failed', reason: 'unreachable' });
    expect(await post(gst, '/gst/data', entry, asLive)).toMatchObject({ statusCode: 200, gstin: GSTIN });
  });

  test('that forgot the session is 400 session_expired', async () => {
    const link = await stage.linkThat(
      openingSessions((frame, say) => say({ type: 'error', sessionId: frame.sessionId, code: 'session_unknown', message: 'm' })),
    );
    const worker = await stage.worker({ GST_LINK_URL: link.url, AADHAAR_LINK_URL: link.url });
    const [gst, aadhaar] = [stage.gst([worker]), stage.aadhaar([worker])];
    const { sessionId } = await get(gst, '/gst/start', asLive);
    expect(await post(gst, '/gst/data', { sessionId, GSTIN, captcha: 'x' }, asLive)).toMatchObject({
      statusCode: 400,
      code: 'session_expired',
    });
    const started = await post(aadhaar, '/aadhaar/start', { aadhaar: NUMBER }, asLive);
    const next = { sessionId: started.sessionId, captcha: 'x' };
    expect(await post(aadhaar, '/aadhaar/captcha', next, asLive)).toMatchObject({ statusCode: 400, code: 'session_expired' });
  });

  test('that answers slowly is 504, ends the session, and its late record reaches nobody', async () => {
    const time = holdTime('timeouts');
    stage.onClose(() => time.release());
    const link = await stage.linkThat(openingSessions(() => void setImmediate(() => time.pass(1_000))));
    const gst = stage.gst([await stage.worker({ GST_LINK_URL: link.url, IDENTITY_MESSAGE_TIMEOUT_MS: '1000' })]);
    const { sessionId } = await get(gst, '/gst/start', asLive);
    expect(await post(gst, '/gst/data', { sessionId, GSTIN, captcha: 'x' }, asLive)).toMatchObject({
      statusCode: 504,
      code: 'upstream_timeout',
    });
    for (const socket of link.sockets) socket.send(JSON.stringify({ type: 'result', sessionId: 'up-1', payload: { gstin: GSTIN } }));
    expect(await post(gst, '/gst/data', { sessionId, GSTIN, captcha: 'x' }, asLive)).toMatchObject({
      statusCode: 400,
      code: 'session_expired',
    });
  });

  test('that never finishes its handshake is 504', async () => {
    const silent = createServer(() => undefined).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    stage.onClose(() => silent.close());
    const { port } = silent.address() as AddressInfo;
    const worker = await stage.worker({ GST_LINK_URL: `ws://127.0.0.1:${port}`, IDENTITY_CONNECT_TIMEOUT_MS: '100' });
    expect(await get(stage.gst([worker]), '/gst/start', asLive)).toMatchObject({ statusCode: 504, code: 'upstream_timeout' });
  });

  test.each([
    ['an unknown error code', { type: 'error', code: 'surprise' }, 502],
    ['a time-out of its own', { type: 'error', code: 'timeout' }, 504],
    ['a record of somebody else', { type: 'result', payload: { gstin: '33AAAGM0289C1DZ' } }, 502],
    ['a payload that is a list', { type: 'result', payload: [] }, 502],
    ['no payload', { type: 'result' }, 502],
    ['another kind of answer', { type: 'otp_required' }, 502],
    ['a frame without a type', { payload: { gstin: GSTIN } }, 502],
    ['a type that is no text', { type: 7, payload: { gstin: GSTIN } }, 502],
  ])('that answers with %s fails the submit, not the session', async (_what, answer, statusCode) => {
    let submits = 0;
    const link = await stage.linkThat(
      openingSessions((frame, say) => {
        say({ ...(submits++ === 0 ? answer : { type: 'result', payload: { gstin: frame.gstin } }), sessionId: frame.sessionId });
      }),
    );
    const gst = stage.gst([await stage.worker({ GST_LINK_URL: link.url })]);
    const { sessionId } = await get(gst, '/gst/start', asLive);
    expect(await post(gst, '/gst/data', { sessionId, GSTIN, captcha: 'x' }, asLive)).toMatchObject({ statusCode });
    expect(await post(gst, '/gst/data', { sessionId, GSTIN, captcha: 'x' }, asLive)).toMatchObject({ statusCode: 200 });
  });

  test('that answers with a record has it passed through as it was written, large integers and 1.0 too', async () => {
    const payload = `{ "gstin":"${GSTIN}", "turnover": 12345678901234567890,"rate":1.0 , "e":1E2 }`;
    const link = await stage.linkThat(
      openingSessions((frame, say) => say(`{"type":"result","payload":${payload},"sessionId":"${frame.sessionId}"}`)),
    );
    const gst = stage.gst([await stage.worker({ GST_LINK_URL: link.url })]);
    const { sessionId } = await get(gst, '/gst/start', asLive);
    const answer = await gst.call({
      method: 'POST',
      url: '/gst/data',
      payload: { sessionId, GSTIN, captcha: 'x' },
      context: asLive,
    });
    expect([answer.statusCode, answer.body]).toEqual([200, payload]);
  });

  test('that answers with something that is no JSON is 502 at once, not 504', async () => {
    let submits = 0;
    const link = await stage.linkThat(
      openingSessions((frame, say) =>
        say(++submits > 1 ? { type: 'result', sessionId: frame.sessionId, payload: { gstin: frame.gstin } } : '<html>Busy</html>'),
      ),
    );
    const gst = stage.gst([await stage.worker({ GST_LINK_URL: link.url })]);
    const { sessionId } = await get(gst, '/gst/start', asLive);
    const entry = { sessionId, GSTIN, captcha: 'x' };
    expect(await post(gst, '/gst/data', entry, asLive)).toMatchObject({ statusCode: 502, code: 'upstream_failed', reason: 'bad_response' });
    expect(await post(gst, '/gst/data', entry, asLive)).toMatchObject({ statusCode: 200, gstin: GSTIN });
  });

  test('whose captcha is no image, or says the number of the holder, cannot pass it on', async () => {
    const link = await stage.linkThat((frame, say) => {
      if (frame.type === 'start')
        say({ type: 'captcha', requestId: frame.requestId, sessionId: 'u', captcha: frame.aadhaar ? PIXEL : 'bm8=' });
      else if (frame.type === 'captcha') say({ type: 'otp_required', sessionId: 'u' });
      else
        say({
          type: 'result',
          sessionId: 'u',
          payload: { name: `H ${NUMBER}`, aadhaar: NUMBER, address: { house: '9999 9999 0019', Bad: 'x' } },
        });
    });
    const worker = await stage.worker({ GST_LINK_URL: link.url, AADHAAR_LINK_URL: link.url });
    expect(await get(stage.gst([worker]), '/gst/start', asLive)).toMatchObject({ statusCode: 502, reason: 'bad_response' });
    const aadhaar = stage.aadhaar([worker]);
    const { sessionId } = await post(aadhaar, '/aadhaar/start', { aadhaar: NUMBER }, asLive);
    await post(aadhaar, '/aadhaar/captcha', { sessionId, captcha: 'x' }, asLive);
    const { data } = await post(aadhaar, '/aadhaar/otp', { sessionId, otp: '123456' }, asLive);
    expect(data).toMatchObject({
      name: 'H XXXXXXXX0019',
      address: { house: 'XXXXXXXX0019' },
      masked_aadhaar: 'XXXXXXXX0019',
      gender: null,
    });
    expect(JSON.stringify(data)).not.toContain('9999');
  });

  test('a caller that leaves frees the session’s place: its step ends in the worker', async () => {
    const link = await stage.linkThat(openingSessions(() => undefined));
    const gst = stage.gst([await stage.worker({ GST_LINK_URL: link.url, IDENTITY_MOST_SESSIONS: '1' })]);
    const port = await listening(gst);
    const { sessionId } = await get(gst, '/gst/start', asLive);
    const leaving = new AbortController();
    const body = JSON.stringify({ sessionId, GSTIN, captcha: 'x' });
    const headers = { ...proofHeader(contextFor('api-gst', asLive)), 'content-type': 'application/json' };
    const waiting = fetch(`http://127.0.0.1:${port}/gst/data`, { method: 'POST', headers, body, signal: leaving.signal });
    await eventually(() => link.received.length === 2);
    leaving.abort();
    await expect(waiting).rejects.toThrow();
    await eventually(async () => (await get(gst, '/gst/start', asLive)).statusCode === 200);
  });
});
