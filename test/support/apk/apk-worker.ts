import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLog } from '../../../services/kit/log';
import { type WorkerServer } from '../../../services/kit/worker/serve-worker';
import { analyzeApk } from '../../../services/workers/apk/analyze-apk';
import { BufferSource } from '../../../services/workers/apk/bytes/byte-source';
import { type ApkReport } from '../../../services/workers/apk/report';
import { apkWorkerSettings } from '../../../services/workers/apk/settings';
import { startApkWorker } from '../../../services/workers/apk/start-apk-worker';
import { compile } from '../compile';

export interface TestWorker {
  readonly server: WorkerServer;
  /** Where its uploads wait. */
  readonly uploads: string;
  close(): Promise<void>;
}

/** The worker on a free port of the loopback, with a folder of its own. */
export async function startTestWorker(environment: Readonly<Record<string, string>> = {}): Promise<TestWorker> {
  const folder = await mkdtemp(join(tmpdir(), 'apk-worker-'));
  const uploads = await mkdtemp(join(folder, 'uploads-'));
  const threadFile = join(folder, 'analysis-thread.js');
  await compile('services/workers/apk/analysis-thread.ts', threadFile);
  const settings = apkWorkerSettings.parse({ APK_WORKER_FOLDER: uploads, ...environment });
  const server = await startApkWorker(settings, createLog('apk-worker', { level: 'silent' }), threadFile);
  return {
    server,
    uploads,
    close: async () => {
      await server.close(500);
      await rm(folder, { recursive: true });
    },
  };
}

/** The analysis without a worker around it. @throws ApkRefused */
export function analyzeBytes(bytes: Buffer, { folder = tmpdir() } = {}): Promise<ApkReport> {
  const file = { name: 'sample.apk', size: bytes.length, md5: '', sha1: '', sha256: '' };
  return analyzeApk({ source: new BufferSource(bytes), file, folder });
}

export async function analyzeFile(path: string): Promise<ApkReport> {
  return analyzeBytes(await readFile(path));
}
