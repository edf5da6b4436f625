import { type AccessLink, createLinkKeys, openLink, sealLink } from '../../plugins/core/proof/access-link';
import { hashApiKey } from '../../plugins/core/access/api-key';
import { CONTEXT_HEADER } from '../../plugins/core/proof/context-token';
import { type AccessRecord, StoreUnavailable } from '../../plugins/core/ports';
import { explainRequest } from '../../services/selling/requests/explain';
import { verifyContext } from '../../plugins/core/proof/verify-context';
import { compileWhitelist } from '../../plugins/core/access/whitelist';
import { call as callPlugin, contextKeys, key, recordOf } from './call-plugin';
import { type FakeOutcome, type FakeRequest, memoryQuota, NOW_MS } from './fake-kong';

const keys = createLinkKeys([{ id: 'k1', secret: Buffer.alloc(32, 1) }]);
const NOW = NOW_MS / 1000;

const link: AccessLink = {
  product: 'api-gdplay',
  credentialId: 'cred-1',
  subscriptionId: 'sub-1',
  grant: { viewing: 'viewing-1', resource: 'file-1', allowance: 1_000, expiresAt: NOW + 60 },
};
const tokenOf = (changes: Partial<AccessLink> = {}): string => sealLink({ ...link, ...changes }, keys);

const subscription = { id: 'sub-1', product: 'api-gdplay', plan: 'Star', state: 'active', limits: { daily: 1, monthly: 1 } } as const;
const gdplayRecord = (changes: Partial<AccessRecord> = {}): AccessRecord =>
  recordOf({ products: ['api-gdplay'], subscriptions: [subscription], ...changes });

interface Setup {
  readonly record?: AccessRecord | undefined;
  readonly products?: string[];
  readonly findKeyHash?: (credentialId: string) => Promise<string | undefined>;
  readonly isOff?: boolean;
}

const ownKeyHash = (id: string) => Promise.resolve(id === 'cred-1' ? hashApiKey(key) : undefined);
const open = (token: string, nowSeconds: number) => openLink(token, keys, nowSeconds);

async function call(request: FakeRequest, { products = ['api-gdplay'], findKeyHash = ownKeyHash, isOff = false, ...setup }: Setup = {}) {
  const quota = memoryQuota();
  const record = 'record' in setup ? setup.record : gdplayRecord();
  const outcome = await callPlugin(request, { config: { products }, record, quota, deps: isOff ? {} : { links: { open, findKeyHash } } });
  return { ...outcome, used: quota.used };
}

const withLink = (token = tokenOf(), more: FakeRequest = {}): FakeRequest => ({ query: `link=${token}`, ...more });

const proofOf = ({ set }: FakeOutcome, links: boolean) =>
  verifyContext(String(set[CONTEXT_HEADER]), contextKeys, { products: ['api-gdplay'], links, nowSeconds: NOW });

