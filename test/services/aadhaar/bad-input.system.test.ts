import { Stage } from '../../workers/identity/support/stage';
import { type Harness } from '../kit/harness';
import { isAadhaarNumber } from '../../../services/aadhaar/aadhaar-number';
import { isGstinShape } from '../../../services/gst/gstin';
import { fc } from '../../support/fast-check';

const stage = new Stage();
const services: Record<string, Harness> = {};
beforeAll(async () => {
  const { url } = await stage.sandbox();
  const worker = await stage.worker({ SANDBOX_URL: url });
  services.aadhaar = stage.aadhaar([worker]);
  services.gst = stage.gst([worker]);
});
afterAll(() => stage.close());

type Call = Parameters<Harness['call']>[0];

async function send(call: Call) {
  const name = /gst/.test(String(call.url)) ? 'gst' : 'aadhaar';
  const answer = await services[name]!.call({ method: 'POST', ...call, context: { mode: 'test' } });
  return { statusCode: answer.statusCode, ...answer.json() };
}

const ID = '0'.repeat(32);
const GSTIN = '27AAACR5055K1Z7';
const POSTS = ['/aadhaar/start', '/aadhaar/captcha', '/aadhaar/otp', '/gst/data'];

test.each([
  ['/aadhaar/start', {}, ['aadhaar']],
  ['/aadhaar/start', { aadhaar: '' }, ['aadhaar']],
  ['/aadhaar/start', { aadhaar: null }, ['aadhaar']],
  ['/aadhaar/start', { aadhaar: [999999990019] }, ['aadhaar']],
  ['/aadhaar/start', { aadhaar: ['999999990019'] }, ['aadhaar']],
  ['/aadhaar/start', { aadhaar: '999999990018' }, ['aadhaar']],
  ['/aadhaar/start', { aadhaar: '9'.repeat(100_000) }, ['aadhaar']],
  ['/aadhaar/captcha', {}, ['sessionId', 'captcha']],
  ['/aadhaar/captcha', { sessionId: ID }, ['captcha']],
  ['/aadhaar/captcha', { captcha: 'x' }, ['sessionId']],
  ['/aadhaar/captcha', { sessionId: ID, captcha: 'x'.repeat(33) }, ['captcha']],
  ['/aadhaar/captcha', { sessionId: 'x'.repeat(201), captcha: 'x' }, ['sessionId']],
  ['/aadhaar/otp', {}, ['sessionId', 'otp']],
  ['/aadhaar/otp', { sessionId: ID, otp: '12a456' }, ['otp']],
  ['/aadhaar/otp', { sessionId: ID, otp: [123456] }, ['otp']],
  ['/aadhaar/otp', { sessionId: ' ', otp: '123456' }, ['sessionId']],
  ['/gst/data', {}, ['sessionId', 'captcha', 'GSTIN']],
  ['/gst/data', { sessionId: ID }, ['captcha', 'GSTIN']],
  ['/gst/data', { gst: [27] }, ['sessionId', 'gst', 'captcha']],
  ['/gst/data', { sessionId: ID, captcha: 'x' }, ['GSTIN']],
  ['/gst/data', { sessionId: ID, captcha: 'x', GSTIN: ' ' }, ['GSTIN']],
  ['/gst/data', { sessionId: ID, captcha: 'x', gst: 'nonsense' }, ['gst']],
  ['/gst/data', { sessionId: ID, captcha: 'x', GSTIN, gstin: '33AAAGM0289C1DZ' }, ['gstin']],
  ['/gst/data', { sessionId: ID, captcha: 'x', GSTIN: '27AAACR5055K1Z8', strict: true }, ['GSTIN']],
  ['/gst/data', { sessionId: ID, captcha: 'x', GSTIN, strict: 'perhaps' }, ['strict']],
  ['/gst/data', { sessionId: ID, GSTIN }, ['captcha']],
  ['/gst/data', { GSTIN, captcha: 'x' }, ['sessionId']],
  ['/gst/data', { sessionId: ID, captcha: 'x', GSTIN: 27 }, ['GSTIN']],
])('%s with %p names the fields %j', async (url, payload, fields) => {
  const answer = await send({ url, payload });
  expect([answer.statusCode, answer.code]).toEqual([400, 'invalid_request']);
  expect(answer.errors.map(({ field }: { field: string }) => field)).toEqual(fields);
});

test('a wrong check character alone is not refused without strict', async () => {
  expect(await send({ url: '/gst/data', payload: { sessionId: ID, captcha: 'x', GSTIN: '27AAACR5055K1Z8' } })).toMatchObject({
    code: 'session_expired',
  });
});

