import { randomUUID } from 'node:crypto';
import { type FastifyReply } from 'fastify';
import { AADHAAR_NUMBERS, holderRecord, OTP_WAIT_SECONDS, OTPS } from './identity-aadhaar';
import { CAPTCHA_TEXTS } from './identity-captcha';
import { neverAnswer, type SandboxExample, type SandboxUpstream } from '../sandbox-upstream';

/** New references replace the oldest ones. */
const MAX_REFERENCES = 20_000;

const [firstCaptcha, secondCaptcha] = CAPTCHA_TEXTS;
const START = 'send aadhaar to /aadhaar/start, then its sessionId with captcha here';
const CAPTCHA = 'send aadhaar to /aadhaar/start, its sessionId with captcha to /aadhaar/captcha, then the sessionId with otp here';

function captcha(outcome: string, input: { aadhaar: string; captcha: string }, yields: string): SandboxExample {
  return { product: 'api-aadhaar', route: '/aadhaar/captcha', method: 'POST', outcome, input, yields: `${START}: ${yields}` };
}

function otp(outcome: string, code: string, yields: string): SandboxExample {
  const input = { aadhaar: AADHAAR_NUMBERS.success, captcha: firstCaptcha, otp: code };
  return { product: 'api-aadhaar', route: '/aadhaar/otp', method: 'POST', outcome, input, yields: `${CAPTCHA}: ${yields}` };
}

const solved = (aadhaar: string): { aadhaar: string; captcha: string } => ({ aadhaar, captcha: firstCaptcha });

/**
 * Results for a test key whose worker uses the provider. A number's outcome comes with the captcha, because the number is sent only then.
 */
export const aadhaarProviderExamples: readonly SandboxExample[] = [
  { product: 'api-aadhaar', route: '/aadhaar', method: 'GET', outcome: 'success', input: {}, yields: '200, the index of the product' },
  {
    product: 'api-aadhaar',
    route: '/aadhaar/start',
    method: 'POST',
    outcome: 'success',
    input: { aadhaar: AADHAAR_NUMBERS.success },
    yields: `200, status captcha, a captcha that says ${firstCaptcha}; so does every valid number`,
  },
  captcha('success', solved(AADHAAR_NUMBERS.success), '200, status otp'),
  captcha(
    'captcha_rejected',
    { aadhaar: AADHAAR_NUMBERS.success, captcha: 'WRONG' },
    `200, status captcha with the next one, ${secondCaptcha}; the third time 400 attempts_exhausted`,
  ),
  captcha('not_found', solved(AADHAAR_NUMBERS.notFound), '502 not_found'),
  captcha('otp_throttled', solved(AADHAAR_NUMBERS.throttled), `400 otp_throttled with retry_after ${OTP_WAIT_SECONDS}`),
  captcha('timeout', solved(AADHAAR_NUMBERS.timeout), '504, the provider never answers'),
  captcha('upstream_error', solved(AADHAAR_NUMBERS.upstreamError), '502, the provider reports that it failed'),
  captcha('unexpected_response', solved(AADHAAR_NUMBERS.unexpected), '502, the provider answers with something unusable'),
  otp('success', OTPS.right, '200, status success with the data of the holder'),
  otp('otp_invalid', OTPS.wrong, '400 otp_invalid with attempts_left; the third time 400 attempts_exhausted. Any other OTP does the same'),
  otp('otp_expired', OTPS.expired, '400 otp_expired'),
  otp('timeout', OTPS.silent, '504, the provider never answers'),
  otp('upstream_error', OTPS.failing, '502, the provider reports that it failed'),
];

function refuse(reply: FastifyReply, status: number, code: string): FastifyReply {
  return reply.code(status).send({ error: { code, message: `The sandbox says ${code}.` } });
}

function memberOf(body: unknown, name: string): string {
  const value: unknown = typeof body === 'object' && body !== null ? Reflect.get(body, name) : undefined;
  return typeof value === 'string' ? value : '';
}

/** A licensed OTP provider whose two requests have the documented form. */
export function createAadhaarProvider(): SandboxUpstream {
  /** Numbers by the reference of the OTP that was sent to their holders. */
  const sent = new Map<string, string>();

  const sendOtp = (aadhaar: string, reply: FastifyReply): unknown => {
    if (aadhaar === AADHAAR_NUMBERS.timeout) return neverAnswer(reply);
    if (aadhaar === AADHAAR_NUMBERS.upstreamError) return refuse(reply, 500, 'internal');
    if (aadhaar === AADHAAR_NUMBERS.unexpected) return reply.type('text/html').send('<p>Service Temporarily Unavailable</p>');
    if (aadhaar === AADHAAR_NUMBERS.throttled) {
      return reply.code(429).send({ error: { code: 'otp_throttled', retry_after: OTP_WAIT_SECONDS } });
    }
    if (aadhaar === AADHAAR_NUMBERS.notFound) return refuse(reply, 404, 'not_found');
    const reference = randomUUID();
    sent.set(reference, aadhaar);
    for (const oldest of sent.keys()) {
      if (sent.size <= MAX_REFERENCES) break;
      sent.delete(oldest);
    }
    return { reference_id: reference };
  };

  const verify = (reference: string, code: string, reply: FastifyReply): unknown => {
    const aadhaar = sent.get(reference);
    if (aadhaar === undefined) return refuse(reply, 404, 'reference_unknown');
    if (code === OTPS.silent) return neverAnswer(reply);
    if (code === OTPS.failing) return refuse(reply, 500, 'internal');
    if (code !== OTPS.right && code !== OTPS.expired) return refuse(reply, 400, 'otp_invalid');
    sent.delete(reference);
    return code === OTPS.right ? { record: holderRecord(aadhaar) } : refuse(reply, 400, 'otp_expired');
  };

  return {
    name: 'aadhaar-provider',
    examples: [],
    routes(app) {
      app.addHook('onRequest', async (request, reply) => {
        if (!request.headers.authorization && !request.headers['x-api-key']) await refuse(reply, 401, 'key_missing');
      });
      app.post('/otp', (request, reply) => sendOtp(memberOf(request.body, 'aadhaar'), reply));
      app.post('/verify', (request, reply) => verify(memberOf(request.body, 'reference_id'), memberOf(request.body, 'otp'), reply));
    },
  };
}
