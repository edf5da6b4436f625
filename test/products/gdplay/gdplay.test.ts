import { DescribedFiles } from '../../../services/products/gdplay/described-files';
import { driveFailure, driveTimeout, fileNotFound } from '../../../services/products/gdplay/drive-failure';
import { type DriveFile } from '../../../services/products/gdplay/drive-file';
import { parseFileRef } from '../../../services/products/gdplay/parse-file-ref';
import { ServiceError } from '../../../services/kit/errors';
import { anyCharacter, anyWebUrl } from '../../support/any-text';
import { fc } from '../../support/fast-check';
import { parseHttpDate, selectRepresentation, type Selection, judgeRange } from '../../../services/products/gdplay/select-representation';

const REF = { id: 'file-000001', resourceKey: undefined };
const { signal } = new AbortController();
const LIVE = { mode: 'live', signal } as const;
const TEST = { mode: 'test', signal } as const;

function setUp() {
  let nowMs = 1_000;
  const describe = jest.fn(() => Promise.resolve({ id: REF.id } as DriveFile));
  const files = new DescribedFiles({ describe }, { now: () => nowMs, monotonic: () => nowMs });
  return { describe, files, pass: (ms: number) => (nowMs += ms), work: jest.fn(() => Promise.resolve('done')) };
}

it('a description is used for a minute and no longer', async () => {
  const { describe, files, pass, work } = setUp();
  await files.use(REF, LIVE, work);
  pass(60_000);
  await files.use(REF, LIVE, work);
  expect(describe).toHaveBeenCalledTimes(1);
  pass(1);
  await files.use(REF, LIVE, work);
  expect(describe).toHaveBeenCalledTimes(2);
});

it('live and test keys, and resource keys, are kept apart', async () => {
  const { describe, files, work } = setUp();
  await files.use(REF, LIVE, work);
  await files.use(REF, TEST, work);
  await files.use({ ...REF, resourceKey: '0-a' }, LIVE, work);
  expect(describe).toHaveBeenCalledTimes(3);
});

it.each([
  ['is tried again', 'a bad response', driveFailure('bad_response'), 2],
  ['is tried again', 'a file that is gone', fileNotFound(), 2],
  ['is not tried again', 'a time-out', driveTimeout(), 1],
  ['is not tried again', 'an unknown error', new Error('broken'), 1],
])('work with a remembered description %s after %s', async (_what, _after, error, times) => {
  const { describe, files, work } = setUp();
  await files.use(REF, LIVE, () => Promise.resolve());
  work.mockRejectedValue(error);
  await expect(files.use(REF, LIVE, work)).rejects.toBe(error);
  expect(work).toHaveBeenCalledTimes(times);
  expect(describe).toHaveBeenCalledTimes(times);
});

it('work with a fresh description that fails is not tried again', async () => {
  const { files, work } = setUp();
  work.mockRejectedValue(driveFailure('quota'));
  await expect(files.use(REF, LIVE, work)).rejects.toThrow();
  expect(work).toHaveBeenCalledTimes(1);
});

it('a failure to describe is not remembered', async () => {
  const { describe, files, work } = setUp();
  describe.mockRejectedValueOnce(fileNotFound());
  await expect(files.use(REF, LIVE, work)).rejects.toThrow();
  expect(await files.use(REF, LIVE, work)).toBe('done');
});

const ID = '1AbC-dEf_GhIjKlMnOpQrStUvWxYz';

