import { randomBytes } from 'node:crypto';
import { type AccessLink, createLinkKeys, newViewing, openLink, sealLink } from '../../../plugins/core/proof/access-link';
import { linkSettings } from '../../../plugins/core/proof/link-settings';

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
