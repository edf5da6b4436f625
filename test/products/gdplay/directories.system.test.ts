import { type ServerResponse, type IncomingMessage } from 'node:http';
import { gdplayHarness, gdplayDeps, listenGdplay } from './gdplay-harness';
import { listenWeb } from '../../kit/listen-web';
import { contextFor, proofHeader } from '../../kit/context';
import { useOpened } from '../../support/opened';

describe('by the API', () => {
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

  let answerMetadata: (response: ServerResponse) => void;
  let answerMedia: (response: ServerResponse) => void;

  const upstream = useOpened(() =>
    listenWeb((_request, response, url) => {
      if (url.pathname.startsWith('/drive/v3/files/'))
        return (url.searchParams.get('alt') === 'media' ? answerMedia : answerMetadata)(response);
      response.statusCode = 404;
      return response.end();
    }),
  );
  beforeEach(() => {
    upstream.asked.length = 0;
    answerMetadata = (response) => json(response, 200, METADATA);
    answerMedia = (response) => void response.writeHead(200, { 'content-type': 'video/mp4', 'content-length': '10' }).end('0123456789');
  });

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
});

describe('by the public pages', () => {
  const ID = '1AbC-dEf_GhIjKlMnOpQrStUvWxYz';

  type Answer = (request: IncomingMessage, response: ServerResponse, url: URL) => unknown;

  /** As Google writes it, but for the host. */
  function virusScanPage(action: string, id = ID): string {
    return (
      `<!DOCTYPE html><html><head><title>Google Drive - Virus scan warning</title><style nonce="x">.goog-link-button{position:relative}</style></head><body>` +
      `<form id="search" action="https://evil.example/"><input type="hidden" name="id" value="wrong"></form>` +
      `<div id="uc-text"><p class="uc-warning-caption">Google Drive can't scan this file for viruses.</p>` +
      `<form id="download-form" action="${action}" method="get"><input type="submit" id="uc-download-link" value="Download anyway"/>` +
      `<input type="hidden" name="id" value="${id}"><input type="hidden" name="export" value="download"><input type="hidden" name="authuser" value="0">` +
      `<input type="hidden" name="confirm" value="t"><input type="hidden" name="uuid" value="2d1c&amp;9b"></form></div></body></html>`
    );
  }

  const quotaPage =
    '<html><head><title>Google Drive - Quota exceeded</title></head><body>Sorry, you can&#39;t view or download this file at this time.</body></html>';
  const accessPage = '<html><body><h1>You need access</h1><p>Request access, or switch to an account with access.</p></body></html>';

  function page(status: number, html: string): Answer {
    return (_request, response) => response.writeHead(status, { 'content-type': 'text/html; charset=utf-8' }).end(html);
  }

  const FILE = Buffer.from('0123456789');

  function file(headers: Record<string, string> = {}): Answer {
    return (request, response) => {
      const range = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '');
      const disposition = `attachment; filename="a.mp4"; filename*=UTF-8''%C3%A4.mp4`;
      const all = { 'content-type': 'video/mp4', 'content-disposition': disposition, ...headers };
      if (!range) return response.writeHead(200, { ...all, 'content-length': '10' }).end(FILE);
      const [first, last] = [Number(range[1]), Number(range[2])];
      return response.writeHead(206, { ...all, 'content-range': `bytes ${first}-${last}/10` }).end(FILE.subarray(first, last + 1));
    };
  }

  let uc: Answer;
  let download: Answer;

  const stranger = useOpened(() => listenWeb(file()));
  const upstream = useOpened(() =>
    listenWeb((request, response, url) => void (url.pathname === '/uc' ? uc : download)(request, response, url)),
  );
  beforeEach(() => {
    upstream.asked.length = 0;
    stranger.asked.length = 0;
    uc = file();
    download = file();
  });

  const harness = (env: Record<string, string> = {}) => gdplayHarness({ GDPLAY_WEB_URL: upstream.url, ...env });

  const stream = (headers: Record<string, string> = {}, query: Record<string, string> = {}, env: Record<string, string> = {}) =>
    harness(env).call({ url: '/gdplay/stream', query: { id: ID, ...query }, headers });
  const paths = () => upstream.asked.map(({ url }) => url);

  it('asks for one byte to learn about the file, and then for what was asked', async () => {
    const response = await stream({ range: 'bytes=2-4' }, { resourcekey: '0-key' });
    expect([response.statusCode, response.body]).toEqual([206, '234']);
    expect(response.headers['content-disposition']).toBe(`inline; filename="_.mp4"; filename*=UTF-8''%C3%A4.mp4`);
    expect(upstream.asked.map(({ url, headers }) => [url, headers.range])).toEqual([
      [`/uc?export=download&id=${ID}&resourcekey=0-key`, 'bytes=0-0'],
      [`/uc?export=download&id=${ID}&resourcekey=0-key`, 'bytes=2-4'],
    ]);
  });

  it('confirms the download of a file that was not scanned', async () => {
    uc = page(200, virusScanPage(`${upstream.url}/download`));
    expect((await stream()).body).toBe('0123456789');
    const confirmed = `/download?id=${ID}&export=download&authuser=0&confirm=t&uuid=2d1c%269b`;
    expect(paths()).toEqual([`/uc?export=download&id=${ID}`, confirmed, confirmed]);
  });

  it.each<[string, () => Answer, number, string | undefined]>([
    ['a form that leads to another host', () => page(200, virusScanPage(`${stranger.url}/download`)), 502, 'redirect_refused'],
    ['a form with a script for an address', () => page(200, virusScanPage('javascript:alert(1)')), 502, 'redirect_refused'],
    ['a form for another file', () => page(200, virusScanPage(`${upstream.url}/download`, 'another-file')), 502, 'bad_response'],
    ['a redirect to another host', () => redirect(`${stranger.url}/download`), 502, 'redirect_refused'],
    ['a form with a file for an address', () => page(200, virusScanPage('file:///etc/passwd')), 502, 'redirect_refused'],
    ['a redirect to another port of the same machine', () => redirect('http://127.0.0.1:9/'), 502, 'redirect_refused'],
    ['a redirect with a user name', () => redirect(upstream.url.replace('//', '//user@')), 502, 'redirect_refused'],
    ['a redirect to http', () => redirect('http://drive.usercontent.google.com/download'), 502, 'redirect_refused'],
    ['a redirect to a like host', () => redirect('https://x.drive.usercontent.google.com/'), 502, 'redirect_refused'],
    ['redirects without end', () => redirect('/uc?again'), 502, 'bad_response'],
    ['a redirect to the login', () => redirect('https://accounts.google.com/ServiceLogin?service=wise'), 404, undefined],
    ['the quota page', () => page(200, quotaPage), 502, 'quota'],
    ['the access page', () => page(200, accessPage), 404, undefined],
    ['a page that nobody knows', () => page(200, '<h1>hello'), 502, 'bad_response'],
    ['a page that is too long', () => page(200, `<p>${'x'.repeat(2_000_000)}`), 502, 'bad_response'],
    ['a document', () => file({ 'content-type': 'application/pdf' }), 415, undefined],
    ['bytes of no type whose name is no video', () => file({ 'content-type': 'application/octet-stream', 'content-disposition': 'attachment; filename="a.exe"' }), 415, undefined], // prettier-ignore
    ['silence', () => () => undefined, 504, undefined],
  ])('%s is refused', async (_what, answer, status, reason) => {
    uc = answer();
    const response = await stream({}, {}, status === 504 ? { GDPLAY_TIMEOUT_MS: '300' } : {});
    expect([response.statusCode, response.json().reason]).toEqual([status, reason]);
    expect(response.headers['content-type']).toMatch(/^application\/problem\+json/);
    expect(stranger.asked).toHaveLength(0);
  });

  function redirect(location: string): Answer {
    return (_request, response) => response.writeHead(303, { location }).end();
  }

  it('a page behind the confirmation is not passed through either', async () => {
    uc = page(200, virusScanPage(`${upstream.url}/download`));
    download = page(200, quotaPage);
    expect((await stream()).json()).toMatchObject({ status: 502, reason: 'quota' });
  });

  it.each([
    [{ etag: '"abc"' }, '"abc"'],
    [{ 'x-goog-hash': 'crc32c=AAAAAA==, md5=nhB9nTcrtoJr2B01QqQZ1g==' }, '"nhB9nTcrtoJr2B01QqQZ1g=="'],
    [{}, undefined],
  ])('%j makes the entity tag %s', async (headers, etag) => {
    uc = file(headers);
    expect((await stream()).headers.etag).toBe(etag);
  });

  it('remembers a file: seeking asks for the bytes alone, and an address that expired is found again', async () => {
    const service = harness();
    const get = () => service.call({ url: '/gdplay/stream', query: { id: ID }, headers: { range: 'bytes=1-2' } });
    let addresses = 0;
    uc = (_request, response) => response.writeHead(303, { location: `/download?try=${++addresses}` }).end();
    download = (request, response, url) => {
      const answer = url.searchParams.get('try') === String(addresses) ? file() : page(200, '<p>expired');
      return answer(request, response, url);
    };
    expect((await get()).body).toBe('12');
    expect((await get()).body).toBe('12');
    expect(paths()).toEqual([`/uc?export=download&id=${ID}`, '/download?try=1', '/download?try=1', '/download?try=1']);
    upstream.asked.length = 0;
    addresses = 7;
    expect((await get()).body).toBe('12');
    expect(paths()).toEqual(['/download?try=1', `/uc?export=download&id=${ID}`, '/download?try=8', '/download?try=8']);
  });

  describe('a thumbnail', () => {
    const thumbnail = (query: Record<string, string> = {}) => harness().call({ url: '/gdplay/thumbnail', query: { id: ID, ...query } });
    const picture: Answer = (_request, response) => response.writeHead(200, { 'content-type': 'image/jpeg' }).end('jpeg');

    it('is asked for by its width', async () => {
      download = picture;
      const response = await thumbnail({ size: '128', resourcekey: '0-key' });
      expect([response.statusCode, response.body, response.headers['content-type']]).toEqual([200, 'jpeg', 'image/jpeg']);
      expect(paths().at(-1)).toBe(`/thumbnail?id=${ID}&sz=w128&resourcekey=0-key`);
    });

    it('answers HEAD without a body', async () => {
      download = picture;
      const service = await listenGdplay(gdplayDeps({ GDPLAY_WEB_URL: upstream.url }));
      const headers = proofHeader(contextFor('api-gdplay'));
      const response = await fetch(`${service.url}/gdplay/thumbnail?id=${ID}`, { method: 'HEAD', headers });
      expect([response.status, await response.text(), response.headers.get('content-length')]).toEqual([200, '', '4']);
      await service.close();
    });

    it.each<[string, Answer, number, string | undefined]>([
      ['a web page', page(200, '<p>x'), 502, 'bad_response'],
      ['an SVG', (_request, response) => response.writeHead(200, { 'content-type': 'image/svg+xml' }).end('<svg/>'), 502, 'bad_response'],
      ['private', redirect('https://accounts.google.com/ServiceLogin'), 404, undefined],
    ])('that is %s is refused', async (_what, answer, status, reason) => {
      download = answer;
      const response = await thumbnail();
      expect([response.statusCode, response.json().reason]).toEqual([status, reason]);
    });
  });
});
