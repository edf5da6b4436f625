import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type IncomingMessage, request as openRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import send from 'send';
import { DRIVE_FILES } from '../../../services/sandbox/gdplay/drive-files';
import { DRIVE_SAMPLE_MP4 } from '../../../services/sandbox/gdplay/drive-sample';
import { createSandboxUpstreams } from '../../../services/sandbox/sandbox-upstreams';
import { type Sandbox, startSandbox } from '../../../services/sandbox/start-sandbox';
import { ADAPTERS, gdplayDeps, listenGdplay, listenUpstream, type Listening, TEST_HEADERS } from './gdplay-harness';
import { fc } from '../../support/fast-check';

const run = promisify(execFile);
const SIZE = DRIVE_SAMPLE_MP4.length;
const MODIFIED = 'Thu, 15 Jan 2026 08:30:00 GMT';
const folder = mkdtempSync(join(tmpdir(), 'tollgate-gdplay-'));
const path = join(folder, 'clip.mp4');

let sandbox: Sandbox;
let reference: Listening;
const services: Listening[] = [];
let etag = '';

interface Answer {
  readonly status: number;
  readonly range: string | undefined;
  readonly length: string | undefined;
  readonly md5: string;
}

/** With node:http, because fetch adds `Cache-Control: no-cache` to conditional requests. */
async function fetchBytes(
  url: string,
  headers: Record<string, string>,
  method = 'GET',
): Promise<{ response: IncomingMessage; bytes: Buffer }> {
  const request = openRequest(url, { method, headers: { ...TEST_HEADERS, ...headers } }).end();
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of response as AsyncIterable<Buffer>) chunks.push(chunk);
  return { response, bytes: Buffer.concat(chunks) };
}

async function ask(url: string, headers: Record<string, string>, method = 'GET'): Promise<Answer> {
  const { response, bytes } = await fetchBytes(url, headers, method);
  const { statusCode: status = 0 } = response;
  // What an error says differs from server to server, and so does its length.
  const isError = status >= 400;
  return {
    status,
    range: response.headers['content-range'],
    length: isError ? undefined : response.headers['content-length'],
    md5: isError ? '' : createHash('md5').update(bytes).digest('hex'),
  };
}

function streamUrl(service: Listening, id: string = DRIVE_FILES.video.id): string {
  return `${service.url}/gdplay/stream?id=${id}`;
}

beforeAll(async () => {
  writeFileSync(path, DRIVE_SAMPLE_MP4);
  sandbox = await startSandbox({ host: '127.0.0.1', port: 0, upstreams: createSandboxUpstreams() });
  for (const [, env] of ADAPTERS) services.push(await listenGdplay(gdplayDeps(env, sandbox.url)));
  reference = await listenUpstream((request, response) => {
    response.setHeader('ETag', String(request.headers['x-etag'] ?? '"none"'));
    response.setHeader('Last-Modified', MODIFIED);
    send(request, path).pipe(response);
  });
});
afterAll(async () => {
  await Promise.all([...services, reference, sandbox].map((each) => each.close()));
  rmSync(folder, { recursive: true });
});

