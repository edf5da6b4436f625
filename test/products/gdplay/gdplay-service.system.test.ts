import { thumbnailOutput, linkOutput } from '../../../services/products/gdplay/schema';
import { DRIVE_FILES } from '../../../services/sandbox/gdplay/drive-files';
import { DRIVE_SAMPLE_MP4 } from '../../../services/sandbox/gdplay/drive-sample';
import { ADAPTERS, gdplayHarness, gdplayDeps, listenGdplay } from './gdplay-harness';
import { createLinkKeys, type LinkGrant, openLink } from '../../../plugins/core/proof/access-link';
import { Viewings } from '../../../services/products/gdplay/viewings';
import { NOW_MS, testClock } from '../../kit/test-clock';
import { startTestSandbox } from '../../support/sandbox';
import { useOpened } from '../../support/opened';
import { contextFor, proofHeader } from '../../kit/context';
import { type CallOptions, type Harness } from '../../kit/harness';

describe('the service of Drive', () => {
  const sandbox = useOpened(startTestSandbox);
  const { video, scanned, audio, untyped, large } = DRIVE_FILES;

  describe.each(ADAPTERS)('%s', (_name, env) => {
    let service: Harness;
    beforeAll(() => (service = gdplayHarness(env, sandbox.url)));

    const call = (path: string, query: Record<string, string>, options: CallOptions = {}) =>
      service.call({ method: 'GET', url: path, query, context: { mode: 'test' }, ...options });
    const stream = (id: string, headers: Record<string, string> = {}, options: CallOptions = {}) =>
      call('/gdplay/stream', { id }, { headers, ...options });

    it('streams a whole file', async () => {
      const response = await stream(video.id);
      expect(response.statusCode).toBe(200);
      expect(response.rawPayload).toEqual(DRIVE_SAMPLE_MP4);
      expect(response.headers).toMatchObject({
        'content-type': 'video/mp4',
        'content-length': String(DRIVE_SAMPLE_MP4.length),
        'accept-ranges': 'bytes',
        'content-disposition': 'inline; filename="Sandbox clip.mp4"',
        'x-content-type-options': 'nosniff',
        'cache-control': 'private, no-cache',
        'last-modified': 'Thu, 15 Jan 2026 08:30:00 GMT',
        'x-tollgate-mode': 'test',
      });
      expect(response.headers.etag).toMatch(/^"[^"]+"$/);
      expect(response.headers).not.toHaveProperty('content-range');
      expect(response.headers).not.toHaveProperty('x-goog-hash');
    });

    it('streams what a range asks for, the end of a file that is too large for memory too', async () => {
      const response = await stream(video.id, { range: 'bytes=100-199' });
      expect(response.statusCode).toBe(206);
      expect(response.headers).toMatchObject({ 'content-range': `bytes 100-199/${video.size}`, 'content-length': '100' });
      expect(response.rawPayload).toEqual(DRIVE_SAMPLE_MP4.subarray(100, 200));
      const tail = await stream(large.id, { range: 'bytes=-4' });
      expect([tail.statusCode, tail.headers['content-range']]).toEqual([206, 'bytes 1073741820-1073741823/1073741824']);
      const longer = await stream(large.id, { range: 'bytes=1073741816-' });
      expect(longer.rawPayload.subarray(4)).toEqual(tail.rawPayload);
    });

    it('answers a range that lies outside with 416 and the size', async () => {
      const response = await stream(video.id, { range: `bytes=${video.size}-` });
      expect(response.statusCode).toBe(416);
      expect(response.headers['content-range']).toBe(`bytes */${video.size}`);
      expect(response.json()).toMatchObject({ code: 'range_not_satisfiable', status: 416, size_bytes: video.size });
    });

    it('answers conditions with 304 and 412', async () => {
      const etag = String((await stream(video.id)).headers.etag);
      const fresh = await stream(video.id, { 'if-none-match': etag, range: 'bytes=0-1' });
      expect([fresh.statusCode, fresh.body, fresh.headers.etag]).toEqual([304, '', etag]);
      expect(fresh.headers).not.toHaveProperty('content-length');
      const failed = await stream(video.id, { 'if-match': '"another"' });
      expect([failed.statusCode, failed.json().code]).toEqual([412, 'precondition_failed']);
      expect((await stream(video.id, { range: 'bytes=0-1', 'if-range': etag })).statusCode).toBe(206);
      expect((await stream(video.id, { range: 'bytes=0-1', 'if-range': '"another"' })).statusCode).toBe(200);
    });

    it('answers HEAD with the headers of the whole file and no body', async () => {
      const whole = await stream(audio.id);
      const head = await stream(audio.id, { range: 'bytes=0-1' }, { method: 'HEAD' });
      expect([head.statusCode, head.body]).toEqual([200, '']);
      for (const name of ['content-type', 'content-length', 'etag', 'last-modified', 'accept-ranges', 'content-disposition']) {
        expect(head.headers[name]).toBe(whole.headers[name]);
      }
    });

    it('names files of any script, and announces a vague type by the name', async () => {
      expect((await stream(scanned.id)).headers['content-disposition']).toBe(
        `inline; filename="Na_ve _gr__e_ __.mp4"; filename*=UTF-8''Na%C3%AFve%20%22gr%C3%B6%C3%9Fe%22%20%E8%A7%86%E9%A2%91.mp4`,
      );
      expect((await stream(untyped.id)).headers['content-type']).toBe('video/mp4');
    });

    it('shows a thumbnail of the size that was asked for', async () => {
      const response = await call('/gdplay/thumbnail', { id: video.id, size: '320' });
      expect([response.statusCode, response.headers['content-type']]).toEqual([200, 'image/png']);
      expect([response.rawPayload.readUInt32BE(16), response.rawPayload.readUInt32BE(20)]).toEqual([320, 180]);
      const other = await call('/gdplay/thumbnail', { id: video.id });
      expect(other.rawPayload.readUInt32BE(16)).toBe(400);
      const json = await call('/gdplay/thumbnail', { id: video.id, size: '320', format: 'json' });
      const body = thumbnailOutput.parse(json.json());
      expect(Buffer.from(body.data.thumbnail.base64, 'base64')).toEqual(response.rawPayload);
      const facts = { id: video.id, name: video.name, content_type: 'video/mp4', size_bytes: video.size };
      expect(body.data).toMatchObject({ ...facts, modified_at: '2026-01-15T08:30:00Z' });
    });
  });

  it.each([
    ['size', '1601'],
    ['size', 'wide'],
    ['format', 'html'],
  ])('a thumbnail whose %s is %s is 400', async (field, value) => {
    const query = { id: video.id, [field]: value };
    const response = await gdplayHarness({}, sandbox.url).call({ url: '/gdplay/thumbnail', query, context: { mode: 'test' } });
    expect(response.json()).toMatchObject({ status: 400, errors: [{ field }] });
  });
});

