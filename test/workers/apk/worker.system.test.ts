import { open, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runAnalysis } from '../../../services/workers/apk/run-analysis';
import { receiveUpload } from '../../../services/workers/apk/receive-upload';
import { newFolder } from '../../support/run-folder';

const folder = newFolder();

const input = { descriptor: 0, file: { name: 'x', size: 0, md5: '', sha1: '', sha256: '' }, folder: '' };
const never = new AbortController().signal;

/** An analysis by a thread that runs this program. */
async function analysisOf(program: string, limits: object = {}, signal = never): ReturnType<typeof runAnalysis> {
  const threadFile = join(folder, `${Math.random()}.js`);
  await writeFile(threadFile, program);
  return runAnalysis(input, { threadFile, deadlineMs: 60_000, cpuMs: 60_000, heapMebibytes: 64, ...limits }, signal);
}

describe('an analysis', () => {
  it('is ended at its deadline, even when it does not yield', async () => {
    const work = analysisOf('for (;;);', { deadlineMs: 100 });
    await expect(work).rejects.toMatchObject({ problem: 'upstream_timeout', options: { members: { reason: 'too_complex' } } });
  });

  const STARTED = `require('node:worker_threads').parentPort.postMessage({
    kind: 'started',
    task: require('node:path').basename(require('node:fs').readlinkSync('/proc/thread-self')),
  });`;

  it('is ended once it has used its CPU time, and the file is to blame', async () => {
    const before = process.cpuUsage();
    const work = analysisOf(`${STARTED} for (;;);`, { cpuMs: 300 });
    await expect(work).rejects.toMatchObject({ problem: 'validation_failed', options: { code: 'apk_too_complex' } });
    const used = process.cpuUsage(before);
    expect((used.user + used.system) / 1_000).toBeGreaterThan(250);
  });

  it('that waits uses no CPU time, and goes on for longer than that', async () => {
    const wait = `Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 900);`;
    const answer = `require('node:worker_threads').parentPort.postMessage({ kind: 'report', json: '{}' });`;
    await expect(analysisOf(`${STARTED} ${wait} ${answer}`, { cpuMs: 500 })).resolves.toEqual({ kind: 'report', json: '{}' });
  });

  it('is ended when the caller leaves', async () => {
    const gone = new AbortController();
    const work = analysisOf('for (;;);', {}, gone.signal);
    setTimeout(() => gone.abort(new Error('left')), 50);
    await expect(work).rejects.toThrow('left');
  });

  it('that takes too much memory costs itself, not the worker', async () => {
    const work = analysisOf('const all = []; for (;;) all.push({ more: [all.length] });', { heapMebibytes: 32 });
    await expect(work).rejects.toMatchObject({ problem: 'validation_failed', options: { code: 'apk_too_complex' } });
  });

  it('that fails unforeseen, or ends without a word, is an error', async () => {
    await expect(analysisOf('throw new Error("oops")')).rejects.toThrow('oops');
    await expect(analysisOf('')).rejects.toThrow('without a result');
  });
});

describe('an upload', () => {
  async function* pieces(requests: object[]) {
    yield* requests;
  }
  const receive = async (...requests: object[]) => {
    const handle = await open(join(folder, 'upload'), 'w+');
    try {
      const { facts } = await receiveUpload(pieces(requests), handle, never);
      return { facts, bytes: await readFile(join(folder, 'upload')) };
    } finally {
      await handle.close();
    }
  };

  it('is written and digested piece by piece', async () => {
    const { facts, bytes } = await receive(
      { header: { fileName: 'a/b\\c\u0007.apk' } },
      { chunk: Buffer.from('ab') },
      { chunk: Buffer.from('c') },
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

  it('over the limit is refused', async () => {
    const piece = { chunk: Buffer.alloc(32 * 1024 * 1024) };
    await expect(receive({ header: { fileName: 'x' } }, ...Array<object>(7).fill(piece))).rejects.toMatchObject({
      problem: 'payload_too_large',
    });
  });
});
