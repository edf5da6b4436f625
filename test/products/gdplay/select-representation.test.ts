import { parseHttpDate, selectRepresentation, type Selection, judgeRange } from '../../../services/products/gdplay/select-representation';
import { fc } from '../../support/fast-check';

const MODIFIED = 'Thu, 15 Jan 2026 08:30:00 GMT';
const MODIFIED_MS = Date.UTC(2026, 0, 15, 8, 30, 0);
const FILE = { etag: '"v1"', modifiedAtMs: MODIFIED_MS + 250, size: 1_000 };

function select(headers: Record<string, string>, method = 'GET', file: Partial<typeof FILE> = {}, nowMs = MODIFIED_MS + 60_000): Selection {
  return selectRepresentation({ method, header: (name) => headers[name], nowMs }, { ...FILE, ...file });
}

describe('a single range of 1000 bytes', () => {
  it.each([
    ['bytes=0-0', 0, 0],
    ['bytes=0-99', 0, 99],
    ['bytes=500-', 500, 999],
    ['bytes=990-5000', 990, 999],
    ['bytes=999-999', 999, 999],
    ['bytes=0-', 0, 999],
    ['bytes=-1', 999, 999],
    ['bytes=-1000', 0, 999],
    ['bytes=-99999999999999999999', 0, 999],
    ['bytes=0-99999999999999999999', 0, 999],
    ['BYTES=1-2', 1, 2],
    ['bytes=1-2,', 1, 2],
    ['bytes=, ,1-2', 1, 2],
    ['bytes=0001-0000000000000000000000002', 1, 2],
  ])('%s is the part %i to %i', (field, first, last) => {
    expect(judgeRange(field, 1_000)).toEqual({ kind: 'part', first, last });
  });

  it.each(['bytes=1000-', 'bytes=1000-1001', 'bytes=-0', 'bytes=99999999999999999999-', 'bytes=18446744073709551616-18446744073709551617'])(
    '%s cannot be satisfied',
    (field) => expect(judgeRange(field, 1_000)).toEqual({ kind: 'unsatisfiable' }),
  );

  it('any other field is ignored', () => {
    const nothing = ['', 'bytes', 'bytes=', 'bytes=-', 'bytes=,', 'bytes=a-b', 'bytes=1-b', 'bytes=5', 'bytes=1--2', 'bytes=--1'];
    const numbers = ['bytes=+1-2', 'bytes=1.5-2', 'bytes=9-3', 'bytes=99999999999999999999-99999999999999999998', 'bytes=0x1-0x2'];
    const several = ['bytes=0-1,3-4', 'bytes=0-1,1-2', 'bytes=0-1, bytes=3-4', 'bytes=0-1,x', 'bytes=5000-,6000-'];
    for (const field of [...nothing, ...numbers, ...several, 'bytes=1 - 2', 'bytes 1-2', 'items=0-1', 'bytes=٣-٤'])
      expect([field, judgeRange(field, 1_000)]).toEqual([field, { kind: 'ignored' }]);
  });

  it('of nothing is ignored or cannot be satisfied', () => {
    expect(judgeRange('bytes=0-', 0)).toEqual({ kind: 'unsatisfiable' });
    expect(judgeRange('bytes=-5', 0)).toEqual({ kind: 'ignored' });
  });

  it('always lies within the file', () => {
    const digits = fc.oneof(fc.nat(2_000).map(String), fc.bigInt({ min: 0n, max: 10n ** 30n }).map(String), fc.constant(''));
    fc.assert(
      fc.property(digits, digits, fc.nat(1_500), (from, to, size) => {
        const verdict = judgeRange(`bytes=${from}-${to}`, size);
        if (verdict.kind !== 'part') return;
        expect(verdict.first).toBeGreaterThanOrEqual(0);
        expect(verdict.first).toBeLessThanOrEqual(verdict.last);
        expect(verdict.last).toBeLessThan(size);
      }),
    );
  });
});

