import { randomBytes, createHmac, createPublicKey, sign, type KeyObject } from 'node:crypto';
import { type AccessLink, createLinkKeys, newViewing, openLink, sealLink } from '../../../plugins/core/proof/access-link';
import { linkSettings } from '../../../plugins/core/proof/link-settings';
import { formatTraceparent, parseTraceparent, unrecordedContext } from '../../../plugins/core/proof/trace-context';
import { createJwtSigner } from '../../../plugins/core/proof/context-jwt';
import {
  parseKeySet,
  parsePrivateKey,
  parseSharedKeys,
  sharedContextKey,
  type ContextKey,
  type SharedKey,
} from '../../../plugins/core/proof/context-keys';
import { type ContextSigner, type RequestContext } from '../../../plugins/core/proof/context-token';
import { createContextKey } from '../../../plugins/core/proof/create-context-key';
import { createProductSigner, deriveProductKey } from '../../../plugins/core/proof/product-keys';
import { createContextKeys, verifyContext } from '../../../plugins/core/proof/verify-context';
import { fc } from '../../support/fast-check';

const NOW = 1_700_000_000;
const secret = (fill: number): Buffer => Buffer.alloc(32, fill);
const keys = createLinkKeys([{ id: 'one', secret: secret(1) }]);
const link: AccessLink = {
  product: 'api-gdplay',
  credentialId: 'credential-1',
  subscriptionId: 'subscription-1',
  grant: { viewing: newViewing(), resource: 'sandbox-video-0001', allowance: 1_000, expiresAt: NOW + 60 },
  address: undefined,
};

describe('a link', () => {
  it('opens to what was sealed, with and without an address', () => {
    for (const address of [undefined, '203.0.113.7'])
      expect(openLink(sealLink({ ...link, address }, keys), keys, NOW)).toEqual({ ok: true, link: { ...link, address } });
  });

  it('needs no escaping in a URL, and shows neither the resource nor the key that it was made with', () => {
    const token = sealLink(link, keys);
    expect(encodeURIComponent(token)).toBe(token);
    const seen = token + Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('latin1');
    for (const hidden of [link.grant.resource, link.credentialId, link.subscriptionId]) expect(seen).not.toContain(hidden);
    expect(sealLink(link, keys)).not.toBe(token);
  });

  it('ends at its moment', () => {
    const token = sealLink(link, keys);
    expect(openLink(token, keys, NOW + 59.9).ok).toBe(true);
    expect(openLink(token, keys, NOW + 60)).toEqual({ ok: false, reason: 'expired' });
    expect(openLink(sealLink({ ...link, grant: { ...link.grant, expiresAt: Number.NaN } }, keys), keys, NOW).ok).toBe(false);
  });

  it('is forged when any character of it is another', () => {
    const token = sealLink(link, keys);
    for (let place = 0; place < token.length; place++) {
      const other = token[place] === 'A' ? 'B' : 'A';
      expect(openLink(token.slice(0, place) + other + token.slice(place + 1), keys, NOW)).toEqual({ ok: false, reason: 'forged' });
    }
  });

  it.each(['', 'tgl_', 'tgl_one.', `tgl_one.${'A'.repeat(60)}`, `tgl_two.${'A'.repeat(60)}`, 'A'.repeat(5_000)])(
    'is forged when it is %p',
    (text) => expect(openLink(text, keys, NOW)).toEqual({ ok: false, reason: 'forged' }),
  );

  it('of a key that is rotated holds while the key is still listed, and no longer', () => {
    const token = sealLink(link, keys);
    const rotating = createLinkKeys([{ id: 'two', secret: secret(2) }, { id: 'one', secret: secret(1) }]); // prettier-ignore
    expect(openLink(token, rotating, NOW).ok).toBe(true);
    expect(sealLink(link, rotating)).toMatch(/^tgl_two\./);
    expect(openLink(token, createLinkKeys([{ id: 'two', secret: secret(2) }]), NOW).ok).toBe(false);
  });

  it('is not sealed with the bytes of the setting themselves', () => {
    const token = sealLink(link, keys);
    expect(openLink(token, { first: 'one', byId: new Map([['one', secret(1)]]) }, NOW).ok).toBe(false);
  });
});

