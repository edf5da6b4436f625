import { createPublicKey, randomBytes, type JsonWebKey } from 'node:crypto';
import { parseKeySet, parsePrivateKey, parseProductKeys, parseSharedKeys } from '../../../plugins/core/proof/context-keys';
import { createContextKey, keySetOf } from '../../../plugins/core/proof/create-context-key';
import { derivePrivateKey, deriveProductKey, formatSecrets, rotateSecrets } from '../../../plugins/core/proof/product-keys';
import { createContextKeys } from '../../../plugins/core/proof/verify-context';

const pair = createContextKey();
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
  it('is read as what it is, and its set verifies', () => {
    const { kid, privateKey, keySet } = createContextKey();
    expect(parsePrivateKey(privateKey)).toMatchObject({ id: kid, algorithm: 'EdDSA' });
    expect(parseKeySet(JSON.stringify(keySet))).toMatchObject([{ id: kid, algorithm: 'EdDSA' }]);
  });

  it('publishes no private half', () => {
    expect(pair.keySet.keys.map((key) => Object.keys(key).sort())).toEqual([['alg', 'crv', 'kid', 'kty', 'use', 'x']]);
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
    ['has halves of two pairs', JSON.stringify({ ...jwk, x: parsedX(createContextKey().privateKey) }), 'neither Ed25519'],
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

describe('the keys that a secret gives', () => {
  const secret = { id: '1', secret: Buffer.from(Array.from({ length: 32 }, (_, byte) => byte)) };

  it('are those of HKDF-SHA256, and never change: other programs derive the same', () => {
    const { id, key, product } = deriveProductKey(secret, 'api-ip');
    expect([id, product]).toEqual(['api-ip.1', 'api-ip']);
    // Both computed with HMAC-SHA256 of Python's standard library, as RFC 5869 has it.
    expect(key.export().toString('hex')).toBe('b0b811ced985ce590b6594e754e289db9b6f4f98d218b332af48f2857af22bc3');
    expect(keySetOf(derivePrivateKey(secret)).keys[0]?.x).toBe('UcFRSpIX9NUm9mL9y10xhiT82rsOpuSlu7D50BzHuXo');
  });

  it('differ by product, generation, purpose and secret', () => {
    const next = { ...secret, id: '2' };
    const other = { id: '1', secret: randomBytes(32) };
    const keys = [
      ...[secret, next, other].flatMap((each) => [
        deriveProductKey(each, 'api-ip'),
        deriveProductKey(each, 'api-gst'),
        derivePrivateKey(each),
      ]),
    ].map(({ key, algorithm }) => (algorithm === 'HS256' ? key.export().toString('hex') : key.export({ format: 'jwk' }).d));
    expect(new Set([...keys, secret.secret.toString('hex')]).size).toBe(10);
  });

  it('are read by services from a key set', () => {
    const keys = [deriveProductKey(secret, 'api-ip'), deriveProductKey({ ...secret, id: '2' }, 'api-ip')];
    const read = parseProductKeys(JSON.stringify(keySetOf(...keys)));
    expect(read.map(({ id, algorithm, product }) => [id, algorithm, product])).toEqual([
      ['api-ip.1', 'HS256', 'api-ip'],
      ['api-ip.2', 'HS256', 'api-ip'],
    ]);
    expect(read.map(({ key }) => key.export())).toEqual(keys.map(({ key }) => key.export()));
  });

  const k = secret.secret.toString('base64url');
  it.each<[string, unknown, string]>([
    ['belongs to no product', { kty: 'oct', kid: 'shared', k }, 'not a product and a generation'],
    ['is public', { ...published, kid: 'api-ip.1' }, 'for HS256 (kty oct)'],
    ['is too short', { kty: 'oct', kid: 'api-ip.1', k: 'c2hvcnQ' }, 'a secret of 32 bytes'],
    ['is for another algorithm', { kty: 'oct', kid: 'api-ip.1', k, alg: 'HS512' }, 'for HS256'],
  ])('are refused with a reason if one %s', (_what, key, reason) => {
    const told = reasonOf(() => parseProductKeys(JSON.stringify({ keys: [key] })));
    expect(told).toContain(reason);
    expect(told).not.toContain(k);
  });

  it('are taken for no key of plugin servers: those sign for every product', () => {
    const [key] = keySetOf(deriveProductKey(secret, 'api-ip')).keys;
    expect(() => parsePrivateKey(JSON.stringify(key))).toThrow('without a kid');
    expect(() => parseKeySet(JSON.stringify({ keys: [key] }))).toThrow('without a kid');
  });
});

describe('a rotation of the secret', () => {
  it('has three steps: the new generation is believed, then it signs, then the old one ends', () => {
    const first = rotateSecrets([]);
    const steps = [first];
    for (let step = 0; step < 3; step++) steps.push(rotateSecrets(parseSharedKeys(formatSecrets(steps.at(-1)?.secrets ?? []))));
    expect(steps.map(({ step, secrets }) => [step, secrets.map(({ id }) => id).join()])).toEqual([
      ['first', '1'],
      ['believe', '1,2'],
      ['sign', '2,1'],
      ['end', '2'],
    ]);
    expect(steps[3]?.secrets[0]?.secret).toEqual(steps[1]?.secrets[1]?.secret);
    expect(steps[1]?.secrets[0]?.secret).not.toEqual(steps[1]?.secrets[1]?.secret);
  });

  it.each([['a:'], ['1:', '2:', '3:']])('is refused where the generations cannot be counted: %s', (...ids) => {
    const secrets = ids.map((id) => ({ id: id.slice(0, -1), secret: randomBytes(32) }));
    expect(() => rotateSecrets(secrets)).toThrow('generations that are numbers');
  });
});
