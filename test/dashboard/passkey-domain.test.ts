import { passkeyDomain } from '../../services/dashboard/api/accounts/passkeys/passkey-domain';

it.each([
  ['https://dashboard.example.com', 'dashboard.example.com'],
  ['https://dashboard.example.com:8443', 'dashboard.example.com'],
  ['http://localhost:8002', 'localhost'],
  ['http://dashboard.example.com', undefined],
  ['http://127.0.0.1:8002', undefined],
  ['https://203.0.113.7', undefined],
  ['https://[2001:db8::7]', undefined],
])('binds the passkeys of %s to %s', (url, domain) => {
  expect(passkeyDomain(url)).toBe(domain);
});