describe('GDPLAY_LINK_KEYS', () => {
  it('is read as id:base64 pairs, and complained about without its value', () => {
    const text = `a:${randomBytes(32).toString('base64')}`;
    expect(linkSettings.parse({ GDPLAY_LINK_KEYS: text }).GDPLAY_LINK_KEYS?.first).toBe('a');
    expect(linkSettings.parse({}).GDPLAY_LINK_KEYS).toBeUndefined();
    const wrong = linkSettings.safeParse({ GDPLAY_LINK_KEYS: 'a:c2hvcnQ=' });
    expect(wrong.error?.issues[0]?.message).toBe('signing key "a" is shorter than 32 bytes');
  });
});

const traceId = '0af7651916cd43dd8448eb211c80319c';
const spanId = 'b7ad6b7169203331';

describe('a traceparent', () => {
  it('is read and written as the standard says', () => {
    const text = `00-${traceId}-${spanId}-01`;
    expect(parseTraceparent(text)).toEqual({ traceId, spanId, isSampled: true });
    expect(formatTraceparent({ traceId, spanId, isSampled: true })).toBe(text);
    expect(parseTraceparent(`00-${traceId}-${spanId}-02`)).toMatchObject({ isSampled: false });
  });

  it('of a later version is read as far as it is known', () => {
    expect(parseTraceparent(`01-${traceId}-${spanId}-01-more`)).toEqual({ traceId, spanId, isSampled: true });
  });

  it.each<[string, unknown]>([
    ['absent', undefined],
    ['repeated', [`00-${traceId}-${spanId}-01`, `00-${traceId}-${spanId}-01`]],
    ['in capitals', `00-${traceId.toUpperCase()}-${spanId}-01`],
    ['of zeros', `00-${'0'.repeat(32)}-${spanId}-01`],
    ['with a parent of zeros', `00-${traceId}-${'0'.repeat(16)}-01`],
    ['of the forbidden version', `ff-${traceId}-${spanId}-01`],
    ['with more than its version allows', `00-${traceId}-${spanId}-01-more`],
    ['cut off', `00-${traceId}-${spanId}`],
    ['endless', `01-${traceId}-${spanId}-01-${'x'.repeat(300)}`],
    ['with a line break', `00-${traceId}-${spanId}-01\nX: y`],
  ])('that is %s is none', (_, value) => {
    expect(parseTraceparent(value)).toBeUndefined();
  });

  it('that nobody records is still well-formed', () => {
    expect(parseTraceparent(formatTraceparent(unrecordedContext()))).toMatchObject({ isSampled: false });
  });
});

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
const at = (nowSeconds: number, ...products: string[]) => ({ nowSeconds, products: products.length > 0 ? products : ['api-ip'] });

const [pair, next] = [createContextKey(), createContextKey()];
const own = parsePrivateKey(pair.privateKey);
const published = parseKeySet(JSON.stringify({ keys: [...pair.keySet.keys, ...next.keySet.keys] }));
const [shared] = parseSharedKeys(`shared:${randomBytes(32).toString('base64')}`);
const [first, second] = [1, 2].map((generation) => ({ id: String(generation), secret: randomBytes(32) })) as [SharedKey, SharedKey];
const productKey = deriveProductKey(first, 'api-ip');
const everything = createContextKeys([...published, productKey], [shared]);
const pairOnly = createContextKeys(parseKeySet(JSON.stringify(pair.keySet)), []);

const signers: [string, ContextSigner][] = [
  ['EdDSA', createJwtSigner(own)],
  ['HS256', createJwtSigner(sharedContextKey(shared))],
  ['HS256, with the key of its product', createProductSigner(first)],
];

