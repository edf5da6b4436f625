import { readRequestVariable, requestIdIn } from '../../plugins/core/access/request-variable';
import { bearer, call, key, recordOf, signContext } from './call-plugin';
import { createInstance, memoryQuota, runEvent, type FakeRequest } from './fake-kong';
import { fc, propertyRuns } from '../support/fast-check';

const READ_BY_CALLS = ['get_headers', 'get_raw_query', 'get_forwarded_ip', 'get_var', 'get_var', 'get_var'];

const readCalls = async (request: FakeRequest): Promise<string[]> => {
  const { calls } = await call(request);
  return calls.filter((name) => name.startsWith('get_'));
};

describe('the request is asked for by calls', () => {
  it.each<[string, FakeRequest]>([
    ['when a credential was sent twice', { headers: { 'x-api-key': [key, 'other'] } }],
    ['when an underscore twin came beside it', { headers: { 'x-api-key': key, x_api_key: 'other' } }],
    ['when the proof was forged', { headers: { ...bearer, 'x-tollgate-context': 'forged' } }],
    ['when a claim about the caller was forged', { headers: { ...bearer, 'x-tollgate-customer': 'somebody' } }],
    ['when an underscore twin of the proof was forged', { headers: { ...bearer, x_tollgate_context: 'forged' } }],
    ['when it has so many bytes that it may have too many headers', { headers: { ...bearer, cookie: 'c'.repeat(3_000) } }],
    ['when its query ends at a fragment for nginx', { headers: bearer, query: `a=1#api_key=${key}` }],
    ['when its origin was sent twice', { headers: { ...bearer, origin: ['https://a.example', 'https://b.example'] } }],
  ])('%s', async (_, request) => {
    expect(await readCalls(request)).toEqual(['get_var', ...READ_BY_CALLS]);
  });

  it('with the header that the route names for its key, in the same write, and by calls where that came twice', async () => {
    const config = { key_in: ['x-api-key', 'header:shop-key'] };
    const once = await call({ headers: { 'shop-key': key } }, { config });
    expect([once.calls, once.cleared]).toEqual([['get_var', 'get_var', 'set_headers'], ['shop-key']]);
    const elsewhere = await call({ headers: { 'x-api-key': key, 'shop-key': key } }, { config });
    expect(elsewhere.cleared).toContain('shop-key');
    const twice = await call({ headers: { 'shop-key': [key, key] } }, { config });
    expect([twice.calls.slice(0, 8), twice.code]).toEqual([['get_var', 'get_var', ...READ_BY_CALLS], 'ambiguous_key']);
    const without = await call({ headers: { 'shop-key': key }, withoutVariable: true }, { config });
    expect([without.exit, without.cleared]).toEqual([undefined, ['shop-key']]);
  });

  it('always once kong.conf turns out to set no variable, without asking for it again', async () => {
    const records = { findAccessRecord: () => Promise.resolve(recordOf()) };
    const quota = memoryQuota();
    const { instance } = createInstance({ products: ['api-ip'] }, { records, quota, signContext });
    const request = { headers: bearer, withoutVariable: true };
    const first = await runEvent(instance, request);
    const second = await runEvent(instance, request);
    expect(first.calls).toEqual(['get_var', ...READ_BY_CALLS, 'set_headers']);
    expect(second.calls).toEqual([...READ_BY_CALLS, 'set_headers']);
  });
});

it('a request is decided the same, and sent on the same, whether it is read from the variable or by calls', async () => {
  const value = fc.constantFrom(
    key,
    `Bearer ${key}`,
    'Basic dTpw',
    '',
    'tg_live_wrong',
    'https://a.example',
    'https://b.example/a, b',
    'close, X-Tollgate-Context',
    '1',
    'x'.repeat(2_000),
  );
  const name = fc.constantFrom(
    'authorization',
    'x-api-key',
    'x-tollgate-context',
    'x_tollgate_context',
    'x-tollgate-customer-id',
    'origin',
    'referer',
    'x-other',
    'traceparent',
    'connection',
    'cookie',
  );
  const headers = fc.dictionary(name, fc.oneof(value, fc.array(value, { minLength: 2, maxLength: 3 })), { maxKeys: 5 });
  const query = fc.constantFrom('', `api_key=${key}`, `other=${key}&api_key=${key}`, 'a=1&b=%0a', `a=1&%61pi_key=${key}&api_key=x`);
  await fc.assert(
    fc.asyncProperty(headers, query, fc.constantFrom('/ip', '/ip/..%2fgst'), async (given, rawQuery, path) => {
      const request: FakeRequest = { headers: given, query: rawQuery, path };
      const [one, other] = [await call(request), await call({ ...request, withoutVariable: true })];
      const told = ({ exit, set, cleared, query: sent, decision }: typeof one): unknown => ({
        exit,
        set: Object.keys(set),
        // What is not there need not be removed.
        cleared: cleared.filter((each) => given[each] !== undefined && given[each] !== '').sort(),
        sent,
        decision,
      });
      expect(told(one)).toEqual(told(other));
    }),
    { numRuns: propertyRuns(300), examples: [[{ origin: '', referer: 'https://a.example' }, '', '/ip']] },
  );
});

describe('the variable', () => {
  const lines = ['4', '192.0.2.1', '100', '', 'GET', '', 'k', '', '', '', '', '', '', '', '', '', '/ip/x?a=1?b', 'id'];

  it('tells caller, id, query and the headers that are there', () => {
    expect(readRequestVariable(lines.join('\n'))).toEqual({
      callerAddress: '192.0.2.1',
      requestId: 'id',
      rawPath: '/ip/x',
      rawQuery: 'a=1?b',
      method: 'GET',
      headers: { 'x-api-key': 'k' },
    });
    expect(requestIdIn(lines.join('\n'))).toBe('id');
    expect(requestIdIn('')).toBe('');
  });

  it.each([
    ['of another layout', ['3', ...lines.slice(1)]],
    ['with a line too few', lines.slice(0, -1)],
    ['with a line too many', [...lines, '']],
    ['without an address', ['4', '', ...lines.slice(2)]],
    ['without a length', ['4', '192.0.2.1', 'many', ...lines.slice(3)]],
  ])('%s is not believed', (_, given) => {
    expect(readRequestVariable(given.join('\n'))).toBe('unclear');
  });
});
