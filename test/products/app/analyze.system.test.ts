import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readdir, readFile, readlink } from 'node:fs/promises';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { appService } from '../../../services/products/app/routes';
import { createApkExamples } from '../../../services/sandbox/app/apk-examples';
import { CLEAN_APP, FULL_APP } from '../../support/apk/apk-samples';
import { startTestWorker } from '../../support/apk/apk-worker';
import { eventually } from '../../support/eventually';
import { contextFor, proofHeader } from '../../kit/context';
import { buildHarness, type Harness } from '../../kit/harness';
import { openedForTests, useOpened } from '../../support/opened';
import { startTestSandbox } from '../../support/sandbox';
import { ApkBuilder, RELEASE_KEY } from '../../support/apk/apk-builder';

const APK_TYPE = 'application/vnd.android.package-archive';
const MEBIBYTE = 1024 * 1024;

const serviceFor = (address: string, { sandboxUrl, ...env }: Record<string, string> = {}): Promise<Harness> =>
  buildHarness(appService, { ...env, APK_WORKER_URL: address }, { sandboxUrl });

const opened = openedForTests();
const builder = opened.use(() => ApkBuilder.create());
const worker = opened.use(startTestWorker);
const service = opened.use(() => serviceFor(worker.server.address));
let apk: Buffer;
beforeAll(async () => {
  const unsigned = await builder.build('clean', CLEAN_APP);
  apk = await readFile(await builder.sign(unsigned, 'signed', { key: RELEASE_KEY, v1: true, v2: true, v3: true }));
});

/** Uploads on disk, by name or only by an open descriptor. */
async function filesLeft(): Promise<string[]> {
  const descriptors = await readdir('/proc/self/fd');
  const targets = await Promise.all(descriptors.map((each) => readlink(`/proc/self/fd/${each}`).catch(() => '')));
  return [...(await readdir(worker.uploads)), ...targets.filter((target) => target.startsWith(worker.uploads))];
}

/** The worker lets go of a file shortly after its call was cancelled. */
async function expectNoFilesLeft(): Promise<void> {
  await eventually(async () => (await filesLeft()).length === 0);
}

/** Announces an upload on a connection of its own, of which the test sends what it likes. */
async function announce(type: string, bytes: number): Promise<Socket> {
  const { app } = service;
  if (!app.server.listening) await app.listen({ host: '127.0.0.1', port: 0 });
  const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1');
  const proof = Object.entries(proofHeader(contextFor('api-app'))).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`POST /app/analyze HTTP/1.1\r\nHost: x\r\n${proof.join('')}Content-Type: ${type}\r\nContent-Length: ${bytes}\r\n\r\n`);
  return socket;
}

function multipart(field: string, content: Buffer, filename = 'my app.apk'): { payload: Buffer; headers: Record<string, string> } {
  const head = `--edge\r\nContent-Disposition: form-data; name="${field}"; filename="${filename}"\r\nContent-Type: application/octet-stream\r\n\r\n`;
  const payload = Buffer.concat([Buffer.from(head), content, Buffer.from('\r\n--edge--\r\n')]);
  return { payload, headers: { 'content-type': 'multipart/form-data; boundary=edge' } };
}

const analyze = (request: { payload?: Buffer | Readable | string; headers: Record<string, string> }, harness = service) =>
  harness.call({ method: 'POST', url: '/app/analyze', ...request });

