import { call, field, file, FORM, JSON_BODY, multipart, send, sendParts, type Sent } from './send-input';
import { anyWebQuery } from '../../support/any-text';
import { fc, propertyRuns } from '../../support/fast-check';
import { Readable } from 'node:stream';

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

describe('validation', () => {
  it('says in words what is wrong with every field, with the status the route documents', async () => {
    const answer = await send('{"latitude":"north","mode":"other"}', JSON_BODY, '/gst/data');
    expect(answer.statusCode).toBe(422);
    expect(answer.json()).toMatchObject({
      code: 'validation_failed',
      detail: '3 fields are missing or invalid.',
      errors: [
        { field: 'keyword', message: 'is required' },
        { field: 'latitude', message: 'must be a number' },
        { field: 'mode', message: 'must be one of fast, slow' },
      ],
    });
  });

  it.each([
    ['name=', 'name', 'must not be empty'],
    [`name=${'a'.repeat(21)}`, 'name', 'must have at most 20 characters'],
    ['count=0', 'count', 'must be at least 1'],
    ['count=61', 'count', 'must be at most 60'],
    ['count=1.5', 'count', 'must be a whole number'],
    ['count=abc', 'count', 'must be a number'],
    ['count=0x10', 'count', 'must be a number'],
    ['count=Infinity', 'count', 'must be a number'],
    ['flag=maybe', 'flag', 'must be true or false'],
    ['list=a', 'list', 'must be a list'],
  ])('%s: %s %s', async (query, name, message) => {
    const answer = await call({ method: 'GET', url: `/gst?${query}` });
    expect(answer.statusCode).toBe(400);
    expect(answer.json()).toMatchObject({ code: 'invalid_request', detail: `${name} ${message}.`, errors: [{ field: name, message }] });
  });

  it('text becomes a number or boolean wherever it came from', async () => {
    expect((await send('keyword=x&latitude=-12.5', FORM, '/gst/data')).json()).toMatchObject({
      latitude: -12.5,
      half: -6.25,
      mode: 'fast',
    });
    expect((await send('{"keyword":"x"}', JSON_BODY, '/gst/data?latitude=1e1')).json()).toMatchObject({ latitude: 10 });
    expect((await send('{"keyword":"x","latitude":"1"}', JSON_BODY, '/gst/data')).json()).toMatchObject({ latitude: 1 });
  });

  it('an empty number or boolean in a form is absent', async () => {
    expect((await call({ method: 'GET', url: '/gst?count=&flag=' })).json()).toEqual({});
    expect((await send('keyword=x&latitude=', FORM, '/gst/data')).json().errors).toEqual([{ field: 'latitude', message: 'is required' }]);
  });
});

describe('numbers and text stand for each other', () => {
  it.each([
    ['a number in quotes', '{"keyword":"x","latitude":" 12.5 "}', { keyword: 'x', latitude: 12.5 }],
    ['text without quotes', '{"keyword":110001,"latitude":1}', { keyword: '110001', latitude: 1 }],
  ])('%s, in JSON as in a form', async (_what, body, expected) => {
    expect((await send(body, JSON_BODY, '/gst/data')).json()).toMatchObject(expected);
  });

  it('a member of an object too, and a truth value in quotes', async () => {
    const body = '{"flag":"yes","nested":{"count":"3","name":7,"other":"9"}}';
    expect((await send(body, JSON_BODY)).json()).toEqual({ flag: true, nested: { count: 3, name: '7' } });
  });

  it('a number that lost digits is not taken for text: it would be another one', async () => {
    const answer = await send('{"name":12345678901234567890}', JSON_BODY);
    expect([answer.statusCode, answer.json().errors]).toEqual([400, [{ field: 'name', message: 'must be text' }]]);
  });
});

