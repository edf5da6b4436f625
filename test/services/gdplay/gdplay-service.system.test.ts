import { thumbnailOutput } from '../../../services/gdplay/schema';
import { driveExamples } from '../../../services/sandbox/gdplay/drive-examples';
import { DRIVE_FILES } from '../../../services/sandbox/gdplay/drive-files';
import { DRIVE_SAMPLE_MP4 } from '../../../services/sandbox/gdplay/drive-sample';
import { createSandboxUpstreams } from '../../../services/sandbox/sandbox-upstreams';
import { type Sandbox, startSandbox } from '../../../services/sandbox/start-sandbox';
import { type CallOptions, type Harness } from '../kit/harness';
import { ADAPTERS, gdplayHarness } from './gdplay-harness';
import { anyWebUrl } from '../../support/any-text';
import { fc } from '../../support/fast-check';

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await startSandbox({ host: '127.0.0.1', port: 0, upstreams: createSandboxUpstreams() });
});
afterAll(() => sandbox.close());

/** A silent Drive is not waited for; for inputs that meet one. */
const HASTY = { GDPLAY_TIMEOUT_MS: '400', GDPLAY_IDLE_TIMEOUT_MS: '400' };
const LINKS = { GDPLAY_LINK_KEYS: `k1:${Buffer.alloc(32, 3).toString('base64')}` };
const { video, scanned, audio, untyped, empty, quota, silent } = DRIVE_FILES;

