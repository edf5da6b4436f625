import { type DestinationStream } from 'pino';
import { type Clock } from '../../../../plugins/core/ports';
import { aadhaarService, createAadhaarDeps } from '../../../../services/products/aadhaar/routes';
import { createGstDeps, gstService, gstSettings } from '../../../../services/products/gst/routes';
import { createLog, type Log } from '../../../../services/kit/log';
import { createMetrics, type Metrics } from '../../../../services/kit/metrics';
import { type WorkerServer } from '../../../../services/kit/worker/serve-worker';
import { type createSandboxUpstreams } from '../../../../services/sandbox/sandbox-upstreams';
import { type Sandbox } from '../../../../services/sandbox/start-sandbox';
import { identityWorkerSettings } from '../../../../services/workers/identity/settings';
import { startIdentityWorker } from '../../../../services/workers/identity/start-identity-worker';
import { type CaptchaTexts } from '../../../../services/workers/identity/upstream/aadhaar-provider';
import { createHarness, type Harness } from '../../../kit/harness';
import { testClock } from '../../../kit/test-clock';
import { startScriptedLink, type ScriptedLink } from '../../../support/scripted-link';
import { startTestSandbox } from '../../../support/sandbox';

/** What tests of the session products run on: everything real, on loopback. */
export class Stage {
  private readonly closers: (() => unknown)[] = [];
  readonly metrics: Metrics = createMetrics();
  readonly log: Log;
  private readonly clock: Clock;

  constructor(private readonly options: { clock?: Clock; logTo?: DestinationStream; captchaTexts?: CaptchaTexts } = {}) {
    this.clock = options.clock ?? testClock;
    this.log = createLog('stage', options.logTo ? { level: 'trace', destination: options.logTo } : { level: 'silent' });
  }

  /** Closed in reverse order. */
  onClose(closer: () => unknown): void {
    this.closers.push(closer);
  }

  async sandbox(options?: Parameters<typeof createSandboxUpstreams>[0]): Promise<Sandbox> {
    const sandbox = await startTestSandbox(options);
    this.onClose(() => sandbox.close());
    return sandbox;
  }

  /** An upstream that answers like this. */
  async linkThat(...given: Parameters<typeof startScriptedLink>): Promise<ScriptedLink> {
    const link = await startScriptedLink(...given);
    this.onClose(() => link.close());
    return link;
  }

  async worker(env: Record<string, string>): Promise<WorkerServer> {
    const settings = identityWorkerSettings.parse({ IDENTITY_MESSAGE_TIMEOUT_MS: '14000', IDENTITY_CONNECT_TIMEOUT_MS: '14000', ...env });
    const worker = await startIdentityWorker(settings, { log: this.log, clock: this.clock, captchaTexts: this.options.captchaTexts });
    this.onClose(() => worker.close(50));
    return worker;
  }

  /** A replica of the gst service. */
  gst(workers: readonly { address: string }[], env: Record<string, string> = {}): Harness {
    const deps = createGstDeps({ ...this.tools(), settings: gstSettings.parse({ ...workerUrl(workers), ...env }) });
    return this.closing(createHarness(gstService, { deps, clock: this.clock, log: this.log, metrics: this.metrics }), deps);
  }

  aadhaar(workers: readonly { address: string }[], env: Record<string, string> = {}): Harness {
    const deps = createAadhaarDeps({ ...this.tools(), settings: aadhaarService.settings.parse({ ...workerUrl(workers), ...env }) });
    return this.closing(createHarness(aadhaarService, { deps, clock: this.clock, log: this.log, metrics: this.metrics }), deps);
  }

  async close(): Promise<void> {
    for (const close of this.closers.splice(0).reverse()) await close();
  }

  private tools() {
    return { common: { sandboxUrl: undefined }, log: this.log, clock: this.clock, metrics: this.metrics };
  }

  private closing(harness: Harness, deps: { workers: { close(): void } }): Harness {
    this.onClose(async () => {
      await harness.app.close();
      deps.workers.close();
    });
    return harness;
  }
}

function workerUrl(workers: readonly { address: string }[]): Record<string, string> {
  return workers.length === 0 ? {} : { IDENTITY_WORKER_URL: workers.map(({ address }) => address).join(',') };
}

/** @returns the port on loopback where the service answers from now on */
export async function listening({ app }: Harness): Promise<number> {
  return Number(new URL(await app.listen({ host: '127.0.0.1', port: 0 })).port);
}
