import { isAadhaarNumber } from '../../../services/aadhaar/aadhaar-number';
import { gstinCheckCharacter, isGstinShape } from '../../../services/gst/gstin';
import { type SandboxExample } from '../../../services/sandbox/sandbox-upstream';
import { type Harness } from '../../services/kit/harness';
import { Stage } from './support/stage';

const SOURCES = [
  { aadhaarSource: 'link', gstSource: 'link', count: 25 },
  { aadhaarSource: 'provider', gstSource: 'portal', count: 23 },
] as const;

/** The sandbox's list is what test keys get, whichever of its simulators the worker asks. */
describe.each(SOURCES)('test keys served by the $aadhaarSource and the $gstSource', ({ aadhaarSource, gstSource, count }) => {
  const stage = new Stage();
  let services: { gst: Harness; aadhaar: Harness };
  /** Do not wait for a silent upstream. */
  let hasty: typeof services;
  let examples: SandboxExample[];
  beforeAll(async () => {
    const { url } = await stage.sandbox({ aadhaarSource });
    const sources = { AADHAAR_TEST_SOURCE: aadhaarSource, GST_TEST_SOURCE: gstSource };
    const servicesOf = async (env: Record<string, string>): Promise<typeof services> => {
      const workers = [await stage.worker({ SANDBOX_URL: url, ...sources, ...env })];
      return { gst: stage.gst(workers), aadhaar: stage.aadhaar(workers) };
    };
    services = await servicesOf({});
    hasty = await servicesOf({ IDENTITY_MESSAGE_TIMEOUT_MS: '3000' });
    const all = (await (await fetch(url)).json()) as SandboxExample[];
    examples = all.filter(({ product }) => product === 'api-gst' || product === 'api-aadhaar');
  });
  afterAll(() => stage.close());

  test('every outcome that was promised is listed, and every listed number is valid', () => {
    const outcomes = (route: string): string[] => examples.filter((each) => each.route === route).map(({ outcome }) => outcome);
    for (const route of ['/gst', '/gst/start', '/gst/refresh_captcha', '/aadhaar']) expect(outcomes(route)).toEqual(['success']);
    expect(outcomes('/gst/data')).toEqual(expect.arrayContaining(['success', 'captcha_rejected', 'not_found', 'timeout']));
    const all = [...outcomes('/aadhaar/start'), ...outcomes('/aadhaar/captcha'), ...outcomes('/aadhaar/otp')];
    expect(all).toEqual(expect.arrayContaining(['success', 'captcha_rejected', 'otp_invalid', 'otp_expired', 'otp_throttled', 'timeout']));
    for (const { input } of examples) {
      const gstin = 'GSTIN' in input ? String(input.GSTIN) : undefined;
      if (gstin !== undefined) expect([isGstinShape(gstin), gstinCheckCharacter(gstin)]).toEqual([true, gstin.charAt(14)]);
      if ('aadhaar' in input) expect(isAadhaarNumber(String(input.aadhaar))).toBe(true);
    }
  });

  /** The steps before a route's own, with the input that the example gives. */
  async function play({ route, method, input, outcome }: SandboxExample): Promise<{ statusCode: number; body: any }> {
    const { gst, aadhaar } = outcome === 'timeout' ? hasty : services;
    const service = route.startsWith('/gst') ? gst : aadhaar;
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
      if (outcome === 'otp_throttled') expect(answer.body).toMatchObject({ code: 'otp_throttled', retry_after: 900 });
      if (outcome === 'timeout') expect(code).toBe('upstream_timeout');
    }
    expect(played).toHaveLength(count);
  });
});