describe.each(ADAPTERS.map(([name], index) => [name, index] as const))('%s', (_name, index) => {
  let url = '';
  beforeAll(async () => {
    url = streamUrl(services[index] as Listening);
    etag = (await fetch(url, { headers: TEST_HEADERS })).headers.get('etag') ?? '';
    expect(etag).not.toBe('');
  });

  const agree = async (headers: Record<string, string>, method = 'GET'): Promise<void> => {
    const [ours, theirs] = await Promise.all([ask(url, headers, method), ask(reference.url, { ...headers, 'x-etag': etag }, method)]);
    expect(ours).toEqual(theirs);
  };

  test('answers single ranges as send does', async () => {
    const position = fc.oneof(fc.nat(SIZE * 2), fc.constantFrom(0, 1, SIZE - 1, SIZE, SIZE + 1));
    // send answers 416 to a suffix longer than the file and to a reversed range; RFC 9110 wants the whole file as a part, and a 200.
    const range = fc.oneof(
      fc.tuple(position, position).map(([one, other]) => `bytes=${Math.min(one, other)}-${Math.max(one, other)}`),
      position.map((first) => `bytes=${first}-`),
      fc.integer({ min: 0, max: SIZE }).map((length) => `bytes=-${length}`),
      fc.constantFrom('bytes=', 'bytes=x-y', 'bytes=-', 'bytes=1', 'lines=1-2', 'bytes', 'bytes=1-x', 'none'),
    );
    await fc.assert(
      fc.asyncProperty(range, (field) => agree({ range: field })),
      { numRuns: 150 },
    );
  });

  test('answers conditions as send does', async () => {
    const tag = fc.constantFrom('"another"', '*', 'ours');
    const date = fc.constantFrom(MODIFIED, 'Wed, 14 Jan 2026 08:30:00 GMT', 'Fri, 16 Jan 2026 08:30:00 GMT');
    const ifRange = fc.constantFrom('"another"', 'ours', MODIFIED, 'Wed, 14 Jan 2026 08:30:00 GMT');
    const conditions = fc.record(
      { 'if-match': tag, 'if-none-match': tag, 'if-modified-since': date, 'if-unmodified-since': date, 'if-range': ifRange },
      { requiredKeys: [] },
    );
    const method = fc.constantFrom('GET', 'HEAD');
    await fc.assert(
      fc.asyncProperty(conditions, method, fc.boolean(), (given, verb, ranged) => {
        const headers = Object.fromEntries(Object.entries(given).map(([name, value]) => [name, value === 'ours' ? etag : value]));
        // send fails If-Unmodified-Since besides an If-Match that holds; RFC 9110 ignores it then.
        if ('if-match' in headers) delete headers['if-unmodified-since'];
        // send answers 206 to HEAD; RFC 9110 defines ranges for GET alone.
        return agree({ ...headers, ...(ranged && verb === 'GET' && { range: 'bytes=10-19' }) }, verb);
      }),
      { numRuns: 150 },
    );
  });

  test('answers where send departs from RFC 9110 as the RFC has it', async () => {
    const status = async (range: string, method?: string): Promise<number> => (await ask(url, { range }, method)).status;
    expect(await status(`bytes=-${SIZE + 1}`)).toBe(206);
    expect(await status('bytes=9-3')).toBe(200);
    expect(await status('bytes=0-1,1-2')).toBe(200);
    expect(await status('bytes=0-5,')).toBe(206);
    expect(await status('bytes=0-1', 'HEAD')).toBe(200);
  });

  test('answers curl -r', async () => {
    const curl = async (range: string): Promise<Buffer> => {
      const proof = `x-tollgate-context: ${TEST_HEADERS['x-tollgate-context']}`;
      const { stdout } = await run('curl', ['-sf', '-r', range, '-H', proof, url], { encoding: 'buffer' });
      return stdout;
    };
    expect(await curl('0-99')).toEqual(DRIVE_SAMPLE_MP4.subarray(0, 100));
    expect(await curl('1000-')).toEqual(DRIVE_SAMPLE_MP4.subarray(1_000));
    expect(await curl('-100')).toEqual(DRIVE_SAMPLE_MP4.subarray(-100));
    await expect(curl(`${SIZE}-`)).rejects.toMatchObject({ code: 22 });
  });

  test('puts a file together from parts as it is in one piece', async () => {
    const audio = streamUrl(services[index] as Listening, DRIVE_FILES.audio.id);
    const { bytes: whole } = await fetchBytes(audio, {});
    expect(whole).toHaveLength(DRIVE_FILES.audio.size);
    const parts: Buffer[] = [];
    for (let first = 0; first < DRIVE_FILES.audio.size; first += 77_777) {
      parts.push((await fetchBytes(audio, { range: `bytes=${first}-${first + 77_776}` })).bytes);
    }
    expect(Buffer.concat(parts).equals(whole)).toBe(true);
  });

  test('reaches the end of a file that is too large for memory', async () => {
    const large = streamUrl(services[index] as Listening, DRIVE_FILES.large.id);
    const tail = await fetchBytes(large, { range: 'bytes=-4' });
    expect(tail.response.statusCode).toBe(206);
    expect(tail.response.headers).toMatchObject({ 'content-range': 'bytes 1073741820-1073741823/1073741824', 'content-length': '4' });
    const longer = await fetchBytes(large, { range: 'bytes=1073741816-' });
    expect(longer.bytes.subarray(4)).toEqual(tail.bytes);
  });
});
