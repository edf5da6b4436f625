import { type SandboxExample } from '../../../services/sandbox/sandbox-upstream';
import { inTestAll } from '../../support/scenes';
import { asTest } from './support/ask';
import { Stage } from './support/stage';

const stage = new Stage();
afterAll(() => stage.close());

/** The sandbox's list is what test keys get whichever of its simulators the worker asks: the acceptance tests ask over the links in `npm test`. */
inTestAll('every listed input yields what its entry says from the OTP provider and the tax portal too', async () => {
  const { url } = await stage.sandbox({ aadhaar: 'provider', gst: 'portal' });
  const servicesOf = async (env: Record<string, string>) => {
    const sources = { AADHAAR_TEST_SOURCE: 'provider', GST_TEST_SOURCE: 'portal' };
    const workers = [await stage.worker({ SANDBOX_URL: url, ...sources, ...env })];
    return { gst: stage.gst(workers), aadhaar: stage.aadhaar(workers) };
  };
  const services = await servicesOf({});
  // Does not wait for a silent upstream.
  const hasty = await servicesOf({ IDENTITY_MESSAGE_TIMEOUT_MS: '10000' });

  /** The steps before a route's own, with the input that the example gives. */
  async function play({ route, method, input, outcome }: SandboxExample): Promise<{ statusCode: number; body: any }> {
    const { gst, aadhaar } = outcome === 'timeout' ? hasty : services;
    const service = route.startsWith('/gst') ? gst : aadhaar;
    let sessionId: string | undefined;
    const step = async (path: string, fields: Record<string, unknown>, by: 'GET' | 'POST') => {
      const given = JSON.parse(JSON.stringify({ ...fields, sessionId }));
      const answer = await service.call({ method: by, url: path, context: asTest, [by === 'GET' ? 'query' : 'payload']: given });
      return { statusCode: answer.statusCode, body: answer.json() };
    };
    if (['/gst/data', '/gst/refresh_captcha'].includes(route)) ({ sessionId } = (await step('/gst/start', {}, 'GET')).body);
    if (['/aadhaar/captcha', '/aadhaar/otp'].includes(route))
      ({ sessionId } = (await step('/aadhaar/start', { aadhaar: input.aadhaar }, 'POST')).body);
    if (route === '/aadhaar/otp') await step('/aadhaar/captcha', { captcha: input.captcha }, 'POST');
    // The whole input is sent: what earlier steps needed is ignored.
    return step(route, { ...input }, method);
  }

  const all = (await (await fetch(url)).json()) as SandboxExample[];
  const examples = all.filter(({ product }) => product === 'api-gst' || product === 'api-aadhaar');
  const played = await Promise.all(examples.map(async (example) => ({ ...example, answer: await play(example) })));
  for (const { outcome, route, yields, answer } of played) {
    const promised = Number(/\b([245]\d\d)\b/.exec(yields.replace(/^.*: (?=\d{3})/, ''))?.[1]);
    expect([route, outcome, answer.statusCode]).toEqual([route, outcome, promised]);
    const code = answer.body.code ?? answer.body.status;
    if (['captcha_rejected', 'not_found', 'otp_invalid', 'otp_expired'].includes(outcome) && route !== '/aadhaar/captcha')
      expect(code).toBe(outcome);
    if (outcome === 'otp_throttled') expect(answer.body).toMatchObject({ code: 'otp_throttled', retry_after: 900 });
    if (outcome === 'timeout') expect(code).toBe('upstream_timeout');
  }
  expect(played).toHaveLength(23);
});