describe('POST /app/analyze', () => {
  it.each(['file', 'app'])('reports on an APK sent as the form field %s', async (field) => {
    const answer = await analyze(multipart(field, apk));
    expect(answer.statusCode).toBe(200);
    const digest = (name: string) => createHash(name).update(apk).digest('hex');
    expect(answer.json()).toMatchObject({
      status: 'success',
      timestamp: '2026-03-14 09:26:53',
      data: {
        file: { name: 'my app.apk', size: apk.length, md5: digest('md5'), sha1: digest('sha1'), sha256: digest('sha256') },
        package: { name: 'com.example.sample', label: 'Sample', version_name: '1.2.3', version_code: 42, min_sdk: 21, target_sdk: 34 },
        signing: { v1: { verified: true }, v2: { verified: true }, v3: { verified: true }, v31: { present: false } },
        findings: [],
        hardening: { score: 0, level: 'low', inputs: [] },
        capability: { score: 0, level: 'low', inputs: [] },
        risk: { score: 0, level: 'low' },
        warnings: [],
      },
    });
  });

  it('has exactly the members of the contract', async () => {
    const { data } = (await analyze(multipart('file', apk))).json();
    const members =
      'form parts file package permissions components flags network_security signing native_abis native_libraries dex trackers checked secrets urls findings hardening capability risk warnings reputation';
    expect(Object.keys(data).sort()).toEqual(members.split(' ').sort());
    expect(Object.keys(data.signing.certificates[0])).toEqual(
      'subject issuer serial not_before not_after sha256 key sig_alg debug'.split(' '),
    );
    expect(Object.keys(data.flags)).toEqual(['debuggable', 'allow_backup', 'uses_cleartext', 'test_only']);
  });

  it.each<[string, { payload?: Buffer | string; headers: Record<string, string> }, number, string]>([
    ['nothing', { headers: {} }, 400, 'invalid_request'],
    ['a file in another field', multipart('picture', Buffer.from('PK')), 400, 'invalid_request'],
    ['another content type', { payload: 'x', headers: { 'content-type': 'text/plain' } }, 415, 'media_type_unsupported'],
    ['something else than a ZIP', multipart('file', Buffer.from('%PDF-1.7 and so on')), 400, 'not_an_apk'],
  ])('refuses %s', async (_what, request, status, code) => {
    const answer = await analyze(request);
    expect({ status: answer.statusCode, code: answer.json().code }).toEqual({ status, code });
  });

  it('answers 422 to a truncated APK, and names the field', async () => {
    const answer = await analyze(multipart('file', apk.subarray(0, apk.length - 100)));
    expect(answer.statusCode).toBe(422);
    expect(answer.json()).toMatchObject({ code: 'apk_malformed', errors: [{ field: 'file' }] });
  });

  it.each(['application/x-www-form-urlencoded', 'application/json'])(
    'does not read a body of %s, which cannot hold a file',
    async (type) => {
      const socket = await announce(type, 150 * MEBIBYTE);
      // The rest is never sent: who waits for it gives no answer.
      let answer = '';
      while (!answer.includes('request_id')) answer += String(((await once(socket, 'data')) as [Buffer])[0]);
      socket.destroy();
      expect(answer).toMatch(/^HTTP\/1\.1 400 [^]*file is required: send an APK as multipart\/form-data/);
    },
  );

  it('refuses fields beside the file that are larger than 1 MiB with 413', async () => {
    const field = (bytes: number): string => `--edge\r\nContent-Disposition: form-data; name="note"\r\n\r\n${'x'.repeat(bytes)}\r\n`;
    const headers = { 'content-type': 'multipart/form-data; boundary=edge' };
    const large = await analyze({ payload: `${field(MEBIBYTE + 1)}--edge--\r\n`, headers });
    expect(large.statusCode).toBe(413);
    expect(large.json()).toMatchObject({ code: 'payload_too_large', limit_bytes: MEBIBYTE });
    const file = multipart('file', apk);
    const beside = await analyze({ ...file, payload: Buffer.concat([Buffer.from(field(MEBIBYTE)), file.payload]) });
    expect(beside.statusCode).toBe(200);
  });

  it('stops an upload that grows over the limit with 413', async () => {
    const piece = Buffer.alloc(MEBIBYTE);
    const body = Readable.from(Array.from({ length: 202 }, () => piece));
    const answer = await analyze({ payload: body, headers: { 'content-type': APK_TYPE, 'transfer-encoding': 'chunked' } });
    expect(answer.statusCode).toBe(413);
    expect(answer.json().code).toBe('payload_too_large');
    await expectNoFilesLeft();
  });

  it('leaves no file behind and takes the next upload when a client leaves halfway', async () => {
    for (let count = 0; count < 20; count++) {
      const socket = await announce(APK_TYPE, 100_000);
      socket.write(apk.subarray(0, 4_000));
      await new Promise((resolve) => setTimeout(resolve, 10));
      socket.destroy();
    }
    // More uploads than a worker takes at a time were abandoned, and more than one subscription may have under way: had each kept its place,
    // this would stay a 503 or a 429.
    let status = 503;
    await eventually(async () => {
      status = (await analyze(multipart('file', apk))).statusCode;
      return status !== 503 && status !== 429;
    });
    expect(status).toBe(200);
    await expectNoFilesLeft();
  });

  it.each([
    ['504 when the analysis takes too long', { APK_WORKER_DEADLINE_MS: '100' }, 504, { reason: 'too_complex' }],
    ['422 when it uses up its CPU time', { APK_WORKER_CPU_MS: '100' }, 422, { code: 'apk_too_complex' }],
  ])('answers %s', async (_what, setting, status, members) => {
    const slow = await startTestWorker({ APK_WORKER_ANALYSES: '1', ...setting });
    const harness = await serviceFor(slow.server.address);
    // Millions of addresses to look at, for which a tenth of a second does not suffice.
    const text = 'http://a.example/ '.repeat(110_000);
    const files = Object.fromEntries(Array.from({ length: 20 }, (_each, index) => [`assets/${index}.json`, text]));
    const large = await readFile(await builder.build('slow', { ...CLEAN_APP, files }));
    const answer = await analyze(multipart('file', large), harness);
    expect(answer.statusCode).toBe(status);
    expect(answer.json()).toMatchObject(members);
    await harness.app.close();
    await slow.close();
  });
});

