import { once } from 'node:events';
import sharp from 'sharp';
import { WebSocket } from 'ws';
import { isAadhaarNumber } from '../../../services/aadhaar/aadhaar-number';
import { hasValidCheckCharacter, isGstinShape } from '../../../services/gst/gstin';
import { CAPTCHA_TEXTS, captchaImage } from '../../../services/sandbox/identity-captcha';
import { type SandboxExample } from '../../../services/sandbox/sandbox-upstream';
import { type Harness } from '../../services/kit/harness';
import { Stage } from './support/stage';

const stage = new Stage();
let url = '';
let services: { gst: Harness; aadhaar: Harness };
let examples: SandboxExample[];
beforeAll(async () => {
  ({ url } = await stage.sandbox());
  const worker = await stage.worker({ SANDBOX_URL: url, IDENTITY_MESSAGE_TIMEOUT_MS: '3000' });
  services = { gst: stage.gst([worker]), aadhaar: stage.aadhaar([worker]) };
  const all = (await (await fetch(url)).json()) as SandboxExample[];
  examples = all.filter(({ product }) => product === 'api-gst' || product === 'api-aadhaar');
});
afterAll(() => stage.close());

async function link(path: string): Promise<(message: object) => Promise<any>> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/identity/${path}`);
  await once(socket, 'open');
  stage.onClose(() => socket.close());
  return async (message) => {
    const answer = once(socket, 'message');
    socket.send(JSON.stringify(message));
    return JSON.parse(String((await answer)[0]));
  };
}

test('the GST link speaks the published wire form', async () => {
  const say = await link('gst');
  const started = await say({ type: 'start', requestId: 'r-1' });
  expect(started).toEqual({ type: 'captcha', requestId: 'r-1', sessionId: expect.any(String), captcha: expect.stringMatching(/^iVBOR/) });
  const { sessionId } = started;
  expect(await say({ type: 'refresh', sessionId })).toEqual({ type: 'captcha', sessionId, captcha: expect.stringMatching(/^iVBOR/) });
  const entry = { type: 'data', sessionId, gstin: '27AAACR5055K1Z7' };
  expect(await say({ ...entry, captcha: 'KX47M' })).toEqual({
    type: 'error',
    sessionId,
    code: 'captcha_rejected',
    message: expect.any(String),
  });
  const result = await say({ ...entry, captcha: 'TR23P' });
  expect(result).toEqual({ type: 'result', sessionId, payload: expect.objectContaining({ gstin: entry.gstin, rgdt: '01/07/2017' }) });
  expect(Object.keys(result.payload)).toEqual(
    expect.arrayContaining([
      'gstin',
      'lgnm',
      'tradeNam',
      'sts',
      'dty',
      'ctb',
      'rgdt',
      'cxdt',
      'nba',
      'stj',
      'ctj',
      'pradr',
      'ntcrbs',
      'einvoiceStatus',
      'lstupdt',
      'adadr',
    ]),
  );
  expect(await say({ ...entry, captcha: 'TR23P' })).toMatchObject({ type: 'error', code: 'session_unknown' });
});

test('the Aadhaar link speaks the published wire form', async () => {
  const say = await link('aadhaar');
  const { sessionId, ...started } = await say({ type: 'start', requestId: 'r-1', aadhaar: '999999990019' });
  expect(started).toEqual({ type: 'captcha', requestId: 'r-1', captcha: expect.stringMatching(/^iVBOR/) });
  expect(await say({ type: 'captcha', sessionId, captcha: 'no' })).toEqual({ type: 'captcha', sessionId, captcha: expect.any(String) });
  expect(await say({ type: 'captcha', sessionId, captcha: 'TR23P' })).toEqual({ type: 'otp_required', sessionId });
  expect(await say({ type: 'otp', sessionId, otp: '1' })).toMatchObject({ type: 'error', code: 'otp_invalid' });
  expect(await say({ type: 'otp', sessionId, otp: '123456' })).toMatchObject({
    type: 'result',
    sessionId,
    payload: { name: expect.any(String) },
  });
  expect(await say({ type: 'nonsense' })).toMatchObject({ type: 'error', code: 'session_unknown' });
});

test('captchas are PNGs that a decoder accepts, all different', async () => {
  const images = CAPTCHA_TEXTS.map((_, index) => captchaImage(index));
  expect(new Set(images).size).toBe(CAPTCHA_TEXTS.length);
  for (const image of images) {
    const { format, width, height } = await sharp(Buffer.from(image, 'base64'), { failOn: 'warning' }).metadata();
    expect([format, width, height]).toEqual(['png', 160, 48]);
    const { dominant } = await sharp(Buffer.from(image, 'base64')).stats();
    expect(dominant.r).toBeGreaterThan(200);
  }
});

test('every outcome that was promised is listed, and every listed number is valid', () => {
  const outcomes = (route: string): string[] => examples.filter((each) => each.route === route).map(({ outcome }) => outcome);
  for (const route of ['/gst', '/gst/start', '/gst/refresh_captcha', '/aadhaar']) expect(outcomes(route)).toEqual(['success']);
  expect(outcomes('/gst/data')).toEqual(expect.arrayContaining(['success', 'captcha_rejected', 'not_found', 'timeout']));
  const all = [...outcomes('/aadhaar/start'), ...outcomes('/aadhaar/captcha'), ...outcomes('/aadhaar/otp')];
  expect(all).toEqual(expect.arrayContaining(['success', 'captcha_rejected', 'otp_invalid', 'otp_expired', 'timeout']));
  for (const { input } of examples) {
    if ('GSTIN' in input) expect([isGstinShape(String(input.GSTIN)), hasValidCheckCharacter(String(input.GSTIN))]).toEqual([true, true]);
    if ('aadhaar' in input) expect(isAadhaarNumber(String(input.aadhaar))).toBe(true);
  }
});

/** The steps before a route's own, with the input that the example gives. */
async function play({ route, method, input }: SandboxExample): Promise<{ statusCode: number; body: any }> {
  const service = route.startsWith('/gst') ? services.gst : services.aadhaar;
  const context = { mode: 'test' as const };
  let sessionId: string | undefined;
  const step = async (url: string, fields: Record<string, unknown>, by: 'GET' | 'POST'): Promise<{ statusCode: number; body: any }> => {
    const given = JSON.parse(JSON.stringify({ ...fields, sessionId }));
    const answer = await service.call(
      by === 'GET' ? { method: by, url, query: given, context } : { method: by, url, payload: given, context },
    );
    return { statusCode: answer.statusCode, body: answer.json() };
  };
  if (['/gst/data', '/gst/refresh_captcha'].includes(route)) ({ sessionId } = (await step('/gst/start', {}, 'GET')).body);
  if (['/aadhaar/captcha', '/aadhaar/otp'].includes(route))
    ({ sessionId } = (await step('/aadhaar/start', { aadhaar: input.aadhaar }, 'POST')).body);
  if (route === '/aadhaar/otp') await step('/aadhaar/captcha', { captcha: input.captcha }, 'POST');
  // The whole input is sent: what earlier steps needed is ignored.
  return step(route, { ...input }, method);
}

test('every listed input yields what its entry says', async () => {
  const played = await Promise.all(examples.map(async (example) => ({ example, answer: await play(example) })));
  for (const { example, answer } of played) {
    const { outcome, route, yields } = example;
    const promised = Number(/\b([245]\d\d)\b/.exec(yields.replace(/^.*: (?=\d{3})/, ''))?.[1]);
    expect([route, outcome, answer.statusCode]).toEqual([route, outcome, promised]);
    const code = answer.body.code ?? answer.body.status;
    if (['captcha_rejected', 'not_found', 'otp_invalid', 'otp_expired'].includes(outcome) && route !== '/aadhaar/captcha')
      expect(code).toBe(outcome);
    if (outcome === 'timeout') expect(code).toBe('upstream_timeout');
  }
  expect(played).toHaveLength(24);
});
