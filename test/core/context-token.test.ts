import { randomBytes } from 'node:crypto';
import { parseSigningKeys, signContext, verifyContext, type RequestContext } from '../../plugins/core/context-token';

const [oldKey, newKey] = ['old', 'new'].map((id) => ({ id, secret: randomBytes(32) })) as [
  { id: string; secret: Buffer },
  { id: string; secret: Buffer },
];

const context: RequestContext = {
  requestId: 'r1',
  credentialId: 'c1',
  customerId: 'u1',
  subscriptionId: 's1',
  product: 'api-ip',
  mode: 'live',
  callerAddress: '203.0.113.7',
  chargedDay: '2026-11-20',
  quota: {
    daily: { limit: 10, remaining: 3, resetsAt: 2000, windowSeconds: 86400 },
    monthly: { limit: 100, remaining: 33, resetsAt: 9000, windowSeconds: 2592000 },
  },
  expiresAt: 1060,
};

describe('the signed context', () => {
  it('comes back as it was', () => {
    expect(verifyContext(signContext(context, newKey), [newKey], 1000)).toEqual({ ok: true, context });
    const uncharged = { ...context, chargedDay: null, quota: null };
    expect(verifyContext(signContext(uncharged, newKey), [newKey], 1060)).toEqual({ ok: true, context: uncharged });
  });

  it('is refused when absent, malformed, expired, or signed with another key', () => {
    const token = signContext(context, newKey);
    expect(verifyContext(undefined, [newKey], 1000)).toEqual({ ok: false, reason: 'absent' });
    expect(verifyContext('', [newKey], 1000)).toEqual({ ok: false, reason: 'absent' });
    expect(verifyContext('v1.e30.x', [newKey], 1000)).toEqual({ ok: false, reason: 'malformed' });
    expect(verifyContext(`${token}.x`, [newKey], 1000)).toEqual({ ok: false, reason: 'malformed' });
    expect(verifyContext(token.replace('v1', 'v2'), [newKey], 1000)).toEqual({ ok: false, reason: 'malformed' });
    expect(verifyContext(token, [newKey], 1061)).toEqual({ ok: false, reason: 'expired' });
    expect(verifyContext(token, [oldKey], 1000)).toEqual({ ok: false, reason: 'forged' });
    expect(verifyContext(token, [{ id: 'new', secret: randomBytes(32) }], 1000)).toEqual({ ok: false, reason: 'forged' });
  });

  it('is refused after any change of its bytes', () => {
    const token = signContext(context, newKey);
    for (let at = 3; at < token.length; at += 7) {
      const changed = token.slice(0, at) + (token[at] === 'A' ? 'B' : 'A') + token.slice(at + 1);
      expect(verifyContext(changed, [newKey], 1000).ok).toBe(false);
    }
  });

  it('holds under two keys while they are rotated', () => {
    for (const key of [oldKey, newKey]) expect(verifyContext(signContext(context, key), [newKey, oldKey], 1000).ok).toBe(true);
  });
});

describe('signing keys', () => {
  const secret = randomBytes(32).toString('base64');

  it('are read in order', () => {
    expect(parseSigningKeys(`b:${secret}, a:${secret}`).map((key) => key.id)).toEqual(['b', 'a']);
  });

  it.each([
    ['', 'no signing key'],
    [secret, 'id:base64'],
    ['a:c2hvcnQ=', 'shorter than 32 bytes'],
    [`a:${secret},a:${secret}`, 'share an id'],
  ])('are refused with a reason and without the secret', (text, reason) => {
    expect(() => parseSigningKeys(text)).toThrow(reason);
    try {
      parseSigningKeys(text);
    } catch (error) {
      expect(String(error)).not.toContain(secret);
    }
  });
});
