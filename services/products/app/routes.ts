import { z } from 'zod';
import { type KeyMode } from '../../../plugins/core/ports';
import { listSetting, urlSetting } from '../../../plugins/core/settings';
import { defineRoute, defineService, type ServiceTools, type CallContext } from '../../kit/service/define-service';
import { invalidInput, ServiceError } from '../../kit/errors';
import { indexRoute } from '../../kit/service/index-route';
import { formatTimestamp } from '../../kit/timestamp';
import { backedByWorkers, connectWorkers, type WorkerDeps } from '../../kit/worker/connect-workers';
import { workerHealthRoute } from '../../kit/worker/health-route';
import { UpstreamClient } from '../../kit/upstream/upstream-client';
import { sandboxAt } from '../../kit/upstream/upstream-target';
import { type IncomingUpload } from '../../kit/input/body-mode';
import { type WorkerClient } from '../../kit/worker/worker-client';
import { type AnalyzeRequest } from '../../workers/generated/apk/apk/v1/AnalyzeRequest';
import { type AnalyzeResponse__Output } from '../../workers/generated/apk/apk/v1/AnalyzeResponse';
import { app } from './facts';
import { compareReports, compareInput, compareOutput } from './compare-reports';
import { analyzeOutput, healthOutput, uploadFacts, apkReport } from './schema';
import { createVirusTotal, type FindReputation } from './virus-total';

const appSettings = z.object({
  APK_WORKER_URL: listSetting().optional(),
  /** API key for VirusTotal v3, which looks up live uploads by their hash. Off unless given. */
  APP_VIRUSTOTAL_KEY: z.string().optional(),
  APP_VIRUSTOTAL_URL: urlSetting().default('https://www.virustotal.com'),
});

type AppSettings = z.output<typeof appSettings>;

// A type instead of an interface, because it must be a record of methods.
type ApkWorkerMethods = { Analyze: { request: AnalyzeRequest; response: AnalyzeResponse__Output } };

interface AppDeps extends WorkerDeps<ApkWorkerMethods> {
  /** Undefined if no service is asked. */
  readonly findReputation: Readonly<Record<KeyMode, FindReputation | undefined>>;
  close(): Promise<void>;
}

/** Milliseconds that a finished report waits for third parties' findings about the file. */
const REPUTATION_DEADLINE_MS = 3_000;

function createAppDeps({ settings, common, log, metrics }: ServiceTools<AppSettings>): AppDeps {
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

/**
 * The header, then the pieces as the client sends them. Nothing is collected: a piece is read when the worker has taken the previous one.
 */
async function* requestsOf({ filename, stream }: IncomingUpload): AsyncGenerator<AnalyzeRequest> {
  yield { header: { fileName: filename ?? '' } };
  for await (const chunk of stream) yield { chunk: chunk as Buffer };
}

/**
 * Streams an upload to the worker and returns its report.
 * @throws ServiceError the worker's refusal; 502 when it fails or returns anything but a report; 504 when it takes too long
 */
async function analyzeUpload(
  worker: WorkerClient<ApkWorkerMethods>,
  { upload, context, deadlineMs }: { upload: IncomingUpload; context: CallContext; deadlineMs: number },
): Promise<z.output<typeof apkReport>> {
  const { reportJson } = await worker.upload('Analyze', requestsOf(upload), { context, deadlineMs });
  try {
    return apkReport.parse(JSON.parse(reportJson));
  } catch (error) {
    throw new ServiceError('upstream_failed', { detail: 'The analysis worker sent an unexpected response.', cause: error });
  }
}

const MAX_FILE_BYTES = 200 * 1024 * 1024;
/** Two minutes for the request to arrive, one for the analysis. */
const DEADLINE_MS = 180_000;
const FILE_FIELDS = ['file', 'apk', 'app'];
const APK_TYPE = 'application/vnd.android.package-archive';
/** Bundles and sets of APKs have no registered type of their own. */
const FILE_TYPES = [APK_TYPE, 'application/octet-stream', 'application/zip'];
/** Recognised by the file's contents, not by its name or type. */
const FORMS = ['apk', 'aab', 'xapk', 'apks'];

const analyze = defineRoute({
  method: 'POST',
  path: '/app/analyze',
  does:
    'Reads an Android package without running it: its manifest, permissions, components, signatures, code, trackers and secrets. Returns ' +
    'findings and two scores from 0 to 100: `hardening`, how badly the app is built, and `capability`, what it can do to its user. ' +
    '`risk` is the higher of the two.',
  fails: ['not_an_apk', 'apk_malformed', 'apk_too_complex'],
  output: analyzeOutput,
  body: {
    kind: 'upload',
    fields: FILE_FIELDS,
    mediaTypes: FILE_TYPES,
    described: 'The package: APK, AAB, XAPK or APKS, at most 200 MiB.',
  },
  bodyLimitBytes: MAX_FILE_BYTES,
  deadlineMs: DEADLINE_MS,
  handler: async (_input, context, { worker, findReputation }: AppDeps) => {
    const { upload } = context;
    if (!upload)
      throw invalidInput([{ field: 'file', message: `is required: send an APK as multipart/form-data or as ${FILE_TYPES.join(' or ')}` }]);
    const report = await analyzeUpload(worker, { upload, context, deadlineMs: DEADLINE_MS });
    const reputation = (await findReputation[context.mode]?.(report.file.sha256, context.signal)) ?? null;
    return { status: 'success' as const, data: { ...report, reputation }, timestamp: formatTimestamp(context.clock.now()) };
  },
});

/** Two reports of ordinary size; the largest possible report has 4 MiB. They are read in one turn of the event loop. */
const MAX_REPORTS_BYTES = 2 * 1024 * 1024;

const compare = defineRoute({
  method: 'POST',
  path: '/app/compare',
  does:
    'Compares the reports of two versions of an app, as returned by `/app/analyze`: what was added, removed and changed, and how the ' +
    'risk changed.',
  input: compareInput,
  output: compareOutput,
  bodyLimitBytes: MAX_REPORTS_BYTES,
  takesKeptAnswers: true,
  handler: ({ before, after }, { clock }) => ({
    status: 'success' as const,
    data: compareReports(before, after),
    timestamp: formatTimestamp(clock.now()),
  }),
});

const health = workerHealthRoute<ApkWorkerMethods, z.output<typeof healthOutput>>({
  path: '/app/health',
  output: healthOutput,
  more: () => Promise.resolve({ data: {} }),
});

const information = {
  schemas: { upload: uploadFacts },
  values: {
    upload: { fields: FILE_FIELDS, media_types: ['multipart/form-data', ...FILE_TYPES], forms: FORMS, max_bytes: MAX_FILE_BYTES },
  },
};

/** Analyses Android packages. The service passes the file on in pieces; a worker analyses it. */
export const appService = defineService({
  ...app,
  ...backedByWorkers<ApkWorkerMethods>('apk'),
  settings: appSettings,
  createDeps: createAppDeps,
  close: (deps: AppDeps) => deps.close(),
  routes: [indexRoute('GET', '/app', { members: information }), analyze, compare, health],
});
