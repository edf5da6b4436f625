import { call, field, file, FORM, JSON_BODY, multipart, send, sendParts, type Sent } from './send-input';
import { anyWebQuery } from '../../support/any-text';
import { fc, propertyRuns } from '../../support/fast-check';

describe('where input comes from', () => {
  it('query, form, multipart and JSON are the same to a handler', async () => {
    const expected = { name: 'Zoë & co', count: 7, flag: true };
    expect((await call({ method: 'GET', url: '/gst?name=Zo%C3%AB+%26+co&count=7&flag=true' })).json()).toEqual(expected);
    expect((await send('name=Zo%C3%AB+%26+co&count=7&flag=on', FORM)).json()).toEqual(expected);
    expect((await sendParts([field('name', 'Zoë & co'), field('count', '7'), field('flag', '1')])).json()).toEqual(expected);
    expect((await send(JSON.stringify(expected), JSON_BODY)).json()).toEqual(expected);
    expect((await send(JSON.stringify(expected), 'application/vnd.api+json; charset=UTF-8')).json()).toEqual(expected);
  });

  it('the body wins over the query', async () => {
    expect((await send('name=body', FORM, '/gst?name=query&count=3')).json()).toEqual({ name: 'body', count: 3 });
    expect((await send('{"name":"body"}', JSON_BODY, '/gst?name=query')).json()).toEqual({ name: 'body' });
  });

  it.each<[string, () => ReturnType<typeof call>]>([
    ['query', () => call({ method: 'GET', url: '/gst?name=a&name=b' })],
    ['form', () => send('name=a&name=b', FORM)],
    ['form', () => sendParts([field('name', 'a'), field('name', 'b')])],
    ['JSON body', () => send('{"name":"a", "count": 1, "n\\u0061me":"b"}', JSON_BODY)],
  ])('a field given twice with different values in the %s is a 400 that names it', async (source, request) => {
    const answer = await request();
    expect(answer.statusCode).toBe(400);
    expect(answer.json()).toMatchObject({ code: 'invalid_request', errors: [{ field: 'name', message: expect.stringContaining(source) }] });
    expect(answer.body).not.toMatch(/"[ab]"/);
  });

  it('the same value twice is one value', async () => {
    expect((await call({ method: 'GET', url: '/gst?name=a&name=a' })).json()).toEqual({ name: 'a' });
    expect((await send('{"name":"a","name":"a","list":["{","}"]}', JSON_BODY)).json()).toEqual({ name: 'a', list: ['{', '}'] });
  });

  it('bodies of GET and HEAD are ignored', async () => {
    const request = { url: '/gst?name=query', payload: '{"name":', headers: { 'content-type': JSON_BODY } };
    expect((await call({ method: 'GET', ...request })).json()).toEqual({ name: 'query' });
    expect((await call({ method: 'HEAD', ...request })).statusCode).toBe(200);
  });

  it('api_key never reaches a handler and its repeats never count', async () => {
    expect((await call({ method: 'GET', url: '/gst?api_key=a&api_key=b&name=x' })).json()).toEqual({ name: 'x' });
    expect((await send('{"api_key":"a","api_key":"b"}', JSON_BODY)).json()).toEqual({});
    expect((await sendParts([field('api_key', 'a'), field('api_key', 'b')])).json()).toEqual({});
  });

  it('a field that must not be in a URL is refused there', async () => {
    const answer = await send('{"keyword":"x","latitude":1}', JSON_BODY, '/gst/data?secret=999999990019');
    expect(answer.statusCode).toBe(400);
    expect(answer.json().errors).toEqual([{ field: 'secret', message: 'must be sent in the body, never in the URL' }]);
    expect(answer.body).not.toContain('9999');
    expect((await send('{"keyword":"x","latitude":1,"secret":"s"}', JSON_BODY, '/gst/data')).statusCode).toBe(200);
  });

  it('names of prototype members are plain unknown fields', async () => {
    const answers = [
      await send('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"name":"a"}', JSON_BODY),
      await send('__proto__=1&constructor=2&name=a', FORM),
      await sendParts([field('__proto__', '1'), field('toString', '2'), field('name', 'a')]),
      await call({ method: 'GET', url: '/gst?__proto__[polluted]=1&hasOwnProperty=1&name=a' }),
    ];
    for (const answer of answers) expect([answer.statusCode, answer.json()]).toEqual([200, { name: 'a' }]);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });
});

