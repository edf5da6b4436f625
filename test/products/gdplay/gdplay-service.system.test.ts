import { thumbnailOutput } from '../../../services/products/gdplay/schema';
import { DRIVE_FILES } from '../../../services/sandbox/gdplay/drive-files';
import { DRIVE_SAMPLE_MP4 } from '../../../services/sandbox/gdplay/drive-sample';
import { createSandboxUpstreams } from '../../../services/sandbox/sandbox-upstreams';
import { type Sandbox, startSandbox } from '../../../services/sandbox/start-sandbox';
import { type CallOptions, type Harness } from '../../kit/harness';
import { ADAPTERS, gdplayHarness } from './gdplay-harness';

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await startSandbox({ host: '127.0.0.1', port: 0, upstreams: createSandboxUpstreams() });
});
afterAll(() => sandbox?.close());
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