const encode = (value: unknown): string => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');
const signEd25519 = (input: string, key: KeyObject = own.key): string => sign(null, Buffer.from(input), key).toString('base64url');
const claims = {
  iss: 'tollgate', aud: 'api-ip', sub: 'u1', key: 'c1', sub_id: 's1', product: 'api-ip', mode: 'live', ip: '203.0.113.7',
  day: null, quota: null, iat: 1000, exp: 1060, jti: 'r1',
}; // prettier-ignore
const header = { alg: 'EdDSA', typ: 'JWT', kid: own.id };

/** A token that the plugin server's key signed, whatever it says. */
function signed(head: unknown, body: unknown): string {
  const input = `${encode(head)}.${encode(body)}`;
  return `${input}.${signEd25519(input)}`;
}

describe.each(signers)('a proof signed by %s', (_name, signContext) => {
  it('comes back as it was', () => {
    expect(verifyContext(signContext(context), everything, at(1000, 'api-gst', 'api-ip'))).toEqual({ ok: true, context });
    const uncharged = { ...context, chargedDay: null, quota: null, mode: 'test' as const };
    expect(verifyContext(signContext(uncharged), everything, at(1060))).toEqual({ ok: true, context: uncharged });
  });

  it('is refused from the second after its last, and for another product', () => {
    expect(verifyContext(signContext(context), everything, at(1060.01))).toEqual({ ok: false, reason: 'expired' });
    expect(verifyContext(signContext(context), everything, at(1000, 'api-gst'))).toEqual({ ok: false, reason: 'misdirected' });
  });

  it('is refused after any change of its characters', () => {
    const token = signContext(context);
    for (let index = 0; index < token.length; index += 5) {
      const changed = token.slice(0, index) + (token[index] === 'A' ? 'B' : 'A') + token.slice(index + 1);
      expect([index, verifyContext(changed, everything, at(1000)).ok]).toEqual([index, false]);
    }
    expect(verifyContext(token.slice(0, -1), everything, at(1000)).ok).toBe(false);
    expect(verifyContext(`${token.slice(0, -1)}${token.endsWith('B') ? 'C' : 'B'}`, everything, at(1000)).ok).toBe(false);
    expect(verifyContext(`${token}=`, everything, at(1000)).ok).toBe(false);
    expect(verifyContext(`${token}.x`, everything, at(1000)).ok).toBe(false);
  });

  it('is refused by who does not know its key', () => {
    const other = createContextKeys(parseKeySet(JSON.stringify(createContextKey().keySet)), []);
    expect(verifyContext(signContext(context), other, at(1000)).ok).toBe(false);
  });
});

describe('the claims of a proof', () => {
  it('are those that upstreams are told of', () => {
    const token = createJwtSigner(own)(context);
    const [head = '', body = ''] = token.split('.');
    expect(JSON.parse(Buffer.from(head, 'base64url').toString())).toEqual(header);
    expect(JSON.parse(Buffer.from(body, 'base64url').toString())).toEqual({
      ...claims,
      day: '2026-11-20',
      quota: {
        daily: { limit: 10, remaining: 3, reset: 2000, window: 86400 },
        monthly: { limit: 100, remaining: 33, reset: 9000, window: 2592000 },
      },
    });
  });

  it('tell how many units were taken, where it is not one', () => {
    const batch = { ...context, units: 100 };
    expect(verifyContext(createJwtSigner(own)(batch), pairOnly, at(1000))).toEqual({ ok: true, context: batch });
    expect(createJwtSigner(own)({ ...context, units: 1 })).toBe(createJwtSigner(own)(context));
    for (const units of [0, -1, 1.5, '100', null])
      expect(verifyContext(signed(header, { ...claims, units }), pairOnly, at(1000))).toEqual({ ok: false, reason: 'malformed' });
  });

  it('carry what is included and the rate, where there are such', () => {
    const window = { limit: 8, remaining: 1, resetsAt: 2000, windowSeconds: 86_400 };
    const rate = { limit: 10, windowSeconds: 1, remaining: 19, waitSeconds: 1 };
    const sold = { ...context, quota: { daily: window, monthly: window, included: window, rate } };
    expect(verifyContext(createJwtSigner(own)(sold), pairOnly, at(1000))).toEqual({ ok: true, context: sold });
  });

  it('hold any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 60 }), fc.ipV6(), (text, address) => {
        const given = { ...context, requestId: text, callerAddress: address };
        expect(verifyContext(createJwtSigner(own)(given), pairOnly, at(1000))).toEqual({ ok: true, context: given });
      }),
    );
  });
});