it('POST /app/compare takes what POST /app/analyze reports', async () => {
  const unsigned = await readFile(await builder.build('full', FULL_APP));
  const reports = [apk, unsigned].map(async (each) => (await analyze(multipart('file', each))).json().data as unknown);
  const [before, after] = await Promise.all(reports);
  const answer = await service.call({ method: 'POST', url: '/app/compare', payload: { before, after } });
  expect(answer.json()).toMatchObject({
    status: 'success',
    data: {
      same_package: true,
      signer: { changed: true, added: [] },
      trackers: { same_list: true, added: expect.arrayContaining([{ name: 'Google Firebase Analytics', category: expect.any(String) }]) },
      risk: { same_method: true },
    },
  });
});

describe('reputation', () => {
  const { input } = createApkExamples().examples.find(({ outcome, route }) => route === '/app/analyze' && outcome === 'success') ?? {};
  const sample = Buffer.from((input?.['file'] as { base64: string }).base64, 'base64');
  const counts = { malicious: 2, suspicious: 1, engines: 65 };
  const known = { source: 'virustotal', ok: true, known: true, ...counts, as_of: '2026-01-01T00:00:00.000Z' };

  const sandbox = useOpened(startTestSandbox);

  async function reputationOf(payload: Buffer, mode: 'live' | 'test', settings: Record<string, string>): Promise<unknown> {
    const harness = await serviceFor(worker.server.address, settings);
    const answer = await harness.call({ method: 'POST', url: '/app/analyze', ...multipart('file', payload), context: { mode } });
    await harness.app.close();
    expect(answer.statusCode).toBe(200);
    return answer.json().data.reputation;
  }

  it('of a test key’s upload is the sandbox’s, which knows the sample alone', async () => {
    const settings = { sandboxUrl: sandbox.url };
    await expect(reputationOf(sample, 'test', settings)).resolves.toEqual({ ...known, source: 'sandbox_virustotal' });
    await expect(reputationOf(apk, 'test', settings)).resolves.toMatchObject({ ok: true, known: false, malicious: null });
  });

  it('of a live upload is asked for where a key is set, and null where none is', async () => {
    const APP_VIRUSTOTAL_URL = `${sandbox.url}/virustotal`;
    await expect(reputationOf(sample, 'live', { APP_VIRUSTOTAL_URL, APP_VIRUSTOTAL_KEY: 'vt' })).resolves.toEqual(known);
    await expect(reputationOf(sample, 'live', { APP_VIRUSTOTAL_URL })).resolves.toBeNull();
  });
});

describe('the other routes', () => {
  it('GET /app/health says that the worker serves', async () => {
    const health = () => service.call({ method: 'GET', url: '/app/health' });
    // A worker has a second to say so, which a busy machine may need.
    await eventually(async () => (await health()).statusCode === 200);
    expect((await health()).json()).toEqual({
      status: 'success',
      data: { worker: 'serving', workers: 1 },
      timestamp: '2026-03-14 09:26:53',
    });
  });
});
