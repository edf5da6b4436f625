import { z } from 'zod';
import { type KeyMode } from '../../../plugins/core/ports';
import { listSetting, urlSetting } from '../../../plugins/core/settings';
import { type ServiceTools } from '../../kit/service/define-service';
import { UpstreamClient } from '../../kit/upstream/upstream-client';
import { sandboxAt } from '../../kit/upstream/upstream-target';
import { connectWorkers, type WorkerDeps } from '../../kit/worker/connect-workers';
import { type ApkWorkerMethods } from './analyze-upload';
import { createVirusTotal, type FindReputation } from './virus-total';

export const appSettings = z.object({
  APK_WORKER_URL: listSetting().optional(),
  /** API key for VirusTotal v3, which looks up live uploads by their hash. Off unless given. */
  APP_VIRUSTOTAL_KEY: z.string().optional(),
  APP_VIRUSTOTAL_URL: urlSetting().default('https://www.virustotal.com'),
});

export type AppSettings = z.output<typeof appSettings>;

export interface AppDeps extends WorkerDeps<ApkWorkerMethods> {
  /** Undefined if no service is asked. */
  readonly findReputation: Readonly<Record<KeyMode, FindReputation | undefined>>;
  close(): Promise<void>;
}

/** Milliseconds that a finished report waits for third parties' findings about the file. */
const REPUTATION_DEADLINE_MS = 3_000;

export function createAppDeps({ settings, common, log, metrics }: ServiceTools<AppSettings>): AppDeps {
  const { APK_WORKER_URL: addresses, APP_VIRUSTOTAL_KEY: apiKey, APP_VIRUSTOTAL_URL: liveUrl } = settings;
  const worker = connectWorkers<ApkWorkerMethods>('apk', addresses, { metrics, tls: common.workerTls });
  const client = new UpstreamClient({
    name: 'virustotal',
    target: { liveUrl, liveSetting: 'APP_VIRUSTOTAL_URL', sandboxUrl: sandboxAt(common, '/virustotal') },
    timeoutMs: REPUTATION_DEADLINE_MS,
    headers: { 'user-agent': 'tollgate' },
    metrics,
  });
  const onFailure = (err: unknown): void => log.warn({ err }, 'VirusTotal gave no reputation');
  return {
    worker,
    findReputation: {
      live: apiKey === undefined ? undefined : createVirusTotal({ client, mode: 'live', apiKey, onFailure }),
      // The seller's key is never sent to the sandbox.
      test: common.sandboxUrl === undefined ? undefined : createVirusTotal({ client, mode: 'test', apiKey: 'sandbox', onFailure }),
    },
    close: async () => {
      worker.close();
      await client.close();
    },
  };
}