describe('its links', () => {
  const SECRET = Buffer.alloc(32, 9);
  const LINKS = { GDPLAY_LINK_KEYS: `k1:${SECRET.toString('base64')}` };
  const keys = createLinkKeys([{ id: 'k1', secret: SECRET }]);
  const { video, document, large } = DRIVE_FILES;
  const EXPIRES_AT = NOW_MS / 1000 + 600;

  const sandbox = useOpened(startTestSandbox);

  const grantOf = (changes: Partial<LinkGrant> = {}): LinkGrant => ({
    viewing: 'viewing-1',
    resource: video.id,
    allowance: 1_000_000,
    expiresAt: EXPIRES_AT,
    ...changes,
  });

  describe.each(ADAPTERS)('links, %s', (_name, env) => {
    let service: Harness;
    beforeEach(() => {
      service = gdplayHarness({ ...env, ...LINKS }, sandbox.url);
    });

    const make = (payload: object) => service.call({ method: 'POST', url: '/gdplay/link', payload, context: { mode: 'test' } });
    const view = (grant: LinkGrant, options: Pick<CallOptions, 'query' | 'headers' | 'url'> = {}) =>
      service.call({ url: '/gdplay/stream', context: { mode: 'test', chargedDay: null, quota: null, link: grant }, ...options });

    it('are made for one file and one key, and say what is known of the file', async () => {
      const response = await make({ id: video.id, expires_in: 600, viewer: '203.0.113.7' });
      expect(response.statusCode).toBe(200);
      const { data } = linkOutput.parse(response.json());
      const facts = { viewer: '203.0.113.7', content_type: 'video/mp4', size_bytes: video.size };
      expect(data).toMatchObject({ ...facts, expires_at: '2026-03-14T09:36:53.000Z' });
      expect(data.duration_ms).toBe('GDPLAY_API_KEY' in env ? 4_000 : null);
      const [path, token = ''] = data.path.split('?link=');
      expect(path).toBe('/gdplay/stream');
      const maker = { product: 'api-gdplay', credentialId: 'credential-1', subscriptionId: 'subscription-1' };
      const link = { ...maker, address: '203.0.113.7', grant: { resource: video.id } };
      expect(openLink(token, keys, NOW_MS / 1000)).toMatchObject({ ok: true, link });
    });

    it.each([
      [{ id: document.id }, 415, 'media_type_unsupported'],
      [{ id: 'sandbox-missing-01' }, 404, 'not_found'],
      [{ id: video.id, expires_in: 14_401 }, 400, 'invalid_request'],
      [{ id: video.id, viewer: '203.0.113.7/24' }, 400, 'invalid_request'],
    ])('are not made of %j', async (payload, status, code) => {
      const response = await make(payload);
      expect([response.statusCode, response.json()]).toEqual([status, expect.objectContaining({ code })]);
    });

    it('play their file whole and in ranges, as often as a viewing needs', async () => {
      expect((await view(grantOf())).rawPayload).toEqual(DRIVE_SAMPLE_MP4);
      const part = await view(grantOf(), { headers: { range: 'bytes=100-199' } });
      expect([part.statusCode, part.rawPayload]).toEqual([206, DRIVE_SAMPLE_MP4.subarray(100, 200)]);
      expect([part.headers['x-tollgate-charged'], part.headers['ratelimit']]).toEqual([undefined, undefined]);
    });

    it('play no other file: one named beside it is refused', async () => {
      for (const query of [{ id: large.id }, { url: large.id }, { resourcekey: 'other' }] as Record<string, string>[])
        expect((await view(grantOf(), { query })).statusCode).toBe(400);
    });

    it.each(['/gdplay', '/gdplay/link', '/gdplay/thumbnail?id=sandbox-video-0001'])('open no other route: %s', async (url) => {
      const response = await view(grantOf(), { url });
      expect(['link_not_valid', 'method_not_allowed']).toContain(response.json().code);
      const posted = await service.call({ method: 'POST', url, payload: { id: video.id }, context: { mode: 'test', link: grantOf() } });
      expect([posted.statusCode, posted.json().code]).toEqual([401, 'link_not_valid']);
    });

    it('are used up when their bytes are, whatever ranges they come in', async () => {
      const grant = grantOf({ allowance: 1_000 });
      const range = (first: number, last: number) => view(grant, { headers: { range: `bytes=${first}-${last}` } });
      for (let first = 0; first < 1_000; first += 250) expect((await range(first, first + 249)).statusCode).toBe(206);
      const refused = await range(0, 0);
      expect([refused.statusCode, refused.json().code]).toEqual([401, 'link_not_valid']);
      expect((await view(grantOf({ viewing: 'viewing-2' }), { headers: { range: 'bytes=0-0' } })).statusCode).toBe(206);
    });
  });

  it('links are a 503 that keeps no unit where no key for them is set', async () => {
    const service = gdplayHarness({}, sandbox.url);
    const response = await service.call({ method: 'POST', url: '/gdplay/link', payload: { id: video.id }, context: { mode: 'test' } });
    expect([response.statusCode, response.json().code]).toEqual([503, 'upstream_not_configured']);
  });

  it('a viewing that takes more than its share is cut off, and its source with it', async () => {
    const deps = gdplayDeps(LINKS, sandbox.url);
    const app = await listenGdplay(deps);
    const link = grantOf({ resource: large.id, allowance: 3_000_000 });
    const headers = proofHeader(contextFor('api-gdplay', { mode: 'test', chargedDay: null, quota: null, link }));
    let seen = 0;
    const read = async (): Promise<void> => {
      const response = await fetch(`${app.url}/gdplay/stream`, { headers });
      for await (const chunk of response.body ?? []) seen += chunk.length;
    };
    await expect(read()).rejects.toThrow();
    expect(seen).toBeLessThanOrEqual(3_000_000);
    expect((await fetch(`${app.url}/gdplay/stream`, { headers })).status).toBe(401);
    await app.close();
  });

  describe('the requests of one viewing', () => {
    it('are four at a time, and one more finds room when one ends, however often that is told', () => {
      const viewings = new Viewings(testClock);
      const open = [1, 2, 3, 4].map(() => viewings.admit(grantOf()));
      expect(() => viewings.admit(grantOf())).toThrow('concurrency_exceeded');
      open[0]?.end();
      open[0]?.end();
      viewings.admit(grantOf());
      expect(() => viewings.admit(grantOf())).toThrow('concurrency_exceeded');
    });

    it('are 3,600 in all', () => {
      const viewings = new Viewings(testClock);
      for (let count = 0; count < 3_600; count++) viewings.admit(grantOf()).end();
      expect(() => viewings.admit(grantOf())).toThrow('link_not_valid');
    });
  });
});
