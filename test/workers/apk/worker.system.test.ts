import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { runAnalysis } from '../../../services/workers/apk/run-analysis';
import { receiveUpload } from '../../../services/workers/apk/receive-upload';
import { compile } from '../../support/apk/apk-worker';

const ROOT = join(__dirname, '../../..');
let folder: string;
beforeAll(async () => (folder = await mkdtemp(join(tmpdir(), 'apk-worker-test-'))));
afterAll(() => rm(folder, { recursive: true }));

async function threadOf(source: string): Promise<string> {
  const file = join(folder, `${Math.random()}.js`);
  await writeFile(file, source);
  return file;
}

const input = { descriptor: 0, file: { name: 'x', size: 0, md5: '', sha1: '', sha256: '' }, folder: '' };
const never = new AbortController().signal;

describe('an analysis', () => {
  test('is ended at its deadline, even when it does not yield', async () => {
    const threadFile = await threadOf('for (;;);');
    const work = runAnalysis(input, { threadFile, deadlineMs: 100, cpuMs: 60_000, heapMebibytes: 64 }, never);
    await expect(work).rejects.toMatchObject({ problem: 'upstream_timeout', options: { members: { reason: 'too_complex' } } });
  });

  const STARTED = `require('node:worker_threads').parentPort.postMessage({
    kind: 'started',
    task: require('node:path').basename(require('node:fs').readlinkSync('/proc/thread-self')),
  });`;

  test('is ended once it has used its CPU time, and the file is to blame', async () => {
    const limits = { deadlineMs: 60_000, cpuMs: 300, heapMebibytes: 64 };
    const before = process.cpuUsage();
    const work = runAnalysis(input, { ...limits, threadFile: await threadOf(`${STARTED} for (;;);`) }, never);
    await expect(work).rejects.toMatchObject({ problem: 'validation_failed', options: { code: 'apk_too_complex' } });
    const used = process.cpuUsage(before);
    expect((used.user + used.system) / 1_000).toBeGreaterThan(250);
  });

  test('that waits uses no CPU time, and goes on for longer than that', async () => {
    const wait = `Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 900);`;
    const answer = `require('node:worker_threads').parentPort.postMessage({ kind: 'report', json: '{}' });`;
    const limits = { deadlineMs: 60_000, cpuMs: 500, heapMebibytes: 64, threadFile: await threadOf(`${STARTED} ${wait} ${answer}`) };
    await expect(runAnalysis(input, limits, never)).resolves.toEqual({ kind: 'report', json: '{}' });
  });

  test('is ended when the caller leaves', async () => {
    const gone = new AbortController();
    const work = runAnalysis(
      input,
      { threadFile: await threadOf('for (;;);'), deadlineMs: 60_000, cpuMs: 60_000, heapMebibytes: 64 },
      gone.signal,
    );
    setTimeout(() => gone.abort(new Error('left')), 50);
    await expect(work).rejects.toThrow('left');
  });

  test('that takes too much memory costs itself, not the worker', async () => {
    const threadFile = await threadOf('const all = []; for (;;) all.push({ more: [all.length] });');
    const work = runAnalysis(input, { threadFile, deadlineMs: 60_000, cpuMs: 60_000, heapMebibytes: 32 }, never);
    await expect(work).rejects.toMatchObject({ problem: 'validation_failed', options: { code: 'apk_too_complex' } });
  });

  test('that fails unforeseen, or ends without a word, is an error', async () => {
    const limits = { deadlineMs: 60_000, cpuMs: 60_000, heapMebibytes: 64 };
    await expect(runAnalysis(input, { ...limits, threadFile: await threadOf('throw new Error("oops")') }, never)).rejects.toThrow('oops');
    await expect(runAnalysis(input, { ...limits, threadFile: await threadOf('') }, never)).rejects.toThrow('without a result');
  });
});

describe('an upload', () => {
  async function* pieces(...requests: object[]) {
    yield* requests as { header?: { fileName: string }; chunk?: Buffer }[];
  }
  const receive = async (requests: AsyncIterable<object>) => {
    const handle = await open(join(folder, 'upload'), 'w+');
    try {
      const { facts } = await receiveUpload(requests, handle, never);
      return { facts, bytes: await readFile(join(folder, 'upload')) };
    } finally {
      await handle.close();
    }
  };

  test('is written and digested piece by piece', async () => {
    const { facts, bytes } = await receive(
      pieces({ header: { fileName: 'a/b\\c\u0007.apk' } }, { chunk: Buffer.from('ab') }, { chunk: Buffer.from('c') }),
    );
    expect(bytes.toString()).toBe('abc');
    expect(facts).toEqual({
      name: 'c.apk',
      size: 3,
      md5: '900150983cd24fb0d6963f7d28e17f72',
      sha1: 'a9993e364706816aba3e25717850c26c9cd0d89d',
      sha256: 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
    });
  });

  test('without a header is refused', async () => {
    await expect(receive(pieces({ chunk: Buffer.from('ab') }))).rejects.toMatchObject({ problem: 'invalid_request' });
  });

  test('over the limit is refused', async () => {
    const piece = { chunk: Buffer.alloc(32 * 1024 * 1024) };
    await expect(receive(pieces({ header: { fileName: 'x' } }, ...Array<object>(7).fill(piece)))).rejects.toMatchObject({
      problem: 'payload_too_large',
    });
  });
});

describe('the process', () => {
  test('says where it listens and ends when told to', async () => {
    await compile('services/workers/apk/main.ts', join(folder, 'dist/services/workers/apk/main.js'));
    await writeProto(join(folder, 'dist'));
    const child = spawn(process.execPath, [join(folder, 'dist/services/workers/apk/main.js')], {
      env: { PATH: process.env.PATH, WORKER_PORT: '0' },
    });
    try {
      const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
      expect(JSON.parse(line)).toEqual({ ready: true, port: expect.any(Number) });
      child.kill('SIGTERM');
      const [code] = (await once(child, 'exit')) as [number];
      expect(code).toBe(0);
    } finally {
      child.kill('SIGKILL');
    }
  });

  test('names every setting that is wrong', async () => {
    await compile('services/workers/apk/main.ts', join(folder, 'dist/services/workers/apk/main.js'));
    const env = { PATH: process.env.PATH, WORKER_PORT: 'x', APK_WORKER_ANALYSES: '0' };
    const run = promisify(execFile)(process.execPath, [join(folder, 'dist/services/workers/apk/main.js')], { env });
    await expect(run).rejects.toMatchObject({ code: 1, stderr: expect.stringMatching(/WORKER_PORT(.|\n)*APK_WORKER_ANALYSES/) });
  });
});

async function writeProto(dist: string): Promise<void> {
  const { cp } = await import('node:fs/promises');
  await cp(join(ROOT, 'protos'), join(dist, 'protos'), { recursive: true });
}
