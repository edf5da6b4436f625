import { call, field, file, FORM, JSON_BODY, send, sendParts } from './send-input';

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
