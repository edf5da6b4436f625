import {
  displayOf,
  generateAdminToken,
  generateApiKey,
  hashApiKey,
  isPlausibleAdminToken,
  isPlausibleKey,
  maskApiKey,
} from '../../../plugins/core/access/api-key';
import { fc } from '../../support/fast-check';

describe('API keys', () => {
  it('have mode, 27 secret digits and a checksum that holds', () => {
    for (const mode of ['live', 'test'] as const) {
      const key = generateApiKey(mode);
      expect(key).toMatch(new RegExp(`^tg_${mode}_[0-9A-Za-z]{33}$`));
      expect(isPlausibleKey(key)).toBe(true);
    }
  });

  it('are refused without a look-up when any one character of a tg_ key is changed', () => {
    const key = generateApiKey('live');
    const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
    fc.assert(
      fc.property(fc.nat({ max: key.length - 1 }), fc.nat({ max: 61 }), (at, pick) => {
        const digit = alphabet.charAt(pick);
        fc.pre(key[at] !== digit && at >= 'tg_live_'.length);
        expect(isPlausibleKey(key.slice(0, at) + digit + key.slice(at + 1))).toBe(false);
      }),
    );
  });

  it('of foreign form are plausible when they are printable and not overlong', () => {
    expect(isPlausibleKey('legacy-key-1234567890')).toBe(true);
    for (const text of ['', 'two words', 'tab\there', 'x'.repeat(513), 'schlüssel', 'tg_live_short'])
      expect(isPlausibleKey(text)).toBe(false);
  });

  it('are shown by prefix and last four only', () => {
    const key = generateApiKey('test');
    expect(maskApiKey(key)).toBe(`tg_test…${key.slice(-4)}`);
    expect(displayOf('short')).toEqual({ prefix: '', lastFour: '' });
    expect(maskApiKey(key)).not.toContain(key.slice(8, 35));
  });

  it('are no tokens of the management API, and those are no keys: no gateway looks one up', () => {
    const token = generateAdminToken();
    expect(token).toMatch(/^tg_admin_[0-9A-Za-z]{33}$/);
    expect([isPlausibleAdminToken(token), isPlausibleKey(token)]).toEqual([true, false]);
    expect(
      [generateApiKey('live'), `${token}0`, token.slice(0, -1), '', token.replace('admin', 'live')].map(isPlausibleAdminToken),
    ).not.toContain(true);
    expect(maskApiKey(token)).toBe(`…${token.slice(-4)}`);
  });

  it('hash to 64 hex digits', () => {
    expect(hashApiKey('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  });
});
