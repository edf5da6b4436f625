import { driveExamples } from '../../../services/sandbox/gdplay/drive-examples';
import { createDrive } from '../../../services/sandbox/gdplay/drive';
import { type Sandbox, startSandbox } from '../../../services/sandbox/start-sandbox';

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await startSandbox({ host: '127.0.0.1', port: 0, upstreams: [createDrive()] });
});
afterAll(() => sandbox.close());

async function get(path: string, headers: Record<string, string> = {}) {
  const response = await fetch(`${sandbox.url}/drive${path}`, { headers, redirect: 'manual' });
  return { status: response.status, headers: response.headers, bytes: Buffer.from(await response.arrayBuffer()) };
}

const metadataUrl = (id: string, fields: string) => `/api/drive/v3/files/${id}?fields=${encodeURIComponent(fields)}&key=k`;

test('documents every outcome that scripts rely on, each once a route', () => {
  const outcomes = driveExamples.map(({ route, outcome }) => `${route} ${outcome}`);
  for (const outcome of ['success', 'not_found', 'not_video', 'quota', 'timeout']) expect(outcomes).toContain(`/gdplay/stream ${outcome}`);
  expect(outcomes).toEqual(expect.arrayContaining(['/gdplay success', '/gdplay/thumbnail success']));
  expect(new Set(outcomes).size).toBe(outcomes.length);
});

describe('the Drive API', () => {
  test('writes 64-bit numbers as text and only the fields that were asked for', async () => {
    const { bytes } = await get(metadataUrl('sandbox-audio-0001', 'id,size,videoMediaMetadata(width),mimeType'));
    expect(JSON.parse(bytes.toString())).toEqual({ id: 'sandbox-audio-0001', size: '1000003', mimeType: 'audio/wav' });
    const video = JSON.parse((await get(metadataUrl('sandbox-video-0001', 'videoMediaMetadata(durationMillis)'))).bytes.toString());
    expect(video).toEqual({ videoMediaMetadata: { width: 64, height: 36, durationMillis: '4000' } });
  });

  test('stalls where it says: after 65,536 bytes of the file', async () => {
    const left = new AbortController();
    const url = `${sandbox.url}/drive/api/drive/v3/files/sandbox-stall-0001?alt=media&key=k`;
    const response = await fetch(url, { signal: left.signal });
    let seen = 0;
    for await (const chunk of response.body ?? []) {
      seen += chunk.length;
      if (seen >= 65_536) break;
    }
    expect([seen, response.headers.get('content-length')]).toEqual([65_536, '1000003']);
    left.abort();
  });

  test('writes errors with domain and reason, and wants a key', async () => {
    const missing = await get(metadataUrl('sandbox-missing-01', 'id'));
    expect(missing.status).toBe(404);
    expect(JSON.parse(missing.bytes.toString())).toEqual({
      error: {
        code: 404,
        message: 'File not found: sandbox-missing-01.',
        errors: [{ message: 'File not found: sandbox-missing-01.', domain: 'global', reason: 'notFound' }],
      },
    });
    expect((await get('/api/drive/v3/files/sandbox-video-0001')).status).toBe(403);
  });
});

describe('keyless downloads', () => {
  test('lead over the download host to a confirmation, and with it to the file', async () => {
    const { status, headers } = await get('/web/uc?id=sandbox-confirm-01&export=download');
    expect([status, headers.get('location')]).toEqual([
      303,
      `${sandbox.url}/drive/usercontent/download?id=sandbox-confirm-01&export=download`,
    ]);
    const page = (await get('/usercontent/download?id=sandbox-confirm-01&export=download')).bytes.toString();
    expect(page).toContain(`<form id="download-form" action="${sandbox.url}/drive/usercontent/download" method="get">`);
    for (const field of ['id', 'export', 'confirm', 'uuid'])
      expect(page).toMatch(new RegExp(`<input type="hidden" name="${field}" value="[^"]+">`));
    const file = await get('/usercontent/download?id=sandbox-confirm-01&export=download&confirm=t&uuid=1');
    expect(file.headers.get('content-type')).toBe('video/mp4');
    expect(file.bytes.subarray(4, 8).toString()).toBe('ftyp');
  });
});

describe('the bytes of a file', () => {
  const media = (range: string, id = 'sandbox-large-0001') => get(`/api/drive/v3/files/${id}?alt=media&key=k`, { range });

  test('are the same wherever a range begins', async () => {
    const whole = (await media('bytes=0-9999')).bytes;
    expect(whole.subarray(0, 4).toString()).toBe('RIFF');
    for (const first of [0, 1, 43, 44, 45, 46, 47, 48, 4_097]) {
      const { status, headers, bytes } = await media(`bytes=${first}-9999`);
      expect([status, headers.get('content-range')]).toEqual([206, `bytes ${first}-9999/1073741824`]);
      expect(bytes.equals(whole.subarray(first))).toBe(true);
    }
  });

  test('do not repeat, so that a wrong place shows', async () => {
    const { bytes } = await media('bytes=44-1048619');
    const seen = new Set<string>();
    for (let at = 0; at + 16 <= bytes.length; at += 16) seen.add(bytes.toString('latin1', at, at + 16));
    expect(seen.size).toBe(bytes.length / 16);
  });

  test('end where the file ends', async () => {
    expect((await media('bytes=-5')).headers.get('content-range')).toBe('bytes 1073741819-1073741823/1073741824');
    const outside = await media('bytes=1073741824-');
    expect([outside.status, outside.headers.get('content-range')]).toEqual([416, 'bytes */1073741824']);
  });
});
