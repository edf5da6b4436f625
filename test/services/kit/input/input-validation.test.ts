import { call, FORM, JSON_BODY, send } from './send-input';

describe('validation', () => {
  test('says in words what is wrong with every field, with the status the route documents', async () => {
    const answer = await send('{"latitude":"12.5","mode":"other"}', JSON_BODY, '/gst/data');
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

  test.each([
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

  test('text becomes a number or boolean only when it came from a query or form', async () => {
    expect((await send('keyword=x&latitude=-12.5', FORM, '/gst/data')).json()).toMatchObject({
      latitude: -12.5,
      half: -6.25,
      mode: 'fast',
    });
    expect((await send('{"keyword":"x"}', JSON_BODY, '/gst/data?latitude=1e1')).json()).toMatchObject({ latitude: 10 });
    expect((await send('{"keyword":"x","latitude":"1"}', JSON_BODY, '/gst/data')).statusCode).toBe(422);
  });

  test('an empty number or boolean in a form is absent', async () => {
    expect((await call({ method: 'GET', url: '/gst?count=&flag=' })).json()).toEqual({});
    expect((await send('keyword=x&latitude=', FORM, '/gst/data')).json().errors).toEqual([{ field: 'latitude', message: 'is required' }]);
  });
});