describe('what cannot be read', () => {
  const deep = (levels: number) => `{"list":${'['.repeat(levels)}${']'.repeat(levels)}}`;

  it.each<[string, Sent, string, number]>([
    ['JSON that does not parse', '{"name":', JSON_BODY, 400],
    ['JSON with a broken string', '{"name":"\\', JSON_BODY, 400],
    ['JSON that is no object', '["name"]', JSON_BODY, 400],
    ['JSON null', 'null', JSON_BODY, 400],
    ['JSON nested too deep', deep(70), JSON_BODY, 400],
    ['JSON nested absurdly', '['.repeat(400_000), JSON_BODY, 400],
    ['JSON with too many fields', JSON.stringify(Object.fromEntries(Array.from({ length: 300 }, (_, n) => [`f${n}`, n]))), JSON_BODY, 400],
    ['JSON that is not UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), JSON_BODY, 400],
    ['a form with a broken escape', 'name=%zz', FORM, 400],
    ['a form whose escape is not UTF-8', 'name=%ff', FORM, 400],
    ['a form that is not UTF-8', Buffer.from([0x61, 0x3d, 0xff]), FORM, 400],
    ['a form with too many fields', Array.from({ length: 300 }, (_, n) => `f${n}=1`).join('&'), FORM, 400],
    ['a form with an endless name', `${'n'.repeat(500)}=1`, FORM, 400],
    ['multipart without a boundary', 'x', 'multipart/form-data', 400],
    [
      'multipart that ends early',
      '--XX\r\nContent-Disposition: form-data; name="name"\r\n\r\nabc',
      'multipart/form-data; boundary=XX',
      400,
    ],
    ['multipart that is something else', 'name=abc', 'multipart/form-data; boundary=XX', 400],
    ['a text body', 'hello', 'text/plain', 415],
    ['an XML body', '<a/>', 'application/xml', 415],
    ['a body of a malformed type', 'x', ';;;', 415],
    ['a body in another character set', '{}', 'application/json; charset=utf-16', 415],
    ['a body over the limit', `name=${'a'.repeat(1_100_000)}`, FORM, 413],
    ['a multipart body over the limit', multipart([field('name', 'a'.repeat(1_100_000))]).payload, 'multipart/form-data; boundary=XX', 413],
  ])('%s is refused, never a 500', async (_case, payload, type, status) => {
    const answer = await send(payload, type);
    expect(answer.statusCode).toBe(status);
    expect(answer.headers['content-type']).toBe('application/problem+json; charset=utf-8');
    if (status === 400) expect(answer.json().errors).toEqual([{ field: expect.any(String), message: expect.any(String) }]);
  });

  it('a query with a broken escape or too many fields is a 400', async () => {
    expect((await call({ method: 'GET', url: '/gst?name=%e2%82' })).json().errors).toEqual([
      { field: 'query', message: 'is not valid percent-encoded UTF-8' },
    ]);
    expect((await call({ method: 'GET', url: `/gst?${'a&'.repeat(500)}` })).statusCode).toBe(400);
  });

  it('multipart: text that is not UTF-8, too many parts and files where none belong are 400', async () => {
    expect((await sendParts([field('name', Buffer.from([0xff]))])).json().errors).toEqual([
      { field: 'name', message: 'is not valid UTF-8' },
    ]);
    expect((await sendParts(Array.from({ length: 300 }, (_, n) => field(`f${n}`, 'x')))).statusCode).toBe(400);
    expect((await sendParts([file('name', 'x')])).json().errors).toEqual([{ field: 'name', message: 'must be text, not a file' }]);
    const { payload } = multipart([['Content-Disposition: form-data', 'x']]);
    expect((await send(payload, 'multipart/form-data; boundary=XX')).statusCode).toBe(400);
  });

  it('a compressed body is 415; a body without a type is 415 unless it is empty', async () => {
    const headers = { 'content-type': JSON_BODY, 'content-encoding': 'gzip' };
    expect((await call({ method: 'POST', url: '/gst', payload: 'x', headers })).statusCode).toBe(415);
    expect((await call({ method: 'POST', url: '/gst', payload: Buffer.from('x') })).statusCode).toBe(415);
    expect((await call({ method: 'POST', url: '/gst' })).statusCode).toBe(200);
    expect((await call({ method: 'POST', url: '/gst', headers: { 'content-type': JSON_BODY } })).statusCode).toBe(200);
    expect((await call({ method: 'POST', url: '/gst', headers: { 'content-type': 'text/plain', 'content-length': '0' } })).statusCode).toBe(
      200,
    );
  });

  it('random input never yields a 500', async () => {
    const types = fc.constantFrom(
      JSON_BODY,
      FORM,
      'multipart/form-data; boundary=XX',
      'text/plain',
      'application/json; charset=utf-8',
      '',
      ';',
      'multipart/form-data',
    );
    const jsonText = fc.oneof(
      fc.json(),
      fc.json().map((text) => `{"name":${text},"count":${text},"name":1}`),
      fc.string(),
    );
    const names = fc.constantFrom('name', 'count', 'flag', 'list', '__proto__', 'a');
    const pairs = fc.array(fc.tuple(names, fc.string()), { maxLength: 6 });
    const body = fc.oneof(
      jsonText,
      fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
      pairs.map((list) => list.map(([name, value]) => `${name}=${value}`).join('&')),
      pairs.map((list) => multipart(list.map(([name, value]) => field(name, value))).payload),
      fc.tuple(pairs, fc.nat(400)).map(([list, cut]) => multipart(list.map(([name, value]) => file(name, value))).payload.subarray(0, cut)),
    );
    const url = fc.constantFrom('/gst', '/gst/data', '/files', '/upload', '/replies');
    const query = fc.oneof(
      fc.constant(''),
      anyWebQuery.map((text) => `?${text}`),
      pairs.map((list) => `?${new URLSearchParams(list).toString()}`),
    );
    await fc.assert(
      fc.asyncProperty(url, query, types, body, async (path, search, type, payload) => {
        const answer = await call({ method: 'POST', url: path + search, payload, headers: { 'content-type': type } });
        // The sample's kind=nothing is a handler that fails on purpose.
        return answer.statusCode < 500 || search.includes('kind=nothing');
      }),
      { numRuns: propertyRuns(600) },
    );
  });
});