describe('keys that are rotated', () => {
  it('are both believed', () => {
    for (const { privateKey } of [pair, next]) {
      expect(verifyContext(createJwtSigner(parsePrivateKey(privateKey))(context), everything, at(1000)).ok).toBe(true);
    }
  });
});

describe('a key of one product', () => {
  const gst = { ...context, product: 'api-gst' };
  const grant = { viewing: 'v', resource: 'r', allowance: 1, expiresAt: 1060 };
  const holding = (...keys: ContextKey[]) => createContextKeys(keys, []);
  const both = holding(productKey, deriveProductKey(first, 'api-gst'));
  const ownKeysOfGst = createJwtSigner(deriveProductKey(first, 'api-gst'));

  it('proves nothing to a service that does not hold it', () => {
    expect(verifyContext(createProductSigner(first)(gst), holding(productKey), at(1000, 'api-gst'))).toEqual({
      ok: false,
      reason: 'forged',
    });
  });

  it('proves nothing for another product, even to a service that answers for both', () => {
    expect(verifyContext(createProductSigner(first)(gst), both, at(1000, 'api-gst', 'api-ip')).ok).toBe(true);
    for (const forged of [context, { ...context, link: grant }]) {
      const verdict = verifyContext(ownKeysOfGst(forged), both, { ...at(1000, 'api-gst', 'api-ip'), links: true });
      expect(verdict).toEqual({ ok: false, reason: 'misdirected' });
    }
  });

  it('is another in each generation, and two are believed at a time', () => {
    const signNext = createProductSigner(second);
    expect(verifyContext(signNext(context), holding(productKey), at(1000))).toEqual({ ok: false, reason: 'forged' });
    const rotating = holding(productKey, deriveProductKey(second, 'api-ip'));
    for (const token of [createProductSigner(first)(context), signNext(context)])
      expect(verifyContext(token, rotating, at(1000)).ok).toBe(true);
  });

  it('fixes the algorithm: no header chooses another', () => {
    const secret = productKey.key.export();
    for (const [alg, kid] of [
      ['EdDSA', productKey.id],
      ['none', productKey.id],
      ['HS512', productKey.id],
      ['HS256', own.id],
      ['HS256', 'api-ip.2'],
    ]) {
      const input = `${encode({ alg, typ: 'JWT', kid })}.${encode(claims)}`;
      const mac = createHmac('sha256', secret).update(input).digest('base64url');
      for (const signature of [mac, signEd25519(input), '', 'AAAA']) {
        expect(verifyContext(`${input}.${signature}`, everything, at(1000)).ok).toBe(false);
      }
    }
  });
});

