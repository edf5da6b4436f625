import { Stage } from '../../workers/identity/support/stage';
import { type Harness } from '../../kit/harness';

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
it.each([
  ['/aadhaar/start', {}, ['aadhaar']],
  ['/aadhaar/start', { aadhaar: '999999990018' }, ['aadhaar']],
  ['/aadhaar/captcha', {}, ['sessionId', 'captcha']],
  ['/aadhaar/captcha', { sessionId: 'x'.repeat(201), captcha: 'x' }, ['sessionId']],
  ['/aadhaar/otp', { sessionId: ID, otp: '12a456' }, ['otp']],
  ['/gst/data', {}, ['sessionId', 'captcha', 'GSTIN']],
  ['/gst/data', { sessionId: ID, captcha: 'x', gst: 'nonsense' }, ['gst']],
  ['/gst/data', { sessionId: ID, captcha: 'x', GSTIN, gstin: '33AAAGM0289C1DZ' }, ['gstin']],
  ['/gst/data', { sessionId: ID, captcha: 'x', GSTIN: '27AAACR5055K1Z8', strict: true }, ['GSTIN']],
])('%s with %p names the fields %j', async (url, payload, fields) => {
  const answer = await send({ url, payload });
  expect([answer.statusCode, answer.code]).toEqual([400, 'invalid_request']);
  expect(answer.errors.map(({ field }: { field: string }) => field)).toEqual(fields);
});

it('a wrong check character alone is not refused without strict', async () => {
  expect(await send({ url: '/gst/data', payload: { sessionId: ID, captcha: 'x', GSTIN: '27AAACR5055K1Z8' } })).toMatchObject({
    code: 'session_expired',
  });
});

it.each(['/gst/refresh_captcha', '/api/v1/gst/refresh-captcha'])('%s without a sessionId names it', async (url) => {
  for (const query of [{}, { sessionId: '' }] as Record<string, string>[]) {
    expect(await send({ method: 'GET', url, query })).toMatchObject({ statusCode: 400, errors: [{ field: 'sessionId' }] });
  }
  expect(await send({ method: 'GET', url: `${url}?sessionId=a&sessionId=b` })).toMatchObject({ statusCode: 400 });
});
