import { type z } from 'zod';
import { findProviderProblems, providerSettings, readProviders } from '../../services/dashboard/api/accounts/providers/provider-settings';

const read = (signIn: unknown, secrets: unknown = {}) =>
  providerSettings.safeParse({ DASHBOARD_SIGN_IN: JSON.stringify(signIn), DASHBOARD_SIGN_IN_SECRETS: JSON.stringify(secrets) });
const parsed = (signIn: unknown, secrets?: unknown): z.output<typeof providerSettings> => {
  const { data } = read(signIn, secrets);
  if (!data) throw new Error('refused');
  return data;
};
const problems = (signIn: unknown, secrets?: unknown) =>
  findProviderProblems(parsed(signIn, secrets)).map(({ name, message }) => `${name} ${message}`);

describe('the settings of sign-in providers', () => {
  it('know Google and GitHub by their ids, and any other by its issuer', () => {
    const acme = { id: 'acme', name: 'Acme', issuer: 'https://sso.acme.example/', clientId: 'c' };
    const enterprise = { id: 'github', name: 'Code', issuer: 'https://code.acme.example/', clientId: 'd' };
    const settings = parsed([{ id: 'google', clientId: 'a' }, enterprise, acme], { google: 's1', github: 's2', acme: 's3' });
    expect(findProviderProblems(settings)).toEqual([]);
    expect(readProviders(settings)).toEqual([
      { id: 'google', name: 'Google', kind: 'oidc', issuer: 'https://accounts.google.com', clientId: 'a', clientSecret: 's1' },
      { id: 'github', name: 'Code', kind: 'github', issuer: 'https://code.acme.example', clientId: 'd', clientSecret: 's2' },
      // To the letter, as the provider signs it.
      { ...acme, kind: 'oidc', clientSecret: 's3' },
    ]);
  });

  it('are nobody when they are not set', () => {
    expect(readProviders(providerSettings.parse({}))).toEqual([]);
  });

  it('refuse what is no list, an unknown member, an id of another form and an issuer without https, and never repeat what was given', () => {
    const wrong = ['{', [{ id: 'google' }], [{ id: 'credential', clientId: 'hidden-text' }], [{ id: 'Acme', clientId: 'hidden-text' }]];
    const insecure = [
      [{ id: 'acme', name: 'Acme', issuer: 'http://sso.acme.example', clientId: 'hidden-text' }],
      [{ id: 'acme', name: 'Acme', issuer: 'https://user:hidden-text@sso.acme.example', clientId: 'x' }],
      [{ id: 'google', clientId: 'x', clientSecret: 'hidden-text' }],
    ];
    for (const each of [...wrong, ...insecure]) {
      const { error } = read(each);
      expect([each, error?.issues.length]).toEqual([each, 1]);
      expect(JSON.stringify(error?.issues)).not.toContain('hidden-text');
    }
    expect(read([{ id: 'acme', name: 'Acme', issuer: 'http://127.0.0.1:9000', clientId: 'x' }]).success).toBe(true);
  });

  it('say which provider lacks a name, an issuer or its secret, or is there twice', () => {
    expect(problems([{ id: 'acme', clientId: 'x' }], { acme: 's' })).toEqual(['DASHBOARD_SIGN_IN acme needs a name and an issuer']);
    expect(problems([{ id: 'google', clientId: 'x' }])).toEqual(['DASHBOARD_SIGN_IN_SECRETS has no secret for google']);
    const google = { id: 'google', clientId: 'x' };
    expect(problems([google, google], { google: 's' })).toEqual(['DASHBOARD_SIGN_IN has google twice']);
  });
});
