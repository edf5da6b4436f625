import { cookieHeader, cookiesAfter } from '../../../services/workers/identity/upstream/cookie-jar';
import { type UpstreamResponse } from '../../../services/kit/upstream/upstream-client';
import { GstPortal } from '../../../services/workers/identity/upstream/gst-portal';
import { type Harness } from '../../kit/harness';
import { type HeldTime, holdTime } from '../../support/faults/held-time';
import { asLive, get, post } from './support/ask';
import { PIXEL } from '../../support/scripted-link';
import { MovingClock } from './support/moving-clock';
import { startScriptedHttp, type ScriptedAnswer, type ScriptedHttp } from './support/scripted-http';
import { Stage } from './support/stage';
/** Forms of the portal's answers as its users have published them; names and places are made up. */
import samples from './samples/gst-portal.json';

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
  answers[query] = [ok(JSON.stringify(samples.record)), Object.assign(new Error('too late'), { name: 'TimeoutError' }), new Error('reset')];
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
