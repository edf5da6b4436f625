import { contextFor, proofHeader } from '../../kit/harness';
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

/** A gst service over an upstream that opens sessions and answers their submissions like this. */
async function openedOver(submission: Parameters<typeof openingSessions>[0], env: Record<string, string> = {}) {
  const link = await stage.linkThat(openingSessions(submission));
  const gst = stage.gst([await stage.worker({ GST_LINK_URL: link.url, ...env })]);
  const { sessionId } = await get(gst, '/gst/start', asLive);
  const payload = { sessionId, GSTIN, captcha: 'x' };
  return { link, gst, payload, submit: () => post(gst, '/gst/data', payload, asLive) };
}

describe('the upstream link', () => {
  it.each<[string, object | string | undefined, object]>([
    ['is dropped in the middle of a submit', undefined, { statusCode: 502, code: 'upstream_failed', reason: 'unreachable' }],
    ['answers with something that is no JSON', '<html>Busy</html>', { statusCode: 502, code: 'upstream_failed', reason: 'bad_response' }],
    ['answers with an unknown error code', { type: 'error', code: 'surprise' }, { statusCode: 502 }],
    ['answers with a time-out of its own', { type: 'error', code: 'timeout' }, { statusCode: 504 }],
    ['answers with a record of somebody else', { type: 'result', payload: { gstin: '33AAAGM0289C1DZ' } }, { statusCode: 502 }],
    ['answers with a frame without a type', { payload: { gstin: GSTIN } }, { statusCode: 502 }],
  ])('that %s fails the submit, not the session', async (_what, answer, failure) => {
    let submits = 0;
    const { link, submit } = await openedOver(({ sessionId, gstin }, say) => {
      if (submits++ > 0) say({ type: 'result', sessionId, payload: { gstin } });
      else if (answer === undefined) link.drop();
      else say(typeof answer === 'string' ? answer : { ...answer, sessionId });
    });
    expect(await submit()).toMatchObject(failure);
    expect(await submit()).toMatchObject({ statusCode: 200, gstin: GSTIN });
  });

  it('that forgot the session is 400 session_expired', async () => {
    const link = await stage.linkThat(
      openingSessions((frame, say) => say({ type: 'error', sessionId: frame.sessionId, code: 'session_unknown', message: 'm' })),
    );
    const worker = await stage.worker({ GST_LINK_URL: link.url, AADHAAR_LINK_URL: link.url });
    const [gst, aadhaar] = [stage.gst([worker]), stage.aadhaar([worker])];
    const expired = { statusCode: 400, code: 'session_expired' };
    const { sessionId } = await get(gst, '/gst/start', asLive);
    expect(await post(gst, '/gst/data', { sessionId, GSTIN, captcha: 'x' }, asLive)).toMatchObject(expired);
    const started = await post(aadhaar, '/aadhaar/start', { aadhaar: NUMBER }, asLive);
    expect(await post(aadhaar, '/aadhaar/captcha', { sessionId: started.sessionId, captcha: 'x' }, asLive)).toMatchObject(expired);
  });

  it('that answers slowly is 504, ends the session, and its late record reaches nobody', async () => {
    const time = holdTime('timeouts');
    stage.onClose(() => time.release());
    const { link, submit } = await openedOver(() => void setImmediate(() => time.pass(1_000)), { IDENTITY_MESSAGE_TIMEOUT_MS: '1000' });
    expect(await submit()).toMatchObject({ statusCode: 504, code: 'upstream_timeout' });
    for (const socket of link.sockets) socket.send(JSON.stringify({ type: 'result', sessionId: 'up-1', payload: { gstin: GSTIN } }));
    expect(await submit()).toMatchObject({ statusCode: 400, code: 'session_expired' });
  });

  it('that answers with a record has it passed through as it was written, large integers and 1.0 too', async () => {
    const written = `{ "gstin":"${GSTIN}", "turnover": 12345678901234567890,"rate":1.0 , "e":1E2 }`;
    const { gst, payload } = await openedOver(({ sessionId }, say) =>
      say(`{"type":"result","payload":${written},"sessionId":"${sessionId}"}`),
    );
    const answer = await gst.call({ method: 'POST', url: '/gst/data', payload, context: asLive });
    expect([answer.statusCode, answer.body]).toEqual([200, written]);
  });

  it('whose captcha is no image, or says the number of the holder, cannot pass it on', async () => {
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

  it('a caller that leaves frees the session’s place: its step ends in the worker', async () => {
    const { link, gst, payload } = await openedOver(() => undefined, { IDENTITY_MOST_SESSIONS: '1' });
    const port = await listening(gst);
    const leaving = new AbortController();
    const body = JSON.stringify(payload);
    const headers = { ...proofHeader(contextFor('api-gst', asLive)), 'content-type': 'application/json' };
    const waiting = fetch(`http://127.0.0.1:${port}/gst/data`, { method: 'POST', headers, body, signal: leaving.signal });
    await eventually(() => link.received.length === 2);
    leaving.abort();
    await expect(waiting).rejects.toThrow();
    await eventually(async () => (await get(gst, '/gst/start', asLive)).statusCode === 200);
  });
});
