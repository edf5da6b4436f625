import { createLog, scrubText } from '../../services/kit/log';
import { ServiceError } from '../../services/kit/errors';

function written(write: (log: ReturnType<typeof createLog>) => void): string {
  let text = '';
  write(createLog('sample', { destination: { write: (line: string) => void (text += line) } }));
  return text;
}

const KEY = 'tg_live_0123456789ABCDEFGHIJKLMNOPQRSTUVW';

it('lines are JSON with the service, the level by name and an ISO time', () => {
  expect(JSON.parse(written((log) => log.info({ requestId: 'r' }, 'done')))).toMatchObject({
    service: 'sample',
    level: 'info',
    requestId: 'r',
    msg: 'done',
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
  });
});

it('credentials are redacted wherever a line may hold them', () => {
  const secrets = { authorization: 'Bearer s3cret', 'x-api-key': 's3cret', 'x-tollgate-context': 's3cret', cookie: 's3cret' };
  const text = written((log) => {
    log.info(secrets);
    log.info({ headers: secrets, api_key: 's3cret', input: { otp: 's3cret', aadhaar: 's3cret', api_key: 's3cret' } });
    log.info({ req: { headers: secrets } });
  });
  expect(text).not.toContain('s3cret');
  expect(text).toContain('[redacted]');
});

it('errors are scrubbed with their causes', () => {
  const cause = new Error(`GET https://user:pw@up.example/a?key=s3cret with ${KEY} for 9999 4105 7058 failed`);
  const text = written((log) => log.error({ err: new ServiceError('upstream_failed', { cause }) }));
  expect(text).toContain('https://up.example/a');
  expect(text).not.toMatch(/s3cret|pw@|9999 4105|0123456789ABC/);
});

it.each([
  [`key ${KEY} refused`, 'key tg_live_[redacted] refused'],
  ['Authorization: Bearer abc.def', 'Authorization: Bearer [redacted]'],
  ['GET https://a.example/p?api_key=x&y=1#z failed', 'GET https://a.example/p failed'],
  ['postgres://user:pw@db:5432/x', 'postgres://db:5432/x'],
  ['/ip?api_key=abc&ip=1', '/ip?api_key=[redacted]&ip=1'],
  ['number 999941057058, not 12345', 'number [redacted], not 12345'],
  ['token tg_admin_0123456789ABCDEFGHIJKLMNOPQRSTUVW refused', 'token tg_admin_[redacted] refused'],
  ['Invalid API Key provided: rk_live_51Abc', 'Invalid API Key provided: rk_live_[redacted]'],
  ['signed with whsec_MfKQ9r8GKYqrTw+/=', 'signed with whsec_[redacted]'],
])('scrubText(%s)', (text, clean) => {
  expect(scrubText(text)).toBe(clean);
});
