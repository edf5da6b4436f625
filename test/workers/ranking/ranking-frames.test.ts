import { memberText } from '../../../services/kit/upstream/member-text';
import { parametersOf, parseRankingFrame, rankMessage } from '../../../services/workers/ranking/websocket/ranking-frames';
import { fc, propertyRuns } from '../../support/fast-check';

describe('the text of a member', () => {
  const name = fc.oneof(fc.constantFrom('body', 'id', 'a"b', 'a\\', '{', 'bo\\u0064y'), fc.string());
  const spaces = fc.constantFrom(undefined, 1, '\t');

  it('is what JSON.parse reads there, for every object and every spacing', () => {
    fc.assert(
      fc.property(fc.dictionary(name, fc.jsonValue()), name, spaces, (object, wanted, space) => {
        const found = memberText(JSON.stringify(object, null, space), wanted);
        expect(found === undefined ? undefined : JSON.parse(found)).toEqual(
          Object.hasOwn(object, wanted) ? JSON.parse(JSON.stringify(object[wanted])) : undefined,
        );
      }),
      { numRuns: propertyRuns(500) },
    );
  });

  it('is unchanged, where parsing and printing would change it', () => {
    const body = '{ "ok": true, "cid": 12345678901234567890, "rating": 4.0, "name": "\\u0041}" }';
    expect(memberText(`{"id":"1","body":${body} ,"type":"result"}`, 'body')).toBe(body);
  });

  it('is the last of a name that repeats, as for JSON.parse', () => expect(memberText('{"a":1,"a":[2]}', 'a')).toBe('[2]'));
});

describe('the frames of the ranking WebSocket', () => {
  it('ask with the public parameters beside type and id', () => {
    const query = {
      keyword: 'dentist', center: { latitude: 12.9, longitude: 77.5 }, radiusKm: 5, maxResults: 20, businessName: 'Acme', countryCode: 'IN',
    }; // prettier-ignore
    expect(JSON.parse(JSON.stringify(rankMessage('7', parametersOf('position', query))))).toEqual({
      type: 'rank', id: '7', operation: 'position', keyword: 'dentist', latitude: 12.9, longitude: 77.5, business_name: 'Acme',
      radius_km: 5, country_code: 'IN', max_results: 20,
    }); // prettier-ignore
  });

  it.each([
    ['{"type":"result","id":"7","body":{"ok":true,"x":1.0}}', { kind: 'result', id: '7', bodyText: '{"ok":true,"x":1.0}' }],
    ['{"type":"result","id":"7","body":{"results":[]}}', { kind: 'result', id: '7', bodyText: undefined }],
    ['{"id":"7","body":{"ok":true}}', { kind: 'result', id: '7', bodyText: undefined }],
    ['{"type":"error","id":"7","message":"no"}', { kind: 'error', id: '7' }],
    ['{"type":"error"}', { kind: 'error', id: undefined }],
    ['{"type":"welcome"}', { kind: 'unknown' }],
  ])('%s is understood', (text, frame) => expect(parseRankingFrame({ text, value: JSON.parse(text) })).toEqual(frame));
});