describe('a file', () => {
  it.each([
    ['a bare id', ID],
    ['the shortest id', '0123456789'],
    ['a sharing link', `https://drive.google.com/file/d/${ID}/view?usp=sharing`],
    ['a link of one of several accounts', `https://drive.google.com/file/u/2/d/${ID}/preview`],
    ['an open link', `https://drive.google.com/open?id=${ID}`],
    ['a uc link', `https://drive.google.com/uc?export=download&id=${ID}`],
    ['a download link', `https://drive.usercontent.google.com/download?id=${ID}&export=download`],
    ['a file on docs', `https://docs.google.com/file/d/${ID}/edit`],
    ['http', `http://drive.google.com/open?id=${ID}`],
    ['any path with an id', `https://drive.google.com/thumbnail?id=${ID}&sz=w200`],
    ['one id twice', `https://drive.google.com/open?id=${ID}&id=${ID}`],
    ['blanks around it', `  ${ID} `],
  ])('is recognised by %s', (_what, text) => {
    expect(parseFileRef({ url: text }).id).toBe(text.includes(ID) ? ID : text);
    expect(parseFileRef({ id: text, url: '' })).toEqual(parseFileRef({ url: text }));
  });

  it('takes its resource key from the field, else from the link', () => {
    const url = `https://drive.google.com/file/d/${ID}/view?resourcekey=0-fromlink`;
    expect(parseFileRef({ url }).resourceKey).toBe('0-fromlink');
    expect(parseFileRef({ url, resourcekey: '0-field' }).resourceKey).toBe('0-field');
    expect(parseFileRef({ id: ID }).resourceKey).toBeUndefined();
  });
});

describe('400 answers', () => {
  it.each([
    ['neither field', {}, 'id'],
    ['empty fields', { id: ' ', url: '' }, 'id'],
    ['both fields', { id: ID, url: ID }, 'url'],
    ['an id that is too short', { id: '123456789' }, 'id'],
    ['an id with a slash', { id: `${ID}/../x` }, 'id'],
    ['an id with a line feed', { id: `${ID}\nx` }, 'id'],
    ['an id that is too long', { id: 'x'.repeat(201) }, 'id'],
    ['a foreign host', { url: `https://example.com/file/d/${ID}/view` }, 'url'],
    ['a host that starts like Drive', { url: `https://drive.google.com.example.com/open?id=${ID}` }, 'url'],
    ['a host that ends like Drive', { url: `https://evil-drive.google.com/open?id=${ID}` }, 'url'],
    ['Drive as a user name', { url: `https://drive.google.com@example.com/open?id=${ID}` }, 'url'],
    ['a user name before Drive', { url: `https://user@drive.google.com/open?id=${ID}` }, 'url'],
    ['another port', { url: `https://drive.google.com:8443/open?id=${ID}` }, 'url'],
    ['another scheme', { url: `ftp://drive.google.com/open?id=${ID}` }, 'url'],
    ['a script', { url: `javascript:drive.google.com/open?id=${ID}` }, 'url'],
    ['a folder', { url: `https://drive.google.com/drive/folders/${ID}` }, 'url'],
    ['a folder of an account', { url: `https://drive.google.com/drive/u/0/folders/${ID}?usp=sharing` }, 'url'],
    ['a folder view', { url: `https://drive.google.com/folderview?id=${ID}` }, 'url'],
    ['a link without an id', { url: 'https://drive.google.com/drive/my-drive' }, 'url'],
    ['a path of the download host', { url: `https://drive.usercontent.google.com/other?id=${ID}` }, 'url'],
    ['two ids', { url: `https://drive.google.com/open?id=${ID}&id=${ID}x` }, 'url'],
    ['a broken resource key', { id: ID, resourcekey: 'a/b' }, 'resourcekey'],
  ])('%s', (_what, input, field) => {
    expect(() => parseFileRef(input)).toThrow(ServiceError);
    try {
      parseFileRef(input);
    } catch (error) {
      expect((error as ServiceError).status).toBe(400);
      expect((error as ServiceError).options.members).toMatchObject({ errors: [{ field }] });
    }
  });

  it('say of a folder that it is one', () => {
    expect(() => parseFileRef({ url: `https://drive.google.com/drive/folders/${ID}` })).toThrow(
      expect.objectContaining({ options: expect.objectContaining({ detail: expect.stringContaining('is a folder') }) }),
    );
  });

  it('are the only failure, whatever is given', () => {
    const text = fc.option(fc.oneof(fc.string(), anyWebUrl, fc.string({ unit: anyCharacter })), { nil: undefined });
    fc.assert(
      fc.property(text, text, text, (id, url, resourcekey) => {
        try {
          expect(parseFileRef({ id, url, resourcekey }).id).toMatch(/^[\w-]{10,200}$/);
        } catch (error) {
          expect((error as ServiceError).status).toBe(400);
        }
      }),
    );
  });
});

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
