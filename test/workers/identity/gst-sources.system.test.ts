import { cookieHeader, cookiesAfter } from '../../../services/workers/identity/upstream/cookie-jar';
import { type UpstreamResponse } from '../../../services/kit/upstream/upstream-client';
import { GstPortal } from '../../../services/workers/identity/upstream/gst-portal';
import { contextFor, proofHeader } from '../../kit/context';
import { type Harness } from '../../kit/harness';
import { type HeldTime, holdTime } from '../../support/faults/held-time';
import { asLive, get, post } from './support/ask';
import { PIXEL, openingSessions } from '../../support/scripted-link';
import { MovingClock } from './support/moving-clock';
import { startScriptedHttp, type ScriptedAnswer, type ScriptedHttp } from './support/scripted-http';
import { Stage, listening } from './support/stage';
import samples from './samples/gst-portal.json';
import { eventually } from '../../support/eventually';

describe('the portal', () => {
  const GSTIN = samples.record.gstin;
  const image = { headers: { 'content-type': 'image/png' }, body: Buffer.from(PIXEL, 'base64') };

  const MESSAGE_MS = 1_000;

  let stage: Stage;
  /** Passes where the portal is silent, and nowhere else. */
  let time: HeldTime;
  beforeEach(() => {
    time = holdTime('timeouts');
    stage = new Stage();
  });
  afterEach(() => {
    time.release();
    return stage.close();
  });

  type Answers = Partial<Record<'searchtp' | 'captcha' | 'details', ScriptedAnswer | 'hang' | 'reset'>>;

  /** Sets a cookie with each page, as the portal does; answers submissions in turn, the last one for ever. */
  async function portalThat(
    submissions: (ScriptedAnswer | 'hang')[],
    answers: Answers = {},
  ): Promise<{ portal: ScriptedHttp; gst: Harness }> {
    let [visits, captchas, submitted] = [0, 0, 0];
    const portal = await startScriptedHttp(
      ({ url }) => {
        if (url === '/services/searchtp')
          return answers.searchtp ?? { headers: { 'set-cookie': [`visit=${++visits}; Expires=Thu, 31 Dec 2099 23:59:59 GMT`, 'lang=en'] } };
        if (url === '/services/captcha')
          return answers.captcha ?? { ...image, headers: { ...image.headers, 'set-cookie': `CaptchaCookie=c${++captchas}; Secure` } };
        return submissions[Math.min(submitted++, submissions.length - 1)] ?? 'reset';
      },
      () => time.pass(MESSAGE_MS),
    );
    stage.onClose(() => portal.close());
    const worker = await stage.worker({
      GST_PORTAL_URL: `${portal.url}/services`,
      GST_PORTAL_ACKNOWLEDGEMENT: 'we-have-the-right-to-use-the-portal',
      IDENTITY_MESSAGE_TIMEOUT_MS: String(MESSAGE_MS),
    });
    return { portal, gst: stage.gst([worker]) };
  }

  const submit = (gst: Harness, sessionId: string) => post(gst, '/gst/data', { sessionId, GSTIN, captcha: 'a1' }, asLive);

  it('a record is passed through as it was written, large integers and 1.0 too', async () => {
    const written = `{ "gstin":"${GSTIN}","turnover": 12345678901234567890, "rate":1.0 }`;
    const { gst } = await portalThat([{ headers: { 'content-type': 'application/json' }, body: Buffer.from(written) }]);
    const { sessionId } = await get(gst, '/gst/start', asLive);
    const answer = await gst.call({ method: 'POST', url: '/gst/data', payload: { sessionId, GSTIN, captcha: 'a1' }, context: asLive });
    expect([answer.statusCode, answer.body]).toEqual([200, written]);
  });

  it('a session carries its own cookies from the page to the query, and no other’s', async () => {
    const { portal, gst } = await portalThat([{ body: samples.wrongCaptcha }, { body: samples.record }]);
    const one = await get(gst, '/gst/start', asLive);
    await get(gst, '/gst/start', asLive);
    expect(one.image).toBe(`data:image/png;base64,${PIXEL}`);
    const { sessionId } = one;
    expect(await submit(gst, sessionId)).toMatchObject({ statusCode: 502, code: 'captcha_rejected', captcha: { sessionId } });
    const answer = await submit(gst, one.sessionId);
    expect(answer).toEqual({ statusCode: 200, ...samples.record });
    expect(portal.seen.map(({ method, url, headers }) => [method, url, headers.cookie])).toEqual([
      ['GET', '/services/searchtp', undefined],
      ['GET', '/services/captcha', 'visit=1; lang=en'],
      ['GET', '/services/searchtp', undefined],
      ['GET', '/services/captcha', 'visit=2; lang=en'],
      ['POST', '/services/api/search/taxpayerDetails', 'visit=1; lang=en; CaptchaCookie=c1'],
      ['GET', '/services/captcha', 'visit=1; lang=en; CaptchaCookie=c1'],
      ['POST', '/services/api/search/taxpayerDetails', 'visit=1; lang=en; CaptchaCookie=c3'],
    ]);
    expect(portal.seen.at(-1)?.json).toEqual({ gstin: GSTIN, captcha: 'a1' });
  });

  it.each([
    ['unknownNumber', { body: samples.unknownNumber }, { statusCode: 502, code: 'not_found' }],
    ['locked', { body: samples.locked }, { statusCode: 502, code: 'upstream_failed', reason: 'locked' }],
    ['no record', { body: samples.noRecord }, { statusCode: 502, code: 'upstream_failed', reason: 'bad_response' }],
    ['a record of somebody else', { body: { ...samples.record, gstin: '33AAAGM0289C1DZ' } }, { statusCode: 502, reason: 'bad_response' }],
    ['a record with status 500', { status: 500, body: samples.record }, { statusCode: 502, reason: 'upstream_error' }],
    ['silence', 'hang' as const, { statusCode: 504, code: 'upstream_timeout' }],
  ])('a submission that meets %s', async (_what, said, expected) => {
    const { portal, gst } = await portalThat([said]);
    const { sessionId } = await get(gst, '/gst/start', asLive);
    expect(await submit(gst, sessionId)).toMatchObject(expected);
    // A captcha is good for one query: none is repeated.
    expect(portal.seen.filter(({ method }) => method === 'POST')).toHaveLength(1);
  });

  it('a record in the character set that the portal declares is passed on as it reads', async () => {
    const headers = { 'content-type': 'application/json;charset=ISO-8859-1' };
    const { gst } = await portalThat([{ headers, body: Buffer.from(JSON.stringify(samples.record), 'latin1') }]);
    const { sessionId } = await get(gst, '/gst/start', asLive);
    expect((await submit(gst, sessionId)).pradr).toEqual(samples.record.pradr);
  });

  it.each([
    ['searchtp', { status: 503 }, { statusCode: 502, reason: 'upstream_error' }],
    ['captcha', { body: 'no image' }, { statusCode: 502, reason: 'bad_response' }],
    ['captcha', 'hang' as const, { statusCode: 504, code: 'upstream_timeout' }],
  ])('a start whose %s fails opens no session', async (page, answer, expected) => {
    const { gst } = await portalThat([], { [page]: answer });
    expect(await get(gst, '/gst/start', asLive)).toMatchObject(expected);
  });

  it('a session that ended or never began is not kept', async () => {
    const call = { mode: 'live' as const, signal: new AbortController().signal };
    const answers: Record<string, (UpstreamResponse | Error)[]> = {};
    const request = ({ path }: { path: string }): Promise<UpstreamResponse> => {
      const next = answers[path]?.shift() ?? new Error('broken');
      return next instanceof Error ? Promise.reject(next) : Promise.resolve(next);
    };
    const ok = (bytes: Buffer | string): UpstreamResponse => ({ status: 200, headers: {}, bytes: Buffer.from(bytes) });
    const upstream = new GstPortal({ client: { request }, clock: new MovingClock(), mostSessions: 10 });
    await expect(upstream.start(call)).rejects.toThrow();
    expect(upstream.size).toBe(0);
    const open = async (): Promise<string> => {
      Object.assign(answers, { '/searchtp': [ok('')], '/captcha': [ok(image.body)] });
      return (await upstream.start(call)).upstreamId;
    };
    const query = '/api/search/taxpayerDetails';
    const [done, lost, failed] = [await open(), await open(), await open()];
    answers[query] = [
      ok(JSON.stringify(samples.record)),
      Object.assign(new Error('too late'), { name: 'TimeoutError' }),
      new Error('reset'),
    ];
    const entry = { gstin: GSTIN, captcha: 'a1' };
    expect(await upstream.submit(done, entry, call)).toMatchObject({ kind: 'record' });
    await expect(upstream.submit(lost, entry, call)).rejects.toThrow('too late');
    await expect(upstream.submit(failed, entry, call)).rejects.toMatchObject({ reason: 'unreachable' });
    expect(upstream.size).toBe(1);
    for (const gone of [done, lost]) expect(await upstream.refresh(gone, call)).toEqual({ kind: 'session_unknown' });
  });

  describe('cookies', () => {
    it('are read from a joined header, dates and all; a later value replaces, Max-Age=0 deletes', () => {
      const first = cookiesAfter(new Map(), 'a=1; Expires=Wed, 21 Oct 2099 07:28:00 GMT; Path=/, b=two==; Secure, c=3');
      expect(cookieHeader(first)).toEqual({ cookie: 'a=1; b=two==; c=3' });
      expect(cookieHeader(cookiesAfter(first, 'b=4, c=; Max-Age=0'))).toEqual({ cookie: 'a=1; b=4' });
      expect(cookieHeader(cookiesAfter(first, undefined))).toEqual(cookieHeader(first));
      expect(cookieHeader(new Map())).toEqual({});
    });

    it('that are no cookies, too long or too many are not sent back', () => {
      const many = Array.from({ length: 100 }, (_, index) => `n${index}=1`).join(', ');
      expect(cookiesAfter(new Map(), `=x, ;, no value, long=${'x'.repeat(5_000)}, b\r\nX: y=1`).size).toBeLessThanOrEqual(1);
      expect(cookiesAfter(new Map(), many).size).toBe(40);
    });
  });
});

describe('the link', () => {
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
});
