import { isJsonType, successStatus } from '../../services/openapi/success-of';
import { callOf } from '../../services/openapi/own-call';

describe('the success of an operation', () => {
  it.each([
    [['404', '204', '201'], '201'],
    [['default', '202'], '202'],
    [['2XX', '400'], '2XX'],
    [['2xx', '206'], '206'],
    [['400', 'default'], 'default'],
    [['400', '301'], undefined],
    [['2000', 'x-200'], undefined],
  ])('of %j is %s', (statuses, success) => {
    expect(successStatus(Object.fromEntries(statuses.map((status) => [status, {}])))).toBe(success);
  });

  it('decides whether a sample reads its answer as JSON', () => {
    const readsText = (responses: object) => callOf({ responses }, { method: 'post', path: '/city' }).answersText;
    const json = { content: { 'application/hal+json; charset=utf-8': {} } };
    expect([readsText({ '201': json }), readsText({ default: json }), readsText({ '204': {}, '206': json })]).toEqual([false, false, true]);
  });

  it.each(['application/json', 'text/json', 'application/vnd.city.v1+json;q=1', 'application/json-patch+json'])('%s is JSON', (type) => {
    expect(isJsonType(type)).toBe(true);
  });

  it.each(['application/x-ndjson', 'application/json-seq', 'text/plain', 'json'])('%s is no JSON', (type) => {
    expect(isJsonType(type)).toBe(false);
  });
});