describe('a forger', () => {
  const body = encode(claims);
  const [publicKey] = pair.keySet.keys;
  const hmacs: [string, Buffer | string][] = [
    ['its bytes', Buffer.from(publicKey?.x ?? '', 'base64url')],
    ['its JSON', JSON.stringify(publicKey)],
    ['its PEM', createPublicKey(own.key).export({ type: 'spki', format: 'pem' })],
  ];

  it.each(hmacs)('gains nothing from the public key as an HMAC secret: %s', (_form, secret) => {
    for (const kid of [own.id, 'shared', productKey.id]) {
      for (const alg of ['HS256', 'EdDSA']) {
        const input = `${encode({ alg, typ: 'JWT', kid })}.${body}`;
        const mac = createHmac('sha256', secret).update(input).digest('base64url');
        expect(verifyContext(`${input}.${mac}`, everything, at(1000))).toEqual({ ok: false, reason: 'forged' });
      }
    }
  });

  it.each<[string, unknown]>([
    ['no algorithm', { alg: 'none', typ: 'JWT', kid: own.id }],
    ['an algorithm in other letters', { alg: 'eddsa', typ: 'JWT', kid: own.id }],
    ['no kid', { alg: 'EdDSA', typ: 'JWT' }],
    ['an unknown kid', { ...header, kid: 'other' }],
    ['another type', { ...header, typ: 'at+jwt' }],
    ['an extension', { ...header, crit: ['b64'], b64: false }],
    ['a key of its own', { ...header, jwk: publicKey }],
    ['a member twice', `{"alg":"none","alg":"EdDSA","typ":"JWT","kid":"${own.id}"}`],
  ])('cannot choose how a proof is verified: %s', (_what, head) => {
    for (const token of [signed(head, claims), `${encode(head)}.${body}.`, `${encode(head)}.${body}`, `${encode(head)}.${body}.AAAA`]) {
      expect(verifyContext(token, everything, at(1000)).ok).toBe(false);
    }
  });

  it.each<[string, unknown]>([
    ['a claim twice', JSON.stringify(claims).replace('"aud":', '"aud":"api-gst","aud":')],
    ['spaces', JSON.stringify(claims, undefined, 1)],
    ['another issuer', { ...claims, iss: 'somebody' }],
    ['several audiences', { ...claims, aud: ['api-ip', 'api-gst'] }],
    ['a product that is not the audience', { ...claims, product: 'api-gst' }],
    ['no expiry', { ...claims, exp: undefined }],
    ['an expiry in words', { ...claims, exp: '1060' }],
    ['an expiry without end', { ...claims, exp: 1e300 }],
    ['a mode of its own', { ...claims, mode: 'free' }],
    [
      'half a rate',
      {
        ...claims,
        quota: {
          daily: { limit: 1, remaining: 1, reset: 1, window: 1 },
          monthly: { limit: 1, remaining: 1, reset: 1, window: 1 },
          rate: { limit: 1, remaining: 1, window: 1 },
        },
      },
    ],
    [
      'half of what is included',
      {
        ...claims,
        quota: {
          daily: { limit: 1, remaining: 1, reset: 1, window: 1 },
          monthly: { limit: 1, remaining: 1, reset: 1, window: 1 },
          included: { limit: 1, remaining: 1 },
        },
      },
    ],
    ['half a quota', { ...claims, quota: { daily: { limit: 1, remaining: 1, reset: 1, window: 1 } } }],
    ['no object', null],
    ['no JSON', '{"iss"'],
  ])('that even has the key is not believed with claims of another shape: %s', (_what, given) => {
    expect(verifyContext(signed(header, given), everything, at(1000)).ok).toBe(false);
  });

  it('is refused at once with a token that is too long to be one', () => {
    const huge = { ...claims, jti: 'x'.repeat(5_000) };
    expect(verifyContext(signed(header, huge), everything, at(1000))).toEqual({ ok: false, reason: 'malformed' });
    expect(verifyContext('.'.repeat(100_000), everything, at(1000))).toEqual({ ok: false, reason: 'malformed' });
  });

  it('is never believed, whatever it sends, and never answered with an exception', () => {
    const part = fc.oneof(fc.base64String(), fc.string(), fc.constantFrom(encode(header), body, 'v1', ''));
    fc.assert(
      fc.property(fc.array(part, { maxLength: 5 }), (parts) => {
        expect(verifyContext(parts.join('.'), everything, at(1000)).ok).toBe(false);
      }),
    );
  });

  it('is told apart from who sends nothing', () => {
    for (const nothing of [undefined, '']) expect(verifyContext(nothing, everything, at(1000))).toEqual({ ok: false, reason: 'absent' });
  });
});