describe('a near miss of a parameter', () => {
  it.each(['NAME', 'Name', 'names', 'name[]', 'name[0]', 'Na-me', 'na_mes', 'name.'])('%s is a 400 that names both', async (name) => {
    const shown = name.replace(/\[.*/, '[]');
    const errors = [{ field: shown, message: 'is not a parameter of this route: name is' }];
    for (const answer of [
      await call({ method: 'GET', url: `/gst?${encodeURIComponent(name)}=x` }),
      await call({ method: 'GET', url: `/gst?name=x&${encodeURIComponent(name)}=x` }),
      await send(`${encodeURIComponent(name)}=x`, FORM),
      await send(JSON.stringify({ [name]: 'x' }), JSON_BODY),
      await sendParts([field(name, 'x')]),
    ]) {
      expect([answer.statusCode, answer.json().code, answer.json().errors]).toEqual([400, 'invalid_request', errors]);
    }
  });

  it('a hyphen for an underscore, an underscore for a capital: whatever the parameter itself looks like', async () => {
    expect((await call({ method: 'GET', url: '/gst?two-words=1' })).json().errors[0].message).toContain('two_words is');
    expect((await call({ method: 'GET', url: '/gst?twoWords=1' })).statusCode).toBe(400);
    expect((await call({ method: 'GET', url: '/gst?countries=1' })).statusCode).toBe(200);
  });

  it('is a 400 where missing fields are 422, and before they are looked for', async () => {
    const answer = await send('{"Keyword":"x","latitude":1}', JSON_BODY, '/gst/data');
    expect([answer.statusCode, answer.json().errors.length]).toEqual([400, 1]);
  });

  it('does not repeat what stands in its brackets', async () => {
    expect((await call({ method: 'GET', url: '/gst?name%5B999999990019%5D=1' })).body).not.toContain('9999');
  });

  it('of the field of an upload is refused too', async () => {
    const answer = await sendParts([field('Note', 'x'), file('file', 'abc')], '/upload');
    expect(answer.json().errors).toEqual([{ field: 'Note', message: 'is not a parameter of this route: note is' }]);
    expect((await call({ method: 'POST', url: '/upload?Apk=1' })).json().errors[0].message).toContain('apk is');
  });

  it('of a member of an object is refused under its whole name', async () => {
    const answer = await send('{"nested":{"Count":3,"name":"x"}}', JSON_BODY);
    expect([answer.statusCode, answer.json().errors]).toEqual([
      400,
      [{ field: 'nested.Count', message: 'is not a parameter of this route: nested.count is' }],
    ]);
  });

  it('other names are ignored', async () => {
    expect((await call({ method: 'GET', url: '/gst?nam=1&nome=2&_=3&utm_source=x&named=4' })).json()).toEqual({});
  });
});

describe('files', () => {
  it('are kept in memory where a route asks for them', async () => {
    expect((await sendParts([file('image', 'PNGDATA', '../../etc/a.png')], '/files')).json()).toEqual({
      text: null,
      files: [{ field: 'image', filename: 'a.png', mediaType: 'image/png', size: 7 }],
    });
    expect((await sendParts([field('image', 'aGk=')], '/files')).json()).toEqual({ text: 'aGk=', files: [] });
    expect((await sendParts([file('image', 'a'), file('image', 'b')], '/files')).statusCode).toBe(400);
  });

  it('an upload is streamed from a multipart field, with the fields before it as input', async () => {
    const answer = await sendParts([field('note', 'n'), file('apk', 'x'.repeat(3_000)), field('after', 'ignored')], '/upload');
    expect(answer.json()).toEqual({ bytes: 3_000, field: 'apk', note: 'n' });
  });

  it('an upload needs no file name', async () => {
    expect((await sendParts([field('apk', 'x'.repeat(3_000))], '/upload')).json()).toEqual({ bytes: 3_000, field: 'apk', note: null });
  });

  it('an upload is streamed from a raw body of a listed type', async () => {
    expect((await send('x'.repeat(4_096), 'application/octet-stream', '/upload?note=q')).json()).toEqual({
      bytes: 4_096,
      field: null,
      note: 'q',
    });
  });

  it('a body of another type is a 415 that says what is taken', async () => {
    const answer = await send('x', 'application/zip', '/upload');
    expect(answer.statusCode).toBe(415);
    expect(answer.json().detail).toBe('Send the file as multipart/form-data or as application/octet-stream.');
  });

  it('no file, or a file under another name, is a 400', async () => {
    expect((await call({ method: 'POST', url: '/upload' })).statusCode).toBe(400);
    expect((await sendParts([field('note', 'n')], '/upload')).json().detail).toBe('No file was sent.');
    expect((await sendParts([file('other', 'n')], '/upload')).json().errors).toEqual([
      { field: 'other', message: 'must be text, not a file: send the file as file or apk' },
    ]);
  });

  it.each(['/upload', '/upload/swallowing'])('an upload over the limit is 413 whatever the handler makes of it (%s)', async (url) => {
    const big = 'x'.repeat(70_000);
    expect((await send(big, 'application/octet-stream', url)).statusCode).toBe(413);
    const answer = await sendParts([file('file', big)], url);
    expect(answer.statusCode).toBe(413);
    expect(answer.json()).toMatchObject({ code: 'payload_too_large', limit_bytes: 4_096 });
    const huge = await sendParts([file('file', 'x'.repeat(2_000_000))], url);
    expect([huge.statusCode, huge.json().limit_bytes]).toEqual([413, 4_096]);
  });

  it.each(['/upload', '/upload/swallowing'])('an upload without a declared length is cut at the limit (%s)', async (url) => {
    const chunks = (): NodeJS.ReadableStream => Readable.from(Array.from({ length: 20 }, () => Buffer.alloc(1_000)));
    const headers = { 'content-type': 'application/octet-stream', 'transfer-encoding': 'chunked' };
    expect((await call({ method: 'POST', url, payload: chunks(), headers })).statusCode).toBe(413);
  });

  it('a file of just the limit is taken, in a form as alone, whatever stands beside it', async () => {
    const whole = 'x'.repeat(4_096);
    const note = 'n'.repeat(100_000);
    expect((await sendParts([field('note', note), file('file', whole)], '/upload')).json()).toMatchObject({ bytes: 4_096 });
    expect((await send(`${whole}x`, 'application/octet-stream', '/upload')).json().limit_bytes).toBe(4_096);
    expect((await sendParts([file('file', `${whole}x`)], '/upload')).json()).toMatchObject({ status: 413, limit_bytes: 4_096 });
  });

  it.each([
    ['under the same name', [file('file', 'one'), file('file', 'one')], 'file'],
    ['under another name of the field', [file('file', 'one'), field('note', 'n'), field('apk', 'two')], 'apk'],
  ])('a second upload %s is a 400: neither is taken', async (_what, parts, name) => {
    for (const url of ['/upload', '/upload/swallowing'].slice(0, name === 'apk' ? 1 : 2)) {
      const answer = await sendParts(parts, url);
      expect([answer.statusCode, answer.json().errors]).toEqual([400, [{ field: name, message: 'is a second file: send one' }]]);
    }
  });

  it('a multipart upload that ends early is a 400', async () => {
    const { payload, type } = multipart([file('file', 'x'.repeat(2_000))]);
    expect((await send(payload.subarray(0, 1_500), type, '/upload')).statusCode).toBe(400);
  });
});
