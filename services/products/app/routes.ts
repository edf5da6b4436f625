import { type z } from 'zod';
import { defineRoute, defineService } from '../../kit/service/define-service';
import { invalidInput } from '../../kit/errors';
import { indexRoute } from '../../kit/service/index-route';
import { formatTimestamp } from '../../kit/timestamp';
import { backedByWorkers } from '../../kit/worker/connect-workers';
import { workerHealthRoute } from '../../kit/worker/health-route';
import { app } from './facts';
import { analyzeUpload, type ApkWorkerMethods } from './analyze-upload';
import { type AppDeps, appSettings, createAppDeps } from './app-deps';
import { compareReports } from './compare-reports';
import { compareInput, compareOutput } from './compare-schema';
import { analyzeOutput, healthOutput, uploadFacts } from './schema';

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
