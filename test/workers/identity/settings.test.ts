import { readSettings } from '../../../plugins/core/settings';
import { identityWorkerSettings } from '../../../services/workers/identity/settings';

const read = (env: Record<string, string>) => readSettings({ worker: identityWorkerSettings }, env).worker;
const PROVIDER = { AADHAAR_PROVIDER_URL: 'https://otp.example', AADHAAR_PROVIDER_KEY: 'hunter2-key' };
const PORTAL = { GST_PORTAL_URL: 'https://portal.example/services', GST_PORTAL_ACKNOWLEDGEMENT: 'we-have-the-right-to-use-the-portal' };

it('nothing is required, and neither the provider nor the portal is on by itself', () => {
  expect(read({})).toMatchObject({ AADHAAR_TEST_SOURCE: 'link', GST_TEST_SOURCE: 'link', AADHAAR_PROVIDER_KEY_HEADER: 'Authorization' });
  expect(read({}).AADHAAR_PROVIDER_URL).toBeUndefined();
  expect(read({}).GST_PORTAL_URL).toBeUndefined();
});

it.each([
  ['the provider', PROVIDER],
  ['the portal', PORTAL],
  ['a provider on this machine without TLS', { ...PROVIDER, AADHAAR_PROVIDER_URL: 'http://127.0.0.1:9/x' }],
  ['both sources and the choice between them', { ...PROVIDER, AADHAAR_LINK_URL: 'wss://link.example', AADHAAR_SOURCE: 'link' }],
])('%s can be configured', (_what, env) => {
  expect(() => read(env)).not.toThrow();
});

it.each([
  [
    'a provider without its key',
    { AADHAAR_PROVIDER_URL: 'https://otp.example' },
    /AADHAAR_PROVIDER_KEY: is required when AADHAAR_PROVIDER_URL/,
  ],
  ['a key without its provider', { AADHAAR_PROVIDER_KEY: 'hunter2-key' }, /AADHAAR_PROVIDER_URL: is required/],
  [
    'a provider that numbers would reach in the clear',
    { ...PROVIDER, AADHAAR_PROVIDER_URL: 'http://otp.example' },
    /_URL: must start with https/,
  ],
  ['a key that is no header', { ...PROVIDER, AADHAAR_PROVIDER_KEY: 'hunter2\r\nx: y' }, /AADHAAR_PROVIDER_KEY: must be one word/],
  ['a header that is none', { ...PROVIDER, AADHAAR_PROVIDER_KEY_HEADER: 'x y' }, /AADHAAR_PROVIDER_KEY_HEADER: must be/],
  ['a portal without the acknowledgement', { GST_PORTAL_URL: PORTAL.GST_PORTAL_URL }, /GST_PORTAL_ACKNOWLEDGEMENT: is required/],
  ['an acknowledgement by habit', { ...PORTAL, GST_PORTAL_ACKNOWLEDGEMENT: 'true' }, /_ACKNOWLEDGEMENT: must be we-have-the-right/],
  ['two sources and no choice', { ...PORTAL, GST_LINK_URL: 'wss://link.example' }, /GST_SOURCE: must say which is used/],
  ['a choice that is not there', { AADHAAR_SOURCE: 'provider' }, /AADHAAR_PROVIDER_URL: is required when AADHAAR_SOURCE is provider/],
  ['an unknown choice', { GST_SOURCE: 'scraper' }, /GST_SOURCE: must be link or portal/],
])('%s is refused in one readable error without its values', (_what, env, message) => {
  expect(() => read(env)).toThrow(message);
  expect(() => read(env)).not.toThrow(/hunter2|scraper/);
});
