import { StoreUnavailable } from '../../plugins/core/ports';
import { denialOf } from '../../plugins/core/problems';
import { explainRequest } from '../../services/selling/requests/explain';
import { bearer, call, failing, key, recordOf } from './call-plugin';
import { memoryQuota } from './fake-kong';

const config = { enforce: false };

describe('a route that does not enforce', () => {
  it('lets an admitted request through without a proof, and spends nothing', async () => {
    const quota = memoryQuota();
    const { exit, set, cleared, decision } = await call({ headers: bearer }, { config, quota });
    expect({ exit, set, cleared, used: quota.used.size }).toEqual({ exit: undefined, set: {}, cleared: ['authorization'], used: 0 });
    expect(decision).toMatchObject({ outcome: 'admitted', customerId: 'cust-1', product: 'api-ip' });
    expect(decision?.charge).toBeUndefined();
  });

  it.each([
    ['without a key', {}, {}, 'key_missing'],
    ['with two keys', { headers: { ...bearer, 'x-api-key': 'another-key-of-mine' } }, {}, 'ambiguous_key'],
    ['with an unknown key', { headers: bearer }, { record: undefined }, 'key_unknown'],
    ['with an inactive key', { headers: bearer }, { record: recordOf({ state: 'inactive' }) }, 'key_inactive'],
    ['without a subscription', { headers: bearer }, { record: recordOf({ subscriptions: [] }) }, 'subscription_missing'],
    ['with a hidden dot segment', { headers: bearer, path: '/a/..%2fb' }, {}, 'ambiguous_path'],
    ['whose key cannot be looked up', { headers: bearer }, { records: failing(new Error('gone')) }, 'access_layer_unavailable'],
  ] as const)('lets a request %s through, and records the refusal', async (_, request, setup, code) => {
    const { exit, set, decision } = await call(request, { config, ...setup });
    expect({ exit, set }).toEqual({ exit: undefined, set: {} });
    expect(decision?.outcome).toBe(`would_refuse:${code}`);
    expect(denialOf(decision?.outcome ?? 'admitted')).toBe(code);
  });

  it('records what the quota would refuse, without a unit taken, also where its store is away', async () => {
    const quota = memoryQuota();
    quota.used.set('sub-1', 2);
    expect((await call({ headers: bearer }, { config, quota })).decision?.outcome).toBe('would_refuse:quota_daily_exceeded');
    expect(quota.used.get('sub-1')).toBe(2);
    const away = { ...quota, readStanding: () => Promise.reject(new StoreUnavailable('redis')) };
    const { exit, decision } = await call({ headers: bearer }, { config, quota: away });
    expect([exit, decision?.outcome]).toEqual([undefined, 'would_refuse:access_layer_unavailable']);
  });

  it('removes what the client forged, and keys from headers and query, but not what the API itself reads', async () => {
    const headers = { 'x-tollgate-context': 'forged', 'x-tollgate-customer': 'me', 'x-api-key': 'k', authorization: 'Basic YTpi' };
    const { cleared, query, set } = await call({ headers, query: `api_key=${key}&a=1` }, { config });
    expect(cleared).toEqual(expect.arrayContaining(['x-tollgate-context', 'x-tollgate-customer', 'x-api-key']));
    expect(cleared).not.toContain('authorization');
    expect([query, set]).toEqual(['a=1', {}]);
  });

  it('never sends a test key’s request to a sandbox, and leaves preflights to the API', async () => {
    const subscriptions = recordOf().subscriptions.map((each) => ({ ...each, sandbox: { host: 'sandbox.example', port: 81 } }));
    expect((await call({ headers: bearer }, { config, record: recordOf({ mode: 'test', subscriptions }) })).target).toBeUndefined();
    const preflight = { origin: 'https://a.example', 'access-control-request-method': 'POST' };
    expect((await call({ method: 'OPTIONS', headers: preflight }, { config })).exit).toBeUndefined();
  });

  it('still refuses what cannot be read in full', async () => {
    const { exit, decision } = await call({ headers: { ...bearer, connection: 'x-tollgate-context' } }, { config });
    expect([exit?.status, decision?.outcome]).toEqual([400, 'request_not_readable']);
  });

  it('says so once in the log, when it starts', async () => {
    const warn = jest.fn();
    await call({}, { config, deps: { log: { error: () => undefined, warn } } });
    expect(warn.mock.calls).toEqual([[{ products: ['api-ip'] }, expect.stringContaining('does not enforce')]]);
    expect(warn.mock.calls[0]?.[1]).toContain('a Bearer token of the API itself');
    await call({}, { config: { ...config, key_in: ['x-api-key'] }, deps: { log: { error: () => undefined, warn } } });
    expect(warn.mock.calls[1]?.[1]).not.toContain('Bearer');
  });

  it('is counted at every request that it lets through, and a route that enforces never', async () => {
    const onUnenforced = jest.fn();
    await call({}, { config, deps: { onUnenforced } });
    await call({}, { deps: { onUnenforced } });
    expect(onUnenforced.mock.calls).toEqual([[['api-ip']]]);
  });
});

it('an explanation names the check that would have refused', async () => {
  const { decision } = await call({}, { config });
  if (!decision) throw new Error('nothing was recorded');
  const { outcome, checks, remedy } = explainRequest(decision, { reader: 'customer', nowMs: 0 });
  expect([outcome, checks[0]?.outcome]).toEqual(['would_refuse:key_missing', 'failed']);
  expect(remedy).toContain('The request was let through: its route does not enforce');
});
