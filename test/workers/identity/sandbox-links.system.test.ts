import { once } from 'node:events';
import sharp from 'sharp';
import { WebSocket } from 'ws';
import { CAPTCHA_TEXTS, captchaImage } from '../../../services/sandbox/identity/identity-captcha';
import { Stage } from './support/stage';

const stage = new Stage();
let url = '';
beforeAll(async () => ({ url } = await stage.sandbox()));
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
