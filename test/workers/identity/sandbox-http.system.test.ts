import { Stage } from './support/stage';

const stage = new Stage();
let url = '';
beforeAll(async () => ({ url } = await stage.sandbox()));
afterAll(() => stage.close());

const JSON_TYPE = { 'content-type': 'application/json' };

test('the OTP provider speaks the documented form', async () => {
  const say = async (
    path: string,
    body: object,
    headers: Record<string, string> = { authorization: 'Bearer any' },
  ): Promise<[number, any]> => {
    const answer = await fetch(`${url}/aadhaar-provider${path}`, {
      method: 'POST',
      headers: { ...JSON_TYPE, ...headers },
      body: JSON.stringify(body),
    });
    return [answer.status, await answer.json()];
  };
  const error = (code: string) => ({ error: { code, message: expect.any(String) } });
  expect(await say('/otp', { aadhaar: '999999990019' }, {})).toEqual([401, error('key_missing')]);
  expect(await say('/otp', { aadhaar: '999999994048' })).toEqual([404, error('not_found')]);
  const [status, { reference_id }] = await say('/otp', { aadhaar: '999999990019' }, { 'x-api-key': 'any' });
  expect([status, reference_id]).toEqual([200, expect.any(String)]);
  expect(await say('/verify', { reference_id, otp: '000000' })).toEqual([400, error('otp_invalid')]);
  const holder = expect.objectContaining({ name: 'Sandbox Holder', reference_id: 'sandbox-0019', address: expect.any(Object) });
  expect(await say('/verify', { reference_id, otp: '123456' })).toEqual([200, { record: holder }]);
  expect(await say('/verify', { reference_id, otp: '123456' })).toEqual([404, error('reference_unknown')]);
});

describe('the tax portal', () => {
  const ask = async (cookie: string, entry: object) => {
    const headers = { ...JSON_TYPE, cookie };
    const answer = await fetch(`${url}/gst-portal/api/search/taxpayerDetails`, { method: 'POST', headers, body: JSON.stringify(entry) });
    return [answer.status, await answer.json()];
  };
  const cookiesOf = (answer: Response): string =>
    answer.headers
      .getSetCookie()
      .map((each) => each.split(';')[0])
      .join('; ');
  const WRONG = [200, { url: '/', message: null, errorCode: 'SWEB_9000' }];

  test('gives a captcha to a session only, and a record for the last captcha of that session, once', async () => {
    expect((await fetch(`${url}/gst-portal/captcha`)).status).toBe(403);
    const session = cookiesOf(await fetch(`${url}/gst-portal/searchtp`));
    const first = await fetch(`${url}/gst-portal/captcha`, { headers: { cookie: session } });
    expect(first.headers.get('content-type')).toBe('image/png');
    const second = await fetch(`${url}/gst-portal/captcha`, { headers: { cookie: session } });
    const entry = { gstin: '27AAACR5055K1Z7', captcha: 'tr23p' };
    expect(await ask(`${session}; ${cookiesOf(first)}`, { ...entry, captcha: 'KX47M' })).toEqual(WRONG);
    expect(await ask(session, entry)).toEqual(WRONG);
    expect(await ask('', entry)).toEqual(WRONG);
    const cookies = `${session}; ${cookiesOf(second)}`;
    expect(await ask(cookies, entry)).toEqual([200, expect.objectContaining({ gstin: entry.gstin, sts: 'Active' })]);
    expect(await ask(cookies, entry)).toEqual(WRONG);
  });
});