describe('conditions', () => {
  const range = { range: 'bytes=0-9' };
  const part = { kind: 'part', first: 0, last: 9 };
  const whole = { kind: 'whole' };
  const notModified = { kind: 'not_modified' };
  const failed = { kind: 'precondition_failed' };

  it.each([
    ['If-None-Match of this version', { 'if-none-match': '"v1"' }, notModified],
    ['If-None-Match, weakly', { 'if-none-match': '"x", W/"v1"' }, notModified],
    ['If-None-Match with any', { 'if-none-match': '*' }, notModified],
    ['If-None-Match wins over a range', { 'if-none-match': '"v1"', ...range }, notModified],
    ['If-None-Match of another version', { 'if-none-match': '"v2"', ...range }, part],
    ['If-None-Match overrides If-Modified-Since', { 'if-none-match': '"v2"', 'if-modified-since': MODIFIED }, whole],
    ['If-None-Match without quotes', { 'if-none-match': 'v1' }, whole],
    ['If-Modified-Since of this version', { 'if-modified-since': MODIFIED }, notModified],
    ['If-Modified-Since, the second before', { 'if-modified-since': 'Thu, 15 Jan 2026 08:29:59 GMT' }, whole],
    ['If-Modified-Since of no date', { 'if-modified-since': 'yesterday' }, whole],
    ['If-Match of this version', { 'if-match': '"v0", "v1"', ...range }, part],
    ['If-Match, weakly', { 'if-match': 'W/"v1"' }, failed],
    ['If-Match of another version', { 'if-match': '"v2"', ...range }, failed],
    ['If-Match with any', { 'if-match': '*' }, whole],
    ['If-Match overrides If-Unmodified-Since', { 'if-match': '"v1"', 'if-unmodified-since': 'Wed, 14 Jan 2026 08:30:00 GMT' }, whole],
    ['If-Unmodified-Since of this version', { 'if-unmodified-since': MODIFIED }, whole],
    ['If-Unmodified-Since of a version before', { 'if-unmodified-since': 'Wed, 14 Jan 2026 08:30:00 GMT' }, failed],
    ['If-Range of this version', { ...range, 'if-range': '"v1"' }, part],
    ['If-Range, weakly', { ...range, 'if-range': 'W/"v1"' }, whole],
    ['If-Range of another version', { ...range, 'if-range': '"v2"' }, whole],
    ['If-Range with the exact date', { ...range, 'if-range': MODIFIED }, part],
    ['If-Range with a later date', { ...range, 'if-range': 'Thu, 15 Jan 2026 08:30:01 GMT' }, whole],
    ['If-Range of nonsense', { ...range, 'if-range': 'v1' }, whole],
    ['If-Range saves a range that nobody can satisfy', { range: 'bytes=5000-', 'if-range': '"v2"' }, whole],
    ['If-Range without a range', { 'if-range': '"v1"' }, whole],
  ])('%s', (_what, headers, expected) => expect(select(headers)).toEqual(expected));

  it('If-Range by date does not count within the second of the change', () => {
    expect(select({ ...range, 'if-range': MODIFIED }, 'GET', {}, MODIFIED_MS + 900)).toEqual(whole);
  });

  it('a file without validators satisfies no comparison', () => {
    const none = { etag: undefined, modifiedAtMs: undefined, size: 10 };
    const bare = (headers: Record<string, string>): Selection =>
      selectRepresentation({ method: 'GET', header: (name) => headers[name], nowMs: 0 }, none);
    expect(bare({ 'if-match': '"v1"' })).toEqual(failed);
    expect(bare({ 'if-none-match': '"v1"', range: 'bytes=1-2' })).toEqual({ kind: 'part', first: 1, last: 2 });
    expect(bare({ 'if-range': MODIFIED, range: 'bytes=1-2' })).toEqual(whole);
  });

  it('HEAD obeys conditions and no range; other methods obey neither', () => {
    expect(select({ 'if-none-match': '"v1"' }, 'HEAD')).toEqual(notModified);
    expect(select({ range: 'bytes=5000-' }, 'HEAD')).toEqual(whole);
    expect(select({ ...range, 'if-none-match': '"v1"', 'if-match': '"v2"' }, 'POST')).toEqual(whole);
  });

  it('a file of unknown size has no ranges', () => {
    const request = { method: 'GET', header: (name: string) => (name === 'range' ? 'bytes=0-1' : undefined), nowMs: 0 };
    expect(selectRepresentation(request, { etag: undefined, modifiedAtMs: undefined, size: undefined })).toEqual(whole);
  });
});

it.each(['Sun, 06 Nov 1994 08:49:37 GMT', 'Sunday, 06-Nov-94 08:49:37 GMT', 'Sun Nov  6 08:49:37 1994'])('%s is an HTTP date', (text) => {
  expect(parseHttpDate(text)).toBe(Date.UTC(1994, 10, 6, 8, 49, 37));
});
