import { createPublicKey, randomBytes, type JsonWebKey } from 'node:crypto';
import { parseKeySet, parsePrivateKey, parseSharedKeys } from '../../../plugins/core/proof/context-keys';
import { createContextKey } from '../../../plugins/core/proof/create-context-key';
import { createContextKeys } from '../../../plugins/core/proof/verify-context';

const pair = createContextKey('EdDSA');
const jwk = JSON.parse(pair.privateKey) as JsonWebKey & { kid: string };
const { d, ...published } = jwk;

/** What an error tells. */
function reasonOf(attempt: () => unknown): string {
  try {
    attempt();
  } catch (error) {
    return String(error);
  }
  throw new Error('nothing was refused');
}

describe('shared keys', () => {
  const secret = randomBytes(32).toString('base64');

  it('are read in order', () => {
    expect(parseSharedKeys(`b:${secret}, a:${secret}`).map((key) => key.id)).toEqual(['b', 'a']);
  });

  it.each([
    ['', 'no signing key'],
    [secret, 'id:base64'],
    ['a:c2hvcnQ=', 'shorter than 32 bytes'],
    [`a:${secret},a:${secret}`, 'share an id'],
  ])('are refused with a reason and without the secret', (text, reason) => {
    const told = reasonOf(() => parseSharedKeys(text));
    expect(told).toContain(reason);
    expect(told).not.toContain(secret);
  });
});

describe('a new key', () => {
  it.each(['EdDSA', 'HS256'] as const)('for %s is read as what it is, and its set verifies', (algorithm) => {
    const { kid, privateKey, keySet } = createContextKey(algorithm);
    expect(parsePrivateKey(privateKey)).toMatchObject({ id: kid, algorithm });
    expect(parseKeySet(JSON.stringify(keySet))).toMatchObject([{ id: kid, algorithm }]);
  });

  it('publishes no private half', () => {
    expect(pair.keySet.keys.map((key) => Object.keys(key).sort())).toEqual([['alg', 'crv', 'kid', 'kty', 'use', 'x']]);
  });

  it('is named by what it is', () => {
    expect(pair.kid).toMatch(/^[\w-]{16}$/);
    expect(createContextKey('EdDSA').kid).not.toBe(pair.kid);
  });
});

describe('a private key', () => {
  it.each<[string, string, string]>([
    ['is no JSON', 'MC4CAQAw', 'is not valid JSON'],
    ['is a list', '[]', 'is not a JSON object'],
    ['has no kid', JSON.stringify({ ...jwk, kid: undefined }), 'without a kid'],
    ['has a kid that would need escapes', JSON.stringify({ ...jwk, kid: 'a"b' }), 'without a kid'],
    ['says another algorithm', JSON.stringify({ ...jwk, alg: 'HS256' }), 'something else'],
    ['is for encryption', JSON.stringify({ ...jwk, use: 'enc' }), 'something else'],
    ['is the public half', JSON.stringify(published), 'cannot sign'],
    ['is of another curve', JSON.stringify({ ...jwk, crv: 'X25519' }), 'neither Ed25519'],
    ['has halves of two pairs', JSON.stringify({ ...jwk, x: parsedX(createContextKey('EdDSA').privateKey) }), 'neither Ed25519'],
    ['is too short a secret', JSON.stringify({ kty: 'oct', kid: 'k', k: 'c2hvcnQ' }), 'a secret of 32 bytes'],
    ['is of another kind', JSON.stringify({ kty: 'RSA', kid: 'k', n: 'x', e: 'AQAB' }), 'neither Ed25519'],
  ])('that %s is refused with a reason and without the key', (_what, text, reason) => {
    const told = reasonOf(() => parsePrivateKey(text));
    expect(told).toContain(reason);
    expect(told).not.toContain(String(d));
  });
});

function parsedX(privateKey: string): string | undefined {
  return createPublicKey({ key: JSON.parse(privateKey) as JsonWebKey, format: 'jwk' }).export({ format: 'jwk' }).x;
}

describe('a key set', () => {
  it.each<[string, unknown, string]>([
    ['is empty', { keys: [] }, 'at least one key'],
    ['is one key', published, 'at least one key'],
    ['holds a private key', { keys: [jwk] }, 'holds a private key'],
    ['names two keys alike', { keys: [published, published] }, 'two keys with one kid'],
    ['holds no key', { keys: [null] }, 'without a kid'],
  ])('that %s is refused with a reason', (_what, value, reason) => {
    expect(reasonOf(() => parseKeySet(JSON.stringify(value)))).toContain(reason);
  });

  it('shares no id with a shared key: an id means one algorithm', () => {
    const shared = parseSharedKeys(`${pair.kid}:${randomBytes(32).toString('base64')}`);
    expect(() => createContextKeys(parseKeySet(JSON.stringify(pair.keySet)), shared)).toThrow('share an id');
    expect(() => createContextKeys([], [])).toThrow('no key is given');
  });
});