describe.each(ADAPTERS)('%s', (_name, env) => {
  let service: Harness;
  let hasty: Harness;
  beforeAll(() => {
    service = gdplayHarness({ ...LINKS, ...env }, sandbox.url);
    hasty = gdplayHarness({ ...LINKS, ...HASTY, ...env }, sandbox.url);
  });

  const call = (path: string, query: Record<string, string>, options: CallOptions = {}, of = service) =>
    of.call({ method: 'GET', url: path, query, context: { mode: 'test' }, ...options });
  const stream = (id: string, headers: Record<string, string> = {}, options: CallOptions = {}) =>
    call('/gdplay/stream', { id }, { headers, ...options });

  test('streams a whole file', async () => {
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

  test('streams what a range asks for', async () => {
    const response = await stream(video.id, { range: 'bytes=100-199' });
    expect(response.statusCode).toBe(206);
    expect(response.headers).toMatchObject({ 'content-range': `bytes 100-199/${video.size}`, 'content-length': '100' });
    expect(response.rawPayload).toEqual(DRIVE_SAMPLE_MP4.subarray(100, 200));
  });

  test('answers a range that lies outside with 416 and the size', async () => {
    const response = await stream(video.id, { range: `bytes=${video.size}-` });
    expect(response.statusCode).toBe(416);
    expect(response.headers['content-range']).toBe(`bytes */${video.size}`);
    expect(response.json()).toMatchObject({ code: 'range_not_satisfiable', status: 416, size_bytes: video.size });
  });

  test('answers conditions with 304 and 412', async () => {
    const etag = String((await stream(video.id)).headers.etag);
    const fresh = await stream(video.id, { 'if-none-match': etag, range: 'bytes=0-1' });
    expect([fresh.statusCode, fresh.body, fresh.headers.etag]).toEqual([304, '', etag]);
    expect(fresh.headers).not.toHaveProperty('content-length');
    const failed = await stream(video.id, { 'if-match': '"another"' });
    expect(failed.statusCode).toBe(412);
    expect(failed.headers['content-type']).toMatch(/^application\/problem\+json/);
    expect(failed.json()).toMatchObject({
      status: 412,
      code: 'precondition_failed',
      title: 'Precondition failed',
      request_id: 'request-1',
    });
    expect((await stream(video.id, { range: 'bytes=0-1', 'if-range': etag })).statusCode).toBe(206);
    expect((await stream(video.id, { range: 'bytes=0-1', 'if-range': '"another"' })).statusCode).toBe(200);
  });

  test('answers HEAD with the headers of the whole file and no body', async () => {
    const whole = await stream(audio.id);
    const head = await stream(audio.id, { range: 'bytes=0-1' }, { method: 'HEAD' });
    expect([head.statusCode, head.body]).toEqual([200, '']);
    for (const name of ['content-type', 'content-length', 'etag', 'last-modified', 'accept-ranges', 'content-disposition']) {
      expect(head.headers[name]).toBe(whole.headers[name]);
    }
  });

  test('streams an empty file', async () => {
    const response = await stream(empty.id);
    expect([response.statusCode, response.body, response.headers['content-length']]).toEqual([200, '', '0']);
    expect((await stream(empty.id, { range: 'bytes=0-' })).headers['content-range']).toBe('bytes */0');
  });

  test('names files of any script, and announces a vague type by the name', async () => {
    expect((await stream(scanned.id)).headers['content-disposition']).toBe(
      `inline; filename="Na_ve _gr__e_ __.mp4"; filename*=UTF-8''Na%C3%AFve%20%22gr%C3%B6%C3%9Fe%22%20%E8%A7%86%E9%A2%91.mp4`,
    );
    expect((await stream(untyped.id)).headers['content-type']).toBe('video/mp4');
  });

  test('reads its input from every method and kind of body', async () => {
    const form = 'application/x-www-form-urlencoded';
    const calls: CallOptions[] = [
      { method: 'POST', payload: { id: video.id } },
      { method: 'PUT', payload: `id=${video.id}`, headers: { 'content-type': form } },
      { method: 'DELETE', query: { url: `https://drive.google.com/file/d/${video.id}/view` } },
      { method: 'POST', payload: { id: video.id }, query: { id: 'sandbox-missing-01' } },
      { method: 'POST', payload: { id: video.id }, headers: { range: 'bytes=0-1', 'if-none-match': '*' } },
    ];
    for (const each of calls) {
      const response = await service.call({ url: '/gdplay/stream', context: { mode: 'test' }, ...each });
      expect([response.statusCode, response.rawPayload.length]).toEqual([200, video.size]);
    }
  });

  test('shows a thumbnail of the size that was asked for', async () => {
    const response = await call('/gdplay/thumbnail', { id: video.id, size: '320' });
    expect([response.statusCode, response.headers['content-type']]).toEqual([200, 'image/png']);
    expect([response.rawPayload.readUInt32BE(16), response.rawPayload.readUInt32BE(20)]).toEqual([320, 180]);
    const other = await call('/gdplay/thumbnail', { id: video.id });
    expect(other.rawPayload.readUInt32BE(16)).toBe(400);
    const json = await call('/gdplay/thumbnail', { id: video.id, size: '320', format: 'json' });
    const body = thumbnailOutput.parse(json.json());
    expect(Buffer.from(body.data.thumbnail.base64, 'base64')).toEqual(response.rawPayload);
    expect(body.data).toMatchObject({
      id: video.id,
      name: video.name,
      content_type: 'video/mp4',
      size_bytes: video.size,
      modified_at: '2026-01-15T08:30:00Z',
    });
  });

  test('answers a quota that is used up with 502 and its reason', async () => {
    const response = await stream(quota.id);
    expect(response.statusCode).toBe(502);
    expect(response.headers).not.toHaveProperty('content-range');
    expect(response.json()).toMatchObject({ code: 'upstream_failed', reason: 'quota' });
  });

  test('keeps test and live apart: without a sandbox a test key gets 503', async () => {
    const response = await gdplayHarness(env).call({ url: '/gdplay/stream', query: { id: video.id }, context: { mode: 'test' } });
    expect(response.statusCode).toBe(503);
    expect(response.json()).toMatchObject({ code: 'upstream_not_configured' });
  });

  // The outcome of every documented input; a stream that stalls after its first bytes is tested on a real connection.
  const STATUS = /^\d{3}/;
  const documented = driveExamples.filter(({ outcome }) => !['stalls', 'success_large'].includes(outcome));
  test.each(documented.map((each) => [each.route, each.outcome, each] as const))(
    '%s %s is as documented',
    async (_route, _outcome, each) => {
      const query = Object.fromEntries(Object.entries(each.input).map(([name, value]) => [name, String(value)]));
      const { method } = each;
      const response = await call(each.route, query, { method }, each.outcome === 'timeout' ? hasty : service);
      expect(String(response.statusCode)).toBe(STATUS.exec(each.yields)?.[0]);
      expect(response.body).not.toContain(String(sandbox.port));
      const reason = /reason (\w+)/.exec(each.yields)?.[1];
      if (response.statusCode >= 400) expect(response.headers['content-type']).toMatch(/^application\/problem\+json/);
      if (reason) expect(response.json().reason).toBe(reason);
      expect(response.headers['content-type']).not.toContain('html');
    },
  );

  test('a valid or broken input yields the answer or a documented 4xx, never a 500', async () => {
    const id = fc.oneof(fc.constantFrom(video.id, 'sandbox-missing-01', ''), fc.string(), anyWebUrl, fc.stringMatching(/^[\w-]{10,20}$/));
    const value = fc.oneof(id, fc.integer(), fc.boolean(), fc.constant(null), fc.array(fc.string()), fc.object({ maxDepth: 1 }));
    const body = fc.record({ id: value, url: value, resourcekey: value, size: value, format: value }, { requiredKeys: [] });
    const path = fc.constantFrom('/gdplay/stream', '/gdplay/thumbnail');
    await fc.assert(
      fc.asyncProperty(path, body, async (url, payload) => {
        const response = await service.call({ method: 'POST', url, payload, context: { mode: 'test' } });
        expect([200, 400, 404]).toContain(response.statusCode);
        if (response.statusCode === 400) expect(response.json()).toMatchObject({ status: 400, code: 'invalid_request' });
      }),
      { numRuns: 60 },
    );
  });
});

describe('bad input', () => {
  let service: Harness;
  beforeAll(() => (service = gdplayHarness({}, sandbox.url)));
  const json = { 'content-type': 'application/json' };
  const deep = `{"id":${'['.repeat(20_000)}${']'.repeat(20_000)}}`;

  describe.each(['/gdplay/stream', '/gdplay/thumbnail'])('of %s', (url) => {
    test.each<[string, number, CallOptions]>([
      ['nothing', 400, {}],
      ['id and url', 400, { payload: { id: video.id, url: video.id } }],
      ['a number for an id', 404, { payload: { id: 12_345_678_901 } }],
      ['a list for an id', 400, { payload: { id: [video.id] } }],
      ['a url that is too long', 400, { payload: { url: `https://drive.google.com/open?id=${video.id}&x=${'x'.repeat(3_000)}` } }],
      ['an id twice', 400, { url: `${url}?id=${video.id}&id=${audio.id}` }],
      ['JSON that is broken', 400, { payload: '{"id":', headers: json }],
      ['JSON that is deep', 400, { payload: deep, headers: json }],
      ['JSON that is no UTF-8', 400, { payload: Buffer.from([0x7b, 0x22, 0xff, 0xfe]), headers: json }],
      ['a query that is no UTF-8', 400, { url: `${url}?id=%ff%fe` }],
      ['10 MB of JSON', 413, { payload: JSON.stringify({ id: 'x'.repeat(10_000_000) }), headers: json }],
      ['broken multipart', 400, { payload: '--x\r\nbroken', headers: { 'content-type': 'multipart/form-data; boundary=x' } }],
      ['another content type', 415, { payload: '<id/>', headers: { 'content-type': 'application/xml' } }],
    ])('%s is %i', async (_what, status, options) => {
      const response = await service.call({ method: 'POST', url, context: { mode: 'test' }, ...options });
      expect(response.statusCode).toBe(status);
      expect(response.json()).toMatchObject({ status, request_id: 'request-1' });
    });
  });

  test.each([['15'], ['1601'], ['99.5'], ['wide'], ['-16']])('a thumbnail of size %s is 400', async (size) => {
    const response = await service.call({ url: '/gdplay/thumbnail', query: { id: video.id, size }, context: { mode: 'test' } });
    expect(response.json()).toMatchObject({ status: 400, errors: [{ field: 'size' }] });
  });

  test('a thumbnail in another format is 400', async () => {
    const response = await service.call({ url: '/gdplay/thumbnail', query: { id: video.id, format: 'html' }, context: { mode: 'test' } });
    expect(response.json()).toMatchObject({ status: 400, errors: [{ field: 'format' }] });
  });

  test('a request without proof is refused before anything is read', async () => {
    const response = await service.app.inject({ url: `/gdplay/stream?id=${silent.id}` });
    expect(response.json()).toMatchObject({ status: 401, code: 'gateway_proof_missing' });
  });
});

test('the index names every route', async () => {
  const response = await gdplayHarness({}).call({ method: 'POST', url: '/gdplay' });
  expect(response.json()).toMatchObject({
    status: 'success',
    product: 'api-gdplay',
    endpoints: [{ path: '/gdplay' }, { path: '/gdplay/stream' }, { path: '/gdplay/link' }, { path: '/gdplay/thumbnail' }],
  });
});
