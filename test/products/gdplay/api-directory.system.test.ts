import { type ServerResponse } from 'node:http';
import { gdplayHarness } from './gdplay-harness';
import { listenWeb, type Web } from '../../kit/listen-web';

const KEY = 'live-api-key-1';
const ID = '1AbC-dEf_GhIjKlMnOpQrStUvWxYz';
const FIELDS =
  'id,name,mimeType,size,md5Checksum,thumbnailLink,hasThumbnail,videoMediaMetadata(width,height,durationMillis),modifiedTime,headRevisionId';

/** As Drive v3 writes it. */
const METADATA = {
  id: ID,
  name: 'Holiday.mp4',
  mimeType: 'video/mp4',
  hasThumbnail: true,
  thumbnailLink: 'https://lh3.googleusercontent.com/drive-storage/AJQWtBPd=s220',
  modifiedTime: '2025-11-02T10:20:30.123Z',
  md5Checksum: '9e107d9d372bb6826bd81d3542a419d6',
  size: '10',
  headRevisionId: '0B1Vw3xRevision',
  videoMediaMetadata: { width: 1920, height: 1080, durationMillis: '61000' },
};

let upstream: Web;
let answerMetadata: (response: ServerResponse) => void;
let answerMedia: (response: ServerResponse) => void;

beforeAll(async () => {
  upstream = await listenWeb((_request, response, url) => {
    if (url.pathname.startsWith('/drive/v3/files/'))
      return (url.searchParams.get('alt') === 'media' ? answerMedia : answerMetadata)(response);
    response.statusCode = 404;
    return response.end();
  });
});
beforeEach(() => {
  upstream.asked.length = 0;
  answerMetadata = (response) => json(response, 200, METADATA);
  answerMedia = (response) => void response.writeHead(200, { 'content-type': 'video/mp4', 'content-length': '10' }).end('0123456789');
});
afterAll(() => upstream?.close());

function json(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=UTF-8' }).end(JSON.stringify(body));
}

function failure(code: number, reason: string, domain = 'global') {
  const message = `Sample of ${reason}`;
  return { error: { code, message, errors: [{ message, domain, reason }] } };
}

function stream(query: Record<string, string> = {}, headers: Record<string, string> = {}) {
  const { call } = gdplayHarness({ GDPLAY_API_URL: upstream.url, GDPLAY_WEB_URL: upstream.url, GDPLAY_API_KEY: KEY });
  return call({ url: '/gdplay/stream', query: { id: ID, ...query }, headers });
}

it('asks Drive v3 for the metadata and then for the bytes', async () => {
  const response = await stream({ resourcekey: '0-key' });
  expect(response.body).toBe('0123456789');
  expect(response.headers).toMatchObject({
    etag: '"9e107d9d372bb6826bd81d3542a419d6"',
    'last-modified': 'Sun, 02 Nov 2025 10:20:30 GMT',
    'content-disposition': 'inline; filename="Holiday.mp4"',
  });
  const [metadata, media] = upstream.asked.map((each) => new URL(each.url ?? '', upstream.url));
  expect(metadata?.pathname).toBe(`/drive/v3/files/${ID}`);
  expect(Object.fromEntries(metadata?.searchParams ?? [])).toEqual({ fields: FIELDS, supportsAllDrives: 'true', key: KEY });
  expect(Object.fromEntries(media?.searchParams ?? [])).toEqual({ alt: 'media', supportsAllDrives: 'true', key: KEY });
  for (const each of upstream.asked) expect(each.headers['x-goog-drive-resource-keys']).toBe(`${ID}/0-key`);
});

it.each([
  [404, 'notFound', 404, undefined],
  [403, 'downloadQuotaExceeded', 502, 'quota'],
  [429, 'rateLimitExceeded', 502, 'quota'],
  [403, 'cannotDownloadFile', 404, undefined],
  [400, 'badRequest', 502, 'not_authorised'],
  [500, 'internalError', 502, 'unreachable'],
  [418, 'teapot', 502, 'bad_response'],
])('%i %s of Drive is answered with %i', async (code, reason, status, expected) => {
  answerMetadata = (response) => json(response, code, failure(code, reason));
  const early = await stream();
  expect([early.statusCode, early.json().reason]).toEqual([status, expected]);
  answerMetadata = (response) => json(response, 200, METADATA);
  answerMedia = (response) => json(response, code, failure(code, reason));
  const late = await stream();
  expect([late.statusCode, late.json().reason]).toEqual([status, expected]);
  expect(early.body + late.body).not.toContain(KEY);
});

it.each<[string, number, unknown]>([
  ['a folder', 400, { ...METADATA, mimeType: 'application/vnd.google-apps.folder', size: undefined }],
  ['a document', 415, { ...METADATA, mimeType: 'application/vnd.google-apps.document', size: undefined }],
  ['a type with a line feed', 415, { ...METADATA, mimeType: 'video/mp4\r\nSet-Cookie: a=b' }],
  ['no type', 502, { ...METADATA, mimeType: undefined }],
  ['a size that is no number', 502, { ...METADATA, size: 'large' }],
])('metadata of %s is answered with %i', async (_what, status, metadata) => {
  answerMetadata = (response) => json(response, 200, metadata);
  const response = await stream();
  expect([response.statusCode, upstream.asked.length]).toEqual([status, 1]);
});

it('metadata that is a web page is a bad response', async () => {
  answerMetadata = (response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<p>hello');
  expect((await stream()).json()).toMatchObject({ status: 502, reason: 'bad_response' });
});

it('a file without a name, checksum, date or size is streamed without them', async () => {
  answerMetadata = (response) => json(response, 200, { id: ID, mimeType: 'audio/mpeg' });
  const response = await stream({}, { range: 'bytes=0-1', 'if-none-match': '"x"' });
  expect([response.statusCode, response.body]).toEqual([200, '0123456789']);
  expect(response.headers).toMatchObject({ 'content-type': 'audio/mpeg', 'accept-ranges': 'none', 'content-disposition': 'inline' });
  for (const name of ['etag', 'last-modified', 'content-length']) expect(response.headers).not.toHaveProperty(name);
});

it('a name cannot leave its header', async () => {
  answerMetadata = (response) => json(response, 200, { ...METADATA, name: 'a"\\\r\nSet-Cookie: x=y\ud800.mp4' });
  const response = await stream();
  expect(response.headers['content-disposition']).toBe(
    `inline; filename="a__Set-Cookie: x=y.mp4"; filename*=UTF-8''a%22%5CSet-Cookie%3A%20x%3Dy.mp4`,
  );
  expect(response.headers).not.toHaveProperty('set-cookie');
});

it('a redirect of the media to another host is refused and not connected to', async () => {
  const stranger = await listenWeb((_request, response) => void response.end());
  answerMedia = (response) => void response.writeHead(302, { location: `${stranger.url}/media` }).end();
  expect((await stream()).json()).toMatchObject({ status: 502, reason: 'redirect_refused' });
  expect(stranger.asked).toHaveLength(0);
  await stranger.close();
});