test.each(['/gst/refresh_captcha', '/api/v1/gst/refresh-captcha'])('%s without a sessionId names it', async (url) => {
  for (const query of [{}, { sessionId: '' }] as Record<string, string>[]) {
    expect(await send({ method: 'GET', url, query })).toMatchObject({ statusCode: 400, errors: [{ field: 'sessionId' }] });
  }
  expect(await send({ method: 'GET', url: `${url}?sessionId=a&sessionId=b` })).toMatchObject({ statusCode: 400 });
});

describe.each(POSTS)('%s', (url) => {
  const json = { 'content-type': 'application/json' };
  test.each([
    ['another content type', { 'content-type': 'text/plain' }, 'hello', 415],
    ['no content type', {}, 'hello', 415],
    ['broken JSON', json, '{"a":', 400],
    ['a JSON list', json, '[]', 400],
    ['invalid UTF-8', json, Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), 400],
    ['10 MB of JSON', json, JSON.stringify({ a: 'x'.repeat(10_000_000) }), 413],
    ['deep JSON', json, `{"a":${'['.repeat(50_000)}${']'.repeat(50_000)}}`, 400],
    ['a broken multipart form', { 'content-type': 'multipart/form-data; boundary=b' }, '--b\r\nContent-Disposition: form-', 400],
    ['a multipart form without boundary', { 'content-type': 'multipart/form-data' }, 'x', 400],
    ['a field twice', { 'content-type': 'application/x-www-form-urlencoded' }, 'sessionId=a&sessionId=b', 400],
  ])('answers %s with a problem', async (_what, headers, payload, status) => {
    const answer = await send({ url, headers: headers, payload });
    expect(answer.statusCode).toBe(status);
    expect(answer.code).toEqual(expect.any(String));
  });
});

/** A number stands for its text. */
const textOf = (value: unknown): string => (typeof value === 'string' || typeof value === 'number' ? String(value) : '');

test('valid input is never called invalid, mutated input never passes, and nothing is a 500', async () => {
  const token = fc.stringMatching(/^[0-9A-Za-z]{1,32}$/);
  const anything = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null), fc.array(fc.string()), fc.constant(undefined));
  const valid: Record<string, fc.Arbitrary<Record<string, unknown>>> = {
    '/aadhaar/captcha': fc.record({ sessionId: token, captcha: token }),
    '/aadhaar/otp': fc.record({ sessionId: token, otp: fc.stringMatching(/^\d{4,8}$/) }),
    '/gst/data': fc.record({ sessionId: token, captcha: token, GSTIN: fc.constantFrom(GSTIN, '9917USA29016OS6', '2317UNO00001UND') }),
  };
  const accepts: Record<string, (input: Record<string, unknown>) => boolean> = {
    '/aadhaar/captcha': ({ captcha }) => isText(captcha, 32),
    '/aadhaar/otp': ({ otp }) => /^\d{4,8}$/.test(textOf(otp).trim()),
    '/gst/data': ({ captcha, GSTIN: number }) => isText(captcha, 32) && isGstinShape(textOf(number).trim().toUpperCase()),
  };
  const isText = (value: unknown, most: number): boolean => textOf(value).trim() !== '' && textOf(value).trim().length <= most;
  for (const [url, inputs] of Object.entries(valid)) {
    await fc.assert(
      fc.asyncProperty(inputs, fc.string({ maxLength: 12 }), anything, async (input, name, value) => {
        expect(await send({ url, payload: input })).toMatchObject({ statusCode: 400, code: 'session_expired' });
        const field = fc.sample(fc.constantFrom(...Object.keys(input), name), 1)[0] ?? '';
        if (field === '__proto__') return;
        const mutated = { ...input, [field]: value };
        const answer = await send({ url, payload: mutated });
        const isValid = isText(mutated.sessionId, 200) && accepts[url]?.(mutated) === true;
        expect([answer.statusCode, answer.code]).toEqual([400, isValid ? 'session_expired' : 'invalid_request']);
      }),
      { numRuns: 40 },
    );
  }
  await fc.assert(
    fc.asyncProperty(fc.oneof(anything, fc.stringMatching(/^\d{12}$/)), async (aadhaar) => {
      const isValid = isAadhaarNumber(textOf(aadhaar).trim());
      expect((await send({ url: '/aadhaar/start', payload: { aadhaar } })).statusCode).toBe(isValid ? 200 : 400);
    }),
    { numRuns: 60 },
  );
});