describe('a request with a link in place of a key', () => {
  it('is admitted for its resource alone, charged nothing, and its service never sees the link', async () => {
    const outcome = await call({ query: `a=1&link=${tokenOf()}&b=2` });
    expect(outcome.exit).toBeUndefined();
    expect(outcome.query).toBe('a=1&b=2');
    expect(proofOf(outcome, true)).toMatchObject({
      ok: true,
      context: { credentialId: 'cred-1', subscriptionId: 'sub-1', chargedDay: null, quota: null, link: link.grant },
    });
    expect(outcome.used.size).toBe(0);
  });

  it('has a proof that counts for nothing where links are not expected', async () => {
    expect(proofOf(await call(withLink()), false)).toEqual({ ok: false, reason: 'misdirected' });
  });

  it('is recorded without the link, and explained', async () => {
    const { decision } = await call(withLink());
    expect(JSON.stringify(decision)).not.toContain('tgl_');
    expect(decision).toMatchObject({ outcome: 'admitted', keyPlace: 'link', credentialId: 'cred-1', quota: undefined });
    if (!decision) throw new Error('nothing was recorded');
    const saw = explainRequest(decision, { reader: 'customer', nowMs: 0 }).checks.map((check) => check.saw);
    expect([saw[0], saw.at(-1)]).toEqual(['a link in its place', 'counted when the link was made']);
  });

  it.each([
    ['a revoked key', gdplayRecord({ state: 'revoked' }), 'key_unknown'],
    ['a switched-off key', gdplayRecord({ state: 'inactive' }), 'key_unknown'],
    ['a suspended key', gdplayRecord({ suspended: 'abuse' }), 'key_unknown'],
    ['an expired key', gdplayRecord({ expiresAtMs: NOW_MS }), 'key_expired'],
    ['a key that the store has no longer', undefined, 'key_unknown'],
    ['a key without the product', gdplayRecord({ products: ['api-ip'] }), 'product_not_authorised'],
    ['a subscription that ended', gdplayRecord({ subscriptions: [] }), 'subscription_missing'],
    ['a paused subscription', gdplayRecord({ subscriptions: [{ ...subscription, state: 'paused' }] }), 'subscription_inactive'],
    ['a suspended subscription', gdplayRecord({ subscriptions: [{ ...subscription, suspended: '' }] }), 'subscription_inactive'],
    ['another subscription than paid for it', gdplayRecord({ subscriptions: [{ ...subscription, id: 'sub-2' }] }), 'link_not_valid'],
    ['a caller whom the rules do not name', gdplayRecord({ whitelist: compileWhitelist(['10.0.0.0/8']) }), 'caller_not_whitelisted'],
  ])('is refused as its key would be: %s', async (_, record, code) => {
    const { exit, used } = await call(withLink(), { record });
    expect([exit?.status, exit?.body['code'], used.size]).toEqual([401, code, 0]);
  });

  it('is admitted from a page that a domain rule of the key names', async () => {
    const record = gdplayRecord({ whitelist: compileWhitelist(['shop.example.com']) });
    const from = (referer: string) => call(withLink(tokenOf(), { headers: { referer } }), { record });
    expect((await from('https://shop.example.com/film')).code).toBeUndefined();
    expect((await from('https://elsewhere.example.com/')).code).toBe('caller_not_whitelisted');
  });

  it.each([
    ['expired', tokenOf({ grant: { ...link.grant, expiresAt: NOW } })],
    ['of another product', tokenOf({ product: 'api-ip' })],
    ['forged', `${tokenOf().slice(0, -3)}AAA`],
    ['for another address', tokenOf({ address: '203.0.113.8' })],
  ])('is refused when the link is %s', async (_, token) => {
    const { exit } = await call(withLink(token));
    expect([exit?.status, exit?.body['code']]).toEqual([401, 'link_not_valid']);
  });

  it('holds for its one address in any spelling of it', async () => {
    const token = tokenOf({ address: '203.0.113.7' });
    for (const address of ['203.0.113.7', '::ffff:203.0.113.7']) expect((await call(withLink(token, { address }))).code).toBeUndefined();
  });

  it('is refused with two links, and on a route of another product', async () => {
    expect((await call({ query: `link=${tokenOf()}&link=${tokenOf()}` })).code).toBe('link_not_valid');
    expect((await call(withLink(), { products: ['api-ip'] })).code).toBe('link_not_valid');
  });

  it.each(['POST', 'PUT', 'DELETE', 'OPTIONS', ''])('changes nothing: with the method "%s" it is no link', async (method) => {
    expect((await call(withLink(tokenOf(), { method }))).code).toBe('key_missing');
  });

  it('is refused where links are not set up', async () => {
    expect((await call(withLink(), { isOff: true })).code).toBe('link_not_valid');
  });

  it('is refused when the key cannot be looked up', async () => {
    const findKeyHash = () => Promise.reject(new StoreUnavailable('gone'));
    expect((await call(withLink(), { findKeyHash })).exit?.status).toBe(503);
  });

  it('costs no look-up unless its seal holds', async () => {
    let asked = 0;
    const findKeyHash = () => Promise.resolve(void (asked += 1));
    await call(withLink(`${tokenOf().slice(0, -3)}AAA`), { findKeyHash });
    expect(asked).toBe(0);
  });
});

describe('a request with a key', () => {
  it('is judged by its key alone, and a parameter called link stays', async () => {
    const outcome = await call(withLink(tokenOf(), { headers: { 'x-api-key': key } }));
    expect([outcome.code, outcome.query, outcome.used.get('sub-1')]).toEqual([undefined, undefined, 1]);
  });

  it('is not offered a link in place of a missing one when the parameter is something else', async () => {
    expect((await call({ query: 'link=https://example.com' })).code).toBe('key_missing');
  });
});
